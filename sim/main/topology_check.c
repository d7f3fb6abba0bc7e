/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The meaning of a topology: ranges, defaults, names, references. Knows what
 * the run folder holds, because names in the file become file names there.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/main/topology_internal.h"

#define NAME_MAX_BYTES 31
#define FILE_NAME_MAX  63
/* IFNAMSIZ without the terminating zero. */
#define IFNAME_MAX 15

/* Where a message is from. */
struct check {
	struct topology *topology;
	const char *name;
	char *error;
};

static int fail(const struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(const struct check *check, const char *format, ...)
{
	va_list args;
	int used;

	used = snprintf(check->error, TOPOLOGY_ERROR_MAX, "%.100s: ", check->name);
	va_start(args, format);
	vsnprintf(check->error + used, TOPOLOGY_ERROR_MAX - (size_t)used, format, args);
	va_end(args);
	return -EINVAL;
}

/* ---- texts ---- */

static bool is_word(const char *text, size_t most, const char *also)
{
	size_t i;

	if (!isalnum((unsigned char)text[0]))
		return false;
	for (i = 0; text[i]; i++)
		if (i == most || (!isalnum((unsigned char)text[i]) && !strchr(also, text[i])))
			return false;
	return true;
}

static int check_name(const struct check *check, const char *where, unsigned int i,
		      const char *name)
{
	if (is_word(name, NAME_MAX_BYTES, "_-"))
		return 0;
	return fail(check, "%s[%u].name: \"%s\" is not 1 to %d letters, digits, _ or -", where, i,
		    name, NAME_MAX_BYTES);
}

/* Names of files that the run folder has anyway. */
static bool is_reserved(const char *name)
{
	static const char *const rows[] = {"sim.log", "stats.json"};
	size_t i;

	for (i = 0; i < CYAML_ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i], name))
			return true;
	return false;
}

static int check_file_name(const struct check *check, const char *where, const char *name)
{
	if (!name)
		return 0;
	if (!is_word(name, FILE_NAME_MAX, "._-"))
		return fail(check,
			    "%s: \"%s\" is not a plain file name (1 to %d letters, digits, . _ -)",
			    where, name, FILE_NAME_MAX);
	if (is_reserved(name))
		return fail(check, "%s: \"%s\" is the name of another file there", where, name);
	return 0;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -EINVAL;
}

static bool parse_mac(const char *text, uint8_t mac[6])
{
	unsigned int i;
	int high, low;

	for (i = 0; i < 6; i++, text += 3) {
		high = hex_digit(text[0]);
		low = high < 0 ? high : hex_digit(text[1]);
		if (low < 0 || text[2] != (i < 5 ? ':' : '\0'))
			return false;
		mac[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static int check_mac(const struct check *check, const char *where, unsigned int i, const char *text,
		     uint8_t mac[6])
{
	static const uint8_t zero[6];

	if (!parse_mac(text, mac))
		return fail(check, "%s[%u].mac: \"%s\" is not like \"52:54:00:00:00:01\"", where, i,
			    text);
	if (mac[0] & 1 || !memcmp(mac, zero, 6))
		return fail(check, "%s[%u].mac: \"%s\" is not the address of one station", where, i,
			    text);
	return 0;
}

/* ---- numbers ---- */

static int check_numbers(const struct check *check, const char *where,
			 const struct topology_section *section, void *base)
{
	const struct topology_number *number;
	uint32_t *value;
	size_t i;

	for (i = 0; i < section->number_count; i++) {
		number = &section->numbers[i];
		value = (uint32_t *)((char *)base + number->offset);
		if (!*value)
			*value = number->normal;
		if (*value < number->min || *value > number->max)
			return fail(check, "%s.%s: %u is not from %u to %u", where, number->key,
				    *value, number->min, number->max);
	}
	return 0;
}

/* ---- the parts ---- */

static int check_modules(const struct check *check, unsigned int i,
			 const struct topology_guest *guest)
{
	uint32_t m;

	for (m = 0; m < guest->modules_count; m++)
		if (!is_word(guest->modules[m], FILE_NAME_MAX, "_-"))
			return fail(check, "guests[%u].modules[%u]: \"%s\" is no module's name", i,
				    m, guest->modules[m]);
	return 0;
}

static int check_guest(const struct check *check, unsigned int i)
{
	struct topology_guest *guest = &check->topology->guests[i];
	char where[24];
	unsigned int j;
	int err;

	snprintf(where, sizeof(where), "guests[%u]", i);
	err = check_name(check, "guests", i, guest->name);
	if (!err)
		err = check_numbers(check, where, topology_section_find("guests"), guest);
	if (!err)
		err = check_modules(check, i, guest);
	if (err)
		return err;
	if (guest->kernel && !is_word(guest->kernel, NAME_MAX_BYTES, "._-+"))
		return fail(check, "%s.kernel: \"%s\" is no kernel's version", where,
			    guest->kernel);
	if (guest->rxe && !is_word(guest->rxe, IFNAME_MAX, "_-."))
		return fail(check, "%s.rxe: \"%s\" is no netdev's name", where, guest->rxe);
	for (j = 0; j < i; j++)
		if (!strcmp(check->topology->guests[j].name, guest->name))
			return fail(check, "%s.name: guests[%u] is called \"%s\" too", where, j,
				    guest->name);
	return 0;
}

static int check_guest_exists(const struct check *check, const char *where, unsigned int i,
			      const char *guest)
{
	uint32_t g;

	for (g = 0; g < check->topology->guests_count; g++)
		if (!strcmp(check->topology->guests[g].name, guest))
			return 0;
	return fail(check, "%s[%u].guest: no guest is called \"%s\"", where, i, guest);
}

/* NICs and extra ports are both stations on the switch: one space of names and addresses. */
static int check_station_unique(const struct check *check, const char *where, unsigned int i,
				const char *name, const uint8_t mac[6])
{
	const struct topology *topology = check->topology;
	bool is_port = !strcmp(where, "ports");
	uint32_t nics = is_port ? topology->nics_count : i, ports = is_port ? i : 0, j;

	for (j = 0; j < nics; j++) {
		if (!strcmp(topology->nics[j].name, name))
			return fail(check, "%s[%u].name: nics[%u] is called \"%s\" too", where, i,
				    j, name);
		if (!memcmp(topology->nics[j].mac, mac, 6))
			return fail(check, "%s[%u].mac: nics[%u] has it too", where, i, j);
	}
	for (j = 0; j < ports; j++) {
		if (!strcmp(topology->ports[j].name, name))
			return fail(check, "%s[%u].name: ports[%u] is called \"%s\" too", where, i,
				    j, name);
		if (!memcmp(topology->ports[j].mac, mac, 6))
			return fail(check, "%s[%u].mac: ports[%u] has it too", where, i, j);
	}
	return 0;
}

static int check_nic(const struct check *check, unsigned int i)
{
	struct topology_nic *nic = &check->topology->nics[i];
	char where[32];
	int err;

	snprintf(where, sizeof(where), "nics[%u].wqe_trace", i);
	err = check_name(check, "nics", i, nic->name);
	if (!err)
		err = check_mac(check, "nics", i, nic->mac_text, nic->mac);
	if (!err)
		err = check_guest_exists(check, "nics", i, nic->guest);
	if (!err)
		err = check_file_name(check, where, nic->wqe_trace);
	if (!err)
		err = check_station_unique(check, "nics", i, nic->name, nic->mac);
	return err;
}

static int check_port(const struct check *check, unsigned int i)
{
	struct topology_port *port = &check->topology->ports[i];
	int err;

	err = check_name(check, "ports", i, port->name);
	if (!err)
		err = check_mac(check, "ports", i, port->mac_text, port->mac);
	if (!err)
		err = check_guest_exists(check, "ports", i, port->guest);
	if (!err)
		err = check_station_unique(check, "ports", i, port->name, port->mac);
	return err;
}

static int check_switch(const struct check *check)
{
	struct topology_switch *fabric = &check->topology->fabric;
	int err;

	err = check_numbers(check, "switch", topology_section_find("switch"), fabric);
	if (!err)
		err = check_file_name(check, "switch.capture", fabric->capture);
	if (err)
		return err;
	if (fabric->ecn_kmin_kib > fabric->ecn_kmax_kib)
		return fail(check, "switch.ecn_kmin_kib: %u is more than ecn_kmax_kib, %u",
			    fabric->ecn_kmin_kib, fabric->ecn_kmax_kib);
	if (fabric->ecn_kmin_kib && !fabric->rate_mbps)
		return fail(check, "switch.ecn_kmin_kib: needs rate_mbps: a port of unlimited "
				   "rate has no queue to mark");
	return 0;
}

int topology_check(struct topology *topology, const char *name, char error[TOPOLOGY_ERROR_MAX])
{
	const struct check check = {topology, name, error};
	int err = 0;
	uint32_t i;

	for (i = 0; !err && i < topology->guests_count; i++)
		err = check_guest(&check, i);
	for (i = 0; !err && i < topology->nics_count; i++)
		err = check_nic(&check, i);
	for (i = 0; !err && i < topology->ports_count; i++)
		err = check_port(&check, i);
	return err ? err : check_switch(&check);
}
