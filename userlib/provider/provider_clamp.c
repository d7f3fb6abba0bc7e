/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Clamps: limits below what a NIC can do, so that different NICs look alike. Owns
 * where they come from and their text format. Knows nothing of what applies them.
 *
 * For now two sources, both optional, the lower value of both wins:
 *
 *	ANYNIC_CLAMP="max_send_wr=64,max_inline_data=32"
 *	/etc/anynic/clamp (ANYNIC_CLAMP_FILE): one or more a line, # starts a comment
 *
 * A text that does not parse is an error, and the device does not open: a clamp
 * that was not applied would show only as a fault on another host.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLAMP_FILE	 "/etc/anynic/clamp"
#define CLAMP_FILE_BYTES 4096

static const struct limit_row {
	const char *name;
	size_t offset;
} limit_rows[] = {
#define LIMIT_ROW(name, meaning) {#name, offsetof(struct anynic_limits, name)},
	ANYNIC_LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
};
#define LIMIT_COUNT (sizeof(limit_rows) / sizeof(limit_rows[0]))

static uint32_t *limit_at(struct anynic_limits *limits, size_t row)
{
	return (uint32_t *)((char *)limits + limit_rows[row].offset);
}

static const uint32_t *limit_of(const struct anynic_limits *limits, size_t row)
{
	return (const uint32_t *)((const char *)limits + limit_rows[row].offset);
}

void anynic_limits_meet(const struct anynic_limits *limits, const struct anynic_limits *clamps,
			struct anynic_limits *out)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		uint32_t limit = *limit_of(limits, i), clamp = *limit_of(clamps, i);

		*limit_at(out, i) = clamp < limit ? clamp : limit;
	}
}

static bool is_path_mtu(unsigned long bytes)
{
	return bytes >= 256 && bytes <= 4096 && !(bytes & (bytes - 1));
}

/* One "name=value". Lowers that limit; says what is wrong with it otherwise. */
static const char *parse_item(char *item, struct anynic_limits *clamps)
{
	char *value = strchr(item, '='), *end;
	unsigned long number;
	size_t i;

	if (!value)
		return "is not name=number";
	*value++ = '\0';
	for (i = 0; i < LIMIT_COUNT && strcmp(item, limit_rows[i].name) != 0; i++)
		;
	if (i == LIMIT_COUNT)
		return "is no limit that anynic knows";
	errno = 0;
	number = strtoul(value, &end, 0);
	if (errno || end == value || *end || *value == '-' || number > UINT32_MAX)
		return "needs a number";
	if (limit_rows[i].offset == offsetof(struct anynic_limits, path_mtu) &&
	    !is_path_mtu(number))
		return "needs 256, 512, 1024, 2048 or 4096";
	if (number < *limit_at(clamps, i))
		*limit_at(clamps, i) = (uint32_t)number;
	return NULL;
}

static int parse(const char *device, const char *source, char *text, struct anynic_limits *clamps)
{
	char *line, *line_rest = text, *item, *item_rest;
	const char *fault;

	while ((line = strsep(&line_rest, "\n"))) {
		line[strcspn(line, "#")] = '\0';
		for (item = strtok_r(line, ", \t\r", &item_rest); item;
		     item = strtok_r(NULL, ", \t\r", &item_rest)) {
			fault = parse_item(item, clamps);
			if (!fault)
				continue;
			/* On stderr, since the device will be missing for no other reason. */
			fprintf(stderr, "anynic: %s: %s: %s %s: not opened\n", device, source, item,
				fault);
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_file(const char *device, const char *path, struct anynic_limits *clamps)
{
	char text[CLAMP_FILE_BYTES];
	size_t length;
	FILE *file;
	int err;

	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	length = fread(text, 1, sizeof(text), file);
	err = ferror(file) ? -EIO : 0;
	fclose(file);
	if (err)
		return err;
	if (length == sizeof(text))
		return -EFBIG;
	text[length] = '\0';
	return parse(device, path, text, clamps);
}

int anynic_clamps_read(const char *device, struct anynic_limits *clamps)
{
	/* A program that runs with more rights than its user does not listen to them. */
	const char *list = secure_getenv("ANYNIC_CLAMP");
	const char *path = secure_getenv("ANYNIC_CLAMP_FILE");
	char *copy;
	int err;

	memset(clamps, 0xff, sizeof(*clamps));
	err = parse_file(device, path ? path : CLAMP_FILE, clamps);
	if (err || !list)
		return err;
	copy = strdup(list);
	if (!copy)
		return -ENOMEM;
	err = parse(device, "ANYNIC_CLAMP", copy, clamps);
	free(copy);
	return err;
}
