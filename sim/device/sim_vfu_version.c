/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * vfio-user server, negotiation: reads the capabilities that the client
 * proposes as JSON and answers with those that both have. The answer names
 * only what was proposed, and so is never longer than the proposal: QEMU reads
 * it into a buffer of that size.
 */
#include "sim/device/sim_vfu.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#define MAJOR 0u
#define MINOR 0u

/* What the protocol says for a peer that names no limit. */
#define DEFAULT_DATA_MAX 1048576u

enum kind {
	AT_MOST, /* number: each side says what it can take; we answer with our own */
	LOWER,	 /* number: the lower of both */
	COMMON,	 /* number: bits that both have; none is an error */
	BOTH,	 /* boolean: true if the client says so */
};

struct capability {
	const char *name;
	enum kind kind;
	uint64_t ours;
};

/* Not here: twin_socket (DMA messages are rare, one socket will do) and migration. */
static const struct capability capabilities[] = {
	{"max_msg_fds", AT_MOST, VFU_FDS_MAX},
	{"max_data_xfer_size", AT_MOST, VFU_DATA_MAX},
	{"max_dma_maps", LOWER, SIM_DMA_REGIONS_MAX},
	{"pgsizes", COMMON, SIM_DMA_PAGE},
	{"write_multiple", BOTH, 1},
};

static json_t *answer_number(const struct capability *capability, const json_t *proposal)
{
	json_int_t theirs = json_integer_value(proposal);
	json_int_t ours = (json_int_t)capability->ours;

	if (!json_is_integer(proposal) || theirs < 0)
		return NULL;
	if (capability->kind == LOWER && theirs < ours)
		return json_integer(theirs);
	if (capability->kind == COMMON)
		return theirs & ours ? json_integer(theirs & ours) : NULL;
	return json_integer(ours);
}

static json_t *answer_one(const struct capability *capability, const json_t *proposal)
{
	if (capability->kind != BOTH)
		return answer_number(capability, proposal);
	return json_is_boolean(proposal) ? json_boolean(json_is_true(proposal)) : NULL;
}

/* NULL: a capability has the wrong type or an impossible value. */
static json_t *answer_all(const json_t *proposals)
{
	json_t *answers = json_object();
	size_t i;

	for (i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
		const json_t *proposal = json_object_get(proposals, capabilities[i].name);
		json_t *answer;

		if (!proposal)
			continue;
		answer = answer_one(&capabilities[i], proposal);
		if (!answer || json_object_set_new(answers, capabilities[i].name, answer)) {
			json_decref(answers);
			return NULL;
		}
	}
	return answers;
}

static int write_answer(struct vfu_message *message, json_t *answers)
{
	size_t room = VFU_REPLY_MAX - sizeof(message->header) - sizeof(struct vfu_version);
	char *text = (char *)message->reply + sizeof(struct vfu_version);
	json_t *root = json_pack("{s:o}", "capabilities", answers);
	size_t length;

	if (!root)
		return -ENOMEM;
	length = json_dumpb(root, text, room - 1, JSON_COMPACT);
	json_decref(root);
	if (!length || length > room - 1)
		return -ENOMEM;
	text[length] = 0;
	message->reply_length = sizeof(struct vfu_version) + length + 1;
	return 0;
}

static int answer_text(struct sim_vfu *vfu, struct vfu_message *message, const char *text,
		       size_t length)
{
	const json_t *proposals, *data_max;
	json_t *root, *answers;
	int rc = -EINVAL;

	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root))
		goto undo_root;
	proposals = json_object_get(root, "capabilities");
	if (proposals && !json_is_object(proposals))
		goto undo_root;
	answers = answer_all(proposals);
	if (!answers)
		goto undo_root;
	data_max = json_object_get(proposals, "max_data_xfer_size");
	if (data_max)
		vfu->peer_data_max = (uint64_t)json_integer_value(data_max);
	rc = write_answer(message, answers);
undo_root:
	json_decref(root);
	return rc;
}

int sim_vfu_negotiate(struct sim_vfu *vfu, struct vfu_message *message)
{
	size_t length = message->length - sizeof(struct vfu_version);
	const char *text = (const char *)message->payload + sizeof(struct vfu_version);
	struct vfu_version version;
	int rc = 0;

	memcpy(&version, message->payload, sizeof(version));
	if (version.major != MAJOR) {
		message->is_last = true;
		return -EINVAL;
	}
	vfu->peer_data_max = DEFAULT_DATA_MAX;
	message->reply_length = sizeof(version);
	if (length) {
		/* The terminating zero belongs to the text. */
		if (text[length - 1])
			return -EINVAL;
		rc = answer_text(vfu, message, text, length - 1);
	}
	if (rc)
		return rc;
	version = (struct vfu_version){.major = MAJOR, .minor = MINOR};
	memcpy(message->reply, &version, sizeof(version));
	vfu->is_negotiated = true;
	return 0;
}
