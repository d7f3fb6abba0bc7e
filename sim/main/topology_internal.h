/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the topology's files share: the schema, messages, limits. */
#ifndef ANYNIC_SIM_MAIN_TOPOLOGY_INTERNAL_H
#define ANYNIC_SIM_MAIN_TOPOLOGY_INTERNAL_H

#include <cyaml/cyaml.h>
#include <stdbool.h>

#include "sim/main/topology.h"

/* A number with a range and a default, which stands for 0 too unless min is 0. */
struct topology_number {
	const char *key;
	size_t offset; /* of a uint32_t */
	uint32_t min, max, normal;
};

/* One kind of mapping in the file: its keys are the schema's. */
struct topology_section {
	const char *key; /* "" is the file itself */
	const cyaml_schema_field_t *fields;
	const struct topology_number *numbers;
	size_t number_count;
};

extern const cyaml_schema_value_t topology_schema;
/* By the key that holds it; NULL if there is none. */
const struct topology_section *topology_section_find(const char *key);
const struct topology_number *topology_number_find(const struct topology_section *section,
						   const char *key);

/* Where libcyaml's messages about one file are collected. */
struct topology_report {
	char message[160]; /* the first error */
	char path[160];	   /* as nics[0].mac */
	char section[32];  /* key that holds the innermost mapping */
	char key[64];	   /* the innermost key */
	unsigned int line; /* 0: not known */
};

/* cyaml_log_fn_t; ctx is a struct topology_report, zeroed. */
void topology_report_log(cyaml_log_t level, void *ctx, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));
/* Makes one line of it. `fallback` is libcyaml's word for its result code. */
void topology_report_print(const struct topology_report *report, const char *name,
			   const char *fallback, char error[TOPOLOGY_ERROR_MAX]);

/* Fills in defaults and MAC addresses, and checks what the schema cannot say. */
int topology_check(struct topology *topology, const char *name, char error[TOPOLOGY_ERROR_MAX]);

#endif
