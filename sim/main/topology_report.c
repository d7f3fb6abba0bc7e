/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Makes one line of what libcyaml says of a bad file. It logs the error, then
 * a trace from the place of the error up to the file:
 *
 *	Load: Unexpected key: memry
 *	Load: Backtrace:
 *	  in mapping (line: 2, column: 11)
 *	  in sequence entry '1' (line: 2, column: 5)
 *	  in mapping field 'guests' (line: 2, column: 3)
 *
 * The texts are not part of libcyaml's interface: what is not recognised is passed on as it is.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/main/topology_internal.h"

#define LOG_PREFIX "Load: "

static void append(char *out, size_t size, const char *text)
{
	size_t used = strlen(out);

	snprintf(out + used, size - used, "%s", text);
}

/* Puts "part" before what the path is so far. */
static void path_prepend(struct topology_report *report, const char *part)
{
	char rest[sizeof(report->path)];

	memcpy(rest, report->path, sizeof(rest));
	snprintf(report->path, sizeof(report->path), "%s", part);
	if (*rest && *rest != '[')
		append(report->path, sizeof(report->path), ".");
	append(report->path, sizeof(report->path), rest);
}

static void trace_line(struct topology_report *report, const char *line)
{
	unsigned int entry, number;
	char key[64], part[80];
	const char *where = strstr(line, "(line: ");

	if (where && !report->line && sscanf(where, "(line: %u", &number) == 1)
		report->line = number;
	if (sscanf(line, " in mapping field '%63[^']'", key) == 1) {
		path_prepend(report, key);
		if (!*report->key)
			snprintf(report->key, sizeof(report->key), "%s", key);
		if (topology_section_find(key))
			snprintf(report->section, sizeof(report->section), "%.31s", key);
	} else if (sscanf(line, " in sequence entry '%u'", &entry) == 1) {
		snprintf(part, sizeof(part), "[%u]", entry ? entry - 1 : 0);
		path_prepend(report, part);
	}
}

void topology_report_log(cyaml_log_t level, void *ctx, const char *format, va_list args)
{
	struct topology_report *report = ctx;
	char line[sizeof(report->message)];
	size_t length;

	if (level < CYAML_LOG_ERROR)
		return;
	vsnprintf(line, sizeof(line), format, args);
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	if (strncmp(line, LOG_PREFIX, strlen(LOG_PREFIX)))
		trace_line(report, line);
	else if (!*report->message)
		snprintf(report->message, sizeof(report->message), "%s", line + strlen(LOG_PREFIX));
}

/* ---- what to say of it ---- */

static void say_allowed_keys(const struct topology_report *report, char *out, size_t size)
{
	const struct topology_section *section = topology_section_find(report->section);
	const cyaml_schema_field_t *field;

	for (field = section->fields; field->key; field++) {
		append(out, size, field == section->fields ? "; known: " : ", ");
		append(out, size, field->key);
	}
}

static void say_unknown_key(const struct topology_report *report, const char *rest, char *out,
			    size_t size)
{
	snprintf(out, size, "unknown key \"%s\"", rest);
	say_allowed_keys(report, out, size);
}

static void say_missing_key(const struct topology_report *report, const char *rest, char *out,
			    size_t size)
{
	(void)report;
	snprintf(out, size, "key \"%s\" is missing", rest);
}

static void say_twice(const struct topology_report *report, const char *rest, char *out,
		      size_t size)
{
	(void)report;
	snprintf(out, size, "key \"%s\" is given twice", rest);
}

/* "uint64_t value: 'lots'" or "ENUM value: none". */
static void say_invalid(const struct topology_report *report, const char *rest, char *out,
			size_t size)
{
	const struct topology_section *section = topology_section_find(report->section);
	const struct topology_number *number = topology_number_find(section, report->key);
	const char *value = strstr(rest, ": ");
	int length;

	value = value ? value + 2 : rest;
	value += *value == '\'';
	length = (int)strcspn(value, "'");
	if (number)
		snprintf(out, size, "\"%.*s\" is not a number from %u to %u", length, value,
			 number->min, number->max);
	else
		snprintf(out, size, "\"%.*s\" is not allowed", length, value);
	if (!strcmp(report->key, "faults_on"))
		append(out, size, "; allowed: roce, all");
}

static void say_too_many(const struct topology_report *report, const char *rest, char *out,
			 size_t size)
{
	(void)report;
	snprintf(out, size, "too many entries %s", rest);
}

static void say_expected(const struct topology_report *report, const char *rest, char *out,
			 size_t size)
{
	static const struct {
		const char *kind, *words;
	} rows[] = {
		{"SEQUENCE", "a list is expected here"},
		{"MAPPING", "keys with values are expected here"},
		{"STRING", "a text is expected here"},
		{"UINT", "a number is expected here"},
	};
	size_t i;

	(void)report;
	snprintf(out, size, "expected %s", rest);
	for (i = 0; i < CYAML_ARRAY_LEN(rows); i++)
		if (!strncmp(rest, rows[i].kind, strlen(rows[i].kind)))
			snprintf(out, size, "%s", rows[i].words);
}

static void say_syntax(const struct topology_report *report, const char *rest, char *out,
		       size_t size)
{
	(void)report;
	snprintf(out, size, "not YAML: %s", rest);
}

static const struct {
	const char *begin;
	void (*say)(const struct topology_report *report, const char *rest, char *out, size_t size);
} messages[] = {
	{"Unexpected key: ", say_unknown_key},
	{"Missing required mapping field: ", say_missing_key},
	{"Mapping field already seen: ", say_twice},
	{"Invalid ", say_invalid},
	{"Excessive entries ", say_too_many},
	{"Expecting ", say_expected},
	{"libyaml: ", say_syntax},
};

/* A key that is missing, unknown or doubled belongs to the mapping around it; the innermost key
 * of the trace is only the one that was read last. */
static const char *path_of(const struct topology_report *report, char *path, size_t size)
{
	char *last;

	snprintf(path, size, "%s", report->path);
	if (!strncmp(report->message, "Missing ", 8) || !strncmp(report->message, "Mapping ", 8)) {
		last = strrchr(path, '.');
		if (last)
			*last = '\0';
	}
	return path;
}

void topology_report_print(const struct topology_report *report, const char *name,
			   const char *fallback, char error[TOPOLOGY_ERROR_MAX])
{
	const char *message = *report->message ? report->message : fallback;
	char path[sizeof(report->path)], text[320], line[16] = "";
	size_t i, length;

	snprintf(text, sizeof(text), "%s", message);
	for (i = 0; i < CYAML_ARRAY_LEN(messages); i++) {
		length = strlen(messages[i].begin);
		if (!strncmp(message, messages[i].begin, length)) {
			messages[i].say(report, message + length, text, sizeof(text));
			break;
		}
	}
	if (report->line)
		snprintf(line, sizeof(line), ":%u", report->line);
	path_of(report, path, sizeof(path));
	snprintf(error, TOPOLOGY_ERROR_MAX, "%.100s%s: %s%s%s", name, line, path, *path ? ": " : "",
		 text);
}
