/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Negotiation of the vfio-user server: what is proposed, and the exact answer. */
#include "tests/lib/t.h"
#include "tests/unit/sim/device/fake_nic.h"
#include "tests/unit/sim/device/vfu_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	const char *text; /* NULL = no capabilities at all */
	uint16_t major, minor;
	int expect;
	const char *answer; /* NULL = none */
};

#define CAPS(text) "{\"capabilities\":{" text "}}"

static const struct row rows[] = {
	{"no text", NULL, 0, 0, 0, NULL},
	{"newer minor", NULL, 0, 7, 0, NULL},
	{"empty object", "{}", 0, 0, 0, CAPS("")},
	{"no capabilities", CAPS(""), 0, 0, 0, CAPS("")},
	{"QEMU's",
	 CAPS("\"migration\":{\"pgsize\":4096,\"max_bitmap_size\":268435456},\"max_msg_fds\":16,"
	      "\"max_data_xfer_size\":1048576,\"pgsizes\":4096,\"max_dma_maps\":65535,"
	      "\"write_multiple\":true"),
	 0, 0, 0,
	 CAPS("\"max_msg_fds\":16,\"max_data_xfer_size\":16384,\"max_dma_maps\":4096,"
	      "\"pgsizes\":4096,\"write_multiple\":true")},
	{"some", CAPS("\"max_msg_fds\":1"), 0, 0, 0, CAPS("\"max_msg_fds\":16")},
	{"lower", CAPS("\"max_dma_maps\":7"), 0, 0, 0, CAPS("\"max_dma_maps\":7")},
	{"page sizes", CAPS("\"pgsizes\":2101248"), 0, 0, 0, CAPS("\"pgsizes\":4096")},
	{"no multiple", CAPS("\"write_multiple\":false"), 0, 0, 0,
	 CAPS("\"write_multiple\":false")},
	{"unknown", CAPS("\"twin_socket\":{\"supported\":true},\"x\":[1]"), 0, 0, 0, CAPS("")},
	{"unknown beside", "{\"x\":1,\"capabilities\":{}}", 0, 0, 0, CAPS("")},
	{"no common page size", CAPS("\"pgsizes\":65536"), 0, 0, EINVAL, NULL},
	{"negative", CAPS("\"max_msg_fds\":-1"), 0, 0, EINVAL, NULL},
	{"real number", CAPS("\"max_msg_fds\":1.5"), 0, 0, EINVAL, NULL},
	{"number too large", CAPS("\"max_msg_fds\":99999999999999999999"), 0, 0, EINVAL, NULL},
	{"string", CAPS("\"max_data_xfer_size\":\"1\""), 0, 0, EINVAL, NULL},
	{"number for boolean", CAPS("\"write_multiple\":1"), 0, 0, EINVAL, NULL},
	{"null", CAPS("\"pgsizes\":null"), 0, 0, EINVAL, NULL},
	{"twice", CAPS("\"pgsizes\":4096,\"pgsizes\":4096"), 0, 0, EINVAL, NULL},
	{"capabilities no object", "{\"capabilities\":1}", 0, 0, EINVAL, NULL},
	{"array", "[]", 0, 0, EINVAL, NULL},
	{"not JSON", "hello", 0, 0, EINVAL, NULL},
	{"cut short", "{\"capabilities\":{\"max_msg", 0, 0, EINVAL, NULL},
	{"two texts", "{} {}", 0, 0, EINVAL, NULL},
	{"empty text", "", 0, 0, EINVAL, NULL},
	{"not UTF-8", CAPS("\"\xff\xfe\":1"), 0, 0, EINVAL, NULL},
};

static struct sim_loop *loop;
static struct sim_dev *dev;
static struct fake_log line;
static struct vfu_client client;

static bool start(void)
{
	memset(&line, 0, sizeof(line));
	if (sim_loop_create(true, &loop))
		return false;
	dev = fake_dev_create(loop, NULL, &line);
	return dev && !client_init(&client, loop, dev);
}

static void stop(void)
{
	client_fini(&client);
	sim_dev_destroy(dev);
	sim_loop_destroy(loop);
}

static int propose(uint16_t major, uint16_t minor, const char *text, size_t length)
{
	struct vfu_version version = {major, minor};
	struct client_command command = {
		.command = VFU_VERSION,
		.payload = &version,
		.length = sizeof(version),
		.more = text,
		.more_length = length,
	};

	return client_run(&client, &command);
}

static void check_answer(const struct row *row)
{
	struct vfu_version version;
	size_t length = row->answer ? strlen(row->answer) + 1 : 0;

	memcpy(&version, client.payload, sizeof(version));
	T_EQ_ROW(row->name, version.major, 0);
	T_EQ_ROW(row->name, version.minor, 0);
	if (T_EQ_ROW(row->name, client.length, sizeof(version) + length) && length)
		T_BYTES_ROW(row->name, client.payload + sizeof(version), row->answer, length);
}

static void proposals_get_their_answer(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		T_NEED(start());
		T_EQ_ROW(row->name,
			 propose(row->major, row->minor, row->text,
				 row->text ? strlen(row->text) + 1 : 0),
			 row->expect);
		if (!row->expect)
			check_answer(row);
		/* A refused proposal may be followed by a better one. */
		T_EQ_ROW(row->name, client_negotiate(&client), row->expect != 0);
		stop();
	}
}

/* QEMU reads the answer into a buffer of the size of its proposal. */
static void answer_is_no_longer_than_the_proposal(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].text && rows[i].answer && strlen(rows[i].text) > 60)
			T_TRUE_ROW(rows[i].name, strlen(rows[i].answer) <= strlen(rows[i].text));
}

static void other_major_version_ends_the_connection(void)
{
	T_NEED(start());
	T_EQ(propose(1, 0, NULL, 0), EINVAL);
	T_TRUE(client_is_closed(&client));
	stop();
}

static void text_without_end_is_refused(void)
{
	T_NEED(start());
	T_EQ(propose(0, 0, "{}", 2), EINVAL);
	T_TRUE(client_negotiate(&client));
	stop();
}

/* The parser recurses; its own limit must hold. */
static void deep_nesting_is_refused(void)
{
	size_t length = 16000;
	char *text = malloc(length);

	T_NEED(text && start());
	memset(text, '[', length);
	text[length - 1] = 0;
	T_EQ(propose(0, 0, text, length), EINVAL);
	T_TRUE(client_negotiate(&client));
	free(text);
	stop();
}

T_MAIN("sim_vfu_version", T_CASE(proposals_get_their_answer),
       T_CASE(answer_is_no_longer_than_the_proposal),
       T_CASE(other_major_version_ends_the_connection), T_CASE(text_without_end_is_refused),
       T_CASE(deep_nesting_is_refused), )
