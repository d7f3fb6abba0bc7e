/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Loads the topology file: schema, keys, numbers. Meaning is checked in topology_check.c. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/main/topology_internal.h"

#define STRING_MAX  255
#define MODULES_MAX 32
#define PPM	    1000000

#define REQUIRED(type, key, member) \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 0, STRING_MAX)
#define OPTIONAL(type, key, member)                                                            \
	CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, \
			       STRING_MAX)
#define NUMBER(type, member) CYAML_FIELD_UINT(#member, CYAML_FLAG_OPTIONAL, type, member)

/* ---- guests ---- */

static const cyaml_schema_value_t module_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, STRING_MAX),
};

static const cyaml_schema_field_t guest_fields[] = {
	REQUIRED(struct topology_guest, "name", name),
	OPTIONAL(struct topology_guest, "kernel", kernel),
	NUMBER(struct topology_guest, memory),
	NUMBER(struct topology_guest, cpus),
	CYAML_FIELD_SEQUENCE("modules", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
			     struct topology_guest, modules, &module_schema, 0, MODULES_MAX),
	OPTIONAL(struct topology_guest, "rxe", rxe),
	CYAML_FIELD_END,
};

static const struct topology_number guest_numbers[] = {
	{"memory", offsetof(struct topology_guest, memory), 64, 1048576, 512},
	{"cpus", offsetof(struct topology_guest, cpus), 1, 256, 1},
};

static const cyaml_schema_value_t guest_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct topology_guest, guest_fields),
};

/* ---- NICs and ports ---- */

static const cyaml_schema_field_t nic_fields[] = {
	REQUIRED(struct topology_nic, "name", name),
	REQUIRED(struct topology_nic, "class", class),
	OPTIONAL(struct topology_nic, "personality", personality),
	REQUIRED(struct topology_nic, "mac", mac_text),
	REQUIRED(struct topology_nic, "guest", guest),
	OPTIONAL(struct topology_nic, "wqe_trace", wqe_trace),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t nic_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct topology_nic, nic_fields),
};

static const cyaml_schema_field_t port_fields[] = {
	REQUIRED(struct topology_port, "name", name),
	REQUIRED(struct topology_port, "guest", guest),
	REQUIRED(struct topology_port, "mac", mac_text),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t port_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct topology_port, port_fields),
};

/* ---- switch ---- */

static const cyaml_strval_t faults_on_words[] = {
	{"roce", TOPOLOGY_FAULTS_ON_ROCE},
	{"all", TOPOLOGY_FAULTS_ON_ALL},
};

static const cyaml_schema_field_t switch_fields[] = {
	NUMBER(struct topology_switch, seed),
	NUMBER(struct topology_switch, mtu),
	NUMBER(struct topology_switch, rate_mbps),
	NUMBER(struct topology_switch, buffer_kib),
	NUMBER(struct topology_switch, delay_us),
	NUMBER(struct topology_switch, loss_ppm),
	NUMBER(struct topology_switch, corrupt_ppm),
	NUMBER(struct topology_switch, duplicate_ppm),
	NUMBER(struct topology_switch, reorder_ppm),
	NUMBER(struct topology_switch, ecn_kmin_kib),
	NUMBER(struct topology_switch, ecn_kmax_kib),
	NUMBER(struct topology_switch, ecn_pmax_percent),
	CYAML_FIELD_ENUM("faults_on", CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT,
			 struct topology_switch, faults_on, faults_on_words,
			 CYAML_ARRAY_LEN(faults_on_words)),
	OPTIONAL(struct topology_switch, "capture", capture),
	CYAML_FIELD_END,
};

#define SWITCH_NUMBER(member, min, max, normal)                                     \
	{                                                                           \
#member, offsetof(struct topology_switch, member), min, max, normal \
	}

static const struct topology_number switch_numbers[] = {
	SWITCH_NUMBER(mtu, 576, 9216, 1500),	      SWITCH_NUMBER(rate_mbps, 0, 1000000, 0),
	SWITCH_NUMBER(buffer_kib, 1, 1048576, 1024),  SWITCH_NUMBER(delay_us, 0, 10000000, 0),
	SWITCH_NUMBER(loss_ppm, 0, PPM, 0),	      SWITCH_NUMBER(corrupt_ppm, 0, PPM, 0),
	SWITCH_NUMBER(duplicate_ppm, 0, PPM, 0),      SWITCH_NUMBER(reorder_ppm, 0, PPM, 0),
	SWITCH_NUMBER(ecn_kmin_kib, 0, 1048576, 0),   SWITCH_NUMBER(ecn_kmax_kib, 0, 1048576, 0),
	SWITCH_NUMBER(ecn_pmax_percent, 1, 100, 100),
};

/* ---- the file ---- */

#define LIST(member, schema, most)                                                               \
	CYAML_FIELD_SEQUENCE(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct topology, \
			     member, schema, 0, most)

static const cyaml_schema_field_t file_fields[] = {
	LIST(guests, &guest_schema, TOPOLOGY_GUESTS_MAX),
	LIST(nics, &nic_schema, TOPOLOGY_NICS_MAX),
	LIST(ports, &port_schema, TOPOLOGY_PORTS_MAX),
	CYAML_FIELD_MAPPING("switch", CYAML_FLAG_OPTIONAL, struct topology, fabric, switch_fields),
	CYAML_FIELD_END,
};

const cyaml_schema_value_t topology_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct topology, file_fields),
};

static const struct topology_section sections[] = {
	{"", file_fields, NULL, 0},
	{"guests", guest_fields, guest_numbers, CYAML_ARRAY_LEN(guest_numbers)},
	{"nics", nic_fields, NULL, 0},
	{"ports", port_fields, NULL, 0},
	{"switch", switch_fields, switch_numbers, CYAML_ARRAY_LEN(switch_numbers)},
};

const struct topology_section *topology_section_find(const char *key)
{
	size_t i;

	for (i = 0; i < CYAML_ARRAY_LEN(sections); i++)
		if (!strcmp(sections[i].key, key))
			return &sections[i];
	return NULL;
}

const struct topology_number *topology_number_find(const struct topology_section *section,
						   const char *key)
{
	size_t i;

	for (i = 0; section && i < section->number_count; i++)
		if (!strcmp(section->numbers[i].key, key))
			return &section->numbers[i];
	return NULL;
}

static const cyaml_config_t *load_config(cyaml_config_t *config, struct topology_report *report)
{
	*config = (cyaml_config_t){
		.log_fn = topology_report_log,
		.log_ctx = report,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
		/* Aliases can make a small file huge, and no topology needs them. */
		.flags = CYAML_CFG_NO_ALIAS,
	};
	return config;
}

/* What is quoted from the file must not spoil the line or the terminal. */
static void make_printable(char *line)
{
	for (; *line; line++)
		if (iscntrl((unsigned char)*line))
			*line = '?';
}

int topology_parse(const char *name, const void *text, size_t length, struct topology **out,
		   char error[TOPOLOGY_ERROR_MAX])
{
	struct topology_report report = {0};
	struct topology *topology = NULL;
	cyaml_config_t config;
	cyaml_err_t result;
	int err;

	result = cyaml_load_data(text, length, load_config(&config, &report), &topology_schema,
				 (cyaml_data_t **)&topology, NULL);
	if (result != CYAML_OK) {
		topology_report_print(&report, name, cyaml_strerror(result), error);
		make_printable(error);
		return result == CYAML_ERR_OOM ? -ENOMEM : -EINVAL;
	}
	if (!topology) {
		snprintf(error, TOPOLOGY_ERROR_MAX, "%s: the file is empty", name);
		return -EINVAL;
	}
	err = topology_check(topology, name, error);
	if (err) {
		make_printable(error);
		topology_free(topology);
	} else {
		*out = topology;
	}
	return err;
}

/* Also of a pipe, so the size is not known beforehand. */
static int read_file(const char *path, char *text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;
	int err = 0;

	if (fd < 0)
		return -errno;
	while (n && !err && *length <= TOPOLOGY_FILE_MAX) {
		n = read(fd, text + *length, TOPOLOGY_FILE_MAX + 1 - *length);
		if (n > 0)
			*length += (size_t)n;
		else if (n < 0 && errno != EINTR)
			err = -errno;
	}
	close(fd);
	return err || *length <= TOPOLOGY_FILE_MAX ? err : -EFBIG;
}

int topology_load(const char *path, struct topology **topology, char error[TOPOLOGY_ERROR_MAX])
{
	char *text = malloc(TOPOLOGY_FILE_MAX + 1);
	size_t length = 0;
	int err;

	if (!text)
		return -ENOMEM;
	err = read_file(path, text, &length);
	if (err)
		snprintf(error, TOPOLOGY_ERROR_MAX, "%s: %s", path, strerror(-err));
	else
		err = topology_parse(path, text, length, topology, error);
	free(text);
	return err;
}

void topology_free(struct topology *topology)
{
	struct topology_report ignored = {0};
	cyaml_config_t config;

	cyaml_free(load_config(&config, &ignored), &topology_schema, topology, 0);
}
