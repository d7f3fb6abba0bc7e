/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Topology files: what is read, and for each mistake the line that the user gets. */
#include "sim/main/topology.h"
#include "tests/lib/t.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char full[] = "# two guests\n"
			   "guests:\n"
			   "  - name: a\n"
			   "    kernel: \"7.3\"\n"
			   "    memory: 1024\n"
			   "    cpus: 2\n"
			   "    modules: [erdma, nvme_rdma]\n"
			   "  - name: b\n"
			   "    rxe: eth0\n"
			   "nics:\n"
			   "  - name: nic0\n"
			   "    class: erdma\n"
			   "    personality: small\n"
			   "    mac: \"52:54:00:00:00:0A\"\n"
			   "    guest: a\n"
			   "    wqe_trace: nic0.wqe\n"
			   "ports:\n"
			   "  - name: p0\n"
			   "    guest: b\n"
			   "    mac: \"52:54:00:00:00:02\"\n"
			   "switch:\n"
			   "  seed: 18446744073709551615\n"
			   "  mtu: 4200\n"
			   "  rate_mbps: 10000\n"
			   "  buffer_kib: 256\n"
			   "  delay_us: 5\n"
			   "  loss_ppm: 1\n"
			   "  corrupt_ppm: 2\n"
			   "  duplicate_ppm: 3\n"
			   "  reorder_ppm: 4\n"
			   "  ecn_kmin_kib: 10\n"
			   "  ecn_kmax_kib: 20\n"
			   "  ecn_pmax_percent: 50\n"
			   "  faults_on: all\n"
			   "  capture: all.pcapng\n";

static int parse(const char *text, struct topology **topology, char error[TOPOLOGY_ERROR_MAX])
{
	*topology = NULL;
	*error = '\0';
	return topology_parse("t.yaml", text, strlen(text), topology, error);
}

static void reads_everything(void)
{
	static const uint8_t mac[6] = {0x52, 0x54, 0, 0, 0, 0x0a};
	char error[TOPOLOGY_ERROR_MAX];
	struct topology *t;

	T_EQ_ROW(error, parse(full, &t, error), 0);
	T_NEED(t);
	T_EQ(t->guests_count, 2);
	T_TRUE(!strcmp(t->guests[0].name, "a"));
	T_TRUE(!strcmp(t->guests[0].kernel, "7.3"));
	T_EQ(t->guests[0].memory, 1024);
	T_EQ(t->guests[0].cpus, 2);
	T_EQ(t->guests[0].modules_count, 2);
	T_TRUE(!strcmp(t->guests[0].modules[1], "nvme_rdma"));
	T_TRUE(!strcmp(t->guests[1].rxe, "eth0"));
	T_EQ(t->nics_count, 1);
	T_TRUE(!strcmp(t->nics[0].class, "erdma"));
	T_TRUE(!strcmp(t->nics[0].personality, "small"));
	T_TRUE(!strcmp(t->nics[0].wqe_trace, "nic0.wqe"));
	T_BYTES(t->nics[0].mac, mac, 6);
	T_EQ(t->ports_count, 1);
	T_TRUE(!strcmp(t->ports[0].guest, "b"));
	T_TRUE(t->fabric.seed == UINT64_MAX);
	T_EQ(t->fabric.mtu, 4200);
	T_EQ(t->fabric.rate_mbps, 10000);
	T_EQ(t->fabric.buffer_kib, 256);
	T_EQ(t->fabric.delay_us, 5);
	T_EQ(t->fabric.loss_ppm, 1);
	T_EQ(t->fabric.corrupt_ppm, 2);
	T_EQ(t->fabric.duplicate_ppm, 3);
	T_EQ(t->fabric.reorder_ppm, 4);
	T_EQ(t->fabric.ecn_kmin_kib, 10);
	T_EQ(t->fabric.ecn_kmax_kib, 20);
	T_EQ(t->fabric.ecn_pmax_percent, 50);
	T_EQ(t->fabric.faults_on, TOPOLOGY_FAULTS_ON_ALL);
	T_TRUE(!strcmp(t->fabric.capture, "all.pcapng"));
	topology_free(t);
}

static void fills_in_defaults(void)
{
	char error[TOPOLOGY_ERROR_MAX];
	struct topology *t;

	T_EQ_ROW(error, parse("guests: [{name: a}]\n", &t, error), 0);
	T_NEED(t);
	T_EQ(t->guests[0].memory, 512);
	T_EQ(t->guests[0].cpus, 1);
	T_TRUE(!t->guests[0].kernel && !t->guests[0].rxe);
	T_EQ(t->nics_count + t->ports_count, 0);
	T_EQ(t->fabric.mtu, 1500);
	T_EQ(t->fabric.rate_mbps, 0);
	T_EQ(t->fabric.buffer_kib, 1024);
	T_EQ(t->fabric.ecn_pmax_percent, 100);
	T_EQ(t->fabric.faults_on, TOPOLOGY_FAULTS_ON_ROCE);
	T_TRUE(!t->fabric.capture);
	topology_free(t);
}

#define GUEST	     "guests: [{name: a}]\n"
#define NIC(rest)    GUEST "nics: [{name: n, class: erdma, guest: a, " rest "}]\n"
#define MAC	     "mac: \"52:54:00:00:00:01\""
#define MAC2	     "mac: \"52:54:00:00:00:02\""
#define SWITCH(rest) GUEST "switch: {" rest "}\n"
#define WORD32	     "abcdefghijklmnopqrstuvwxyz012345"

/* `error` must begin with want. */
static const struct {
	const char *name, *text, *want;
} mistakes[] = {
	{"empty", "", "t.yaml: the file is empty"},
	{"comment only", "# none\n", "t.yaml: the file is empty"},
	{"not a mapping", "- a\n", "t.yaml: keys with values are expected here"},
	{"tab", "\tguests: []\n", "t.yaml: not YAML: "},
	{"open brace", "guests:\n  - {name: a\n", "t.yaml:2: guests[0].name: not YAML: "},
	{"unknown key at the top", "guest: []\n",
	 "t.yaml:1: unknown key \"guest\"; known: guests, nics, ports, switch"},
	{"unknown key in a guest", "guests:\n  - name: a\n    memry: 3\n",
	 "t.yaml:2: guests[0]: unknown key \"memry\"; known: name, kernel, memory, cpus, modules, "
	 "rxe"},
	{"unknown key in the switch", "switch:\n  loss: 3\n",
	 "t.yaml:2: switch: unknown key \"loss\"; known: seed, mtu, rate_mbps, "},
	{"line break in a key", "\"a\\nb\\e\": 1\n", "t.yaml:1: unknown key \"a?b?\"; known: "},
	{"line break in a value", "guests: [{name: \"a\\nb\"}]\n",
	 "t.yaml: guests[0].name: \"a?b\" is not"},
	{"key given twice", "guests:\n  - name: a\n    name: b\n",
	 "t.yaml:2: guests[0]: key \"name\" is given twice"},
	{"name missing", "guests:\n  - memory: 99\n",
	 "t.yaml:2: guests[0]: key \"name\" is missing"},
	{"list expected", "guests: a\n", "t.yaml:1: guests: a list is expected here"},
	{"empty value", "guests:\n", "t.yaml:1: guests: a list is expected here"},
	{"text expected", "guests:\n  - name: [a]\n",
	 "t.yaml:2: guests[0].name: a text is expected here"},
	{"number expected", "guests:\n  - name: a\n    memory: [1]\n",
	 "t.yaml:3: guests[0].memory: a number is expected here"},
	{"not a number", "guests:\n  - name: a\n    memory: lots\n",
	 "t.yaml:3: guests[0].memory: \"lots\" is not a number from 64 to 1048576"},
	{"negative", "guests:\n  - name: a\n    memory: -1\n",
	 "t.yaml:3: guests[0].memory: \"-1\" is not a number from 64 to 1048576"},
	{"beyond 32 bits", "guests:\n  - name: a\n    memory: 4294967808\n",
	 "t.yaml:3: guests[0].memory: \"4294967808\" is not a number from 64 to 1048576"},
	{"too little memory", "guests: [{name: a, memory: 63}]\n",
	 "t.yaml: guests[0].memory: 63 is not from 64 to 1048576"},
	{"alias", "guests: [{name: &x a}, {name: *x}]\n", "t.yaml"},
	{"bad name", "guests: [{name: a/b}]\n",
	 "t.yaml: guests[0].name: \"a/b\" is not 1 to 31 letters, digits, _ or -"},
	{"empty name", "guests: [{name: \"\"}]\n", "t.yaml: guests[0].name: \"\" is not 1 to 31"},
	{"dots", "guests: [{name: ..}]\n", "t.yaml: guests[0].name: \"..\" is not 1 to 31"},
	{"name too long", "guests: [{name: " WORD32 "}]\n", "t.yaml: guests[0].name: \"abc"},
	{"guest twice", "guests: [{name: a}, {name: a}]\n",
	 "t.yaml: guests[1].name: guests[0] is called \"a\" too"},
	{"module with a path", "guests: [{name: a, modules: [../x]}]\n",
	 "t.yaml: guests[0].modules[0]: \"../x\" is no module's name"},
	{"long netdev", "guests: [{name: a, rxe: abcdefghijklmnop}]\n",
	 "t.yaml: guests[0].rxe: \"abcdefghijklmnop\" is no netdev's name"},
	{"kernel with a path", "guests: [{name: a, kernel: ../x}]\n",
	 "t.yaml: guests[0].kernel: \"../x\" is no kernel's version"},
	{"mac missing", NIC("wqe_trace: x"), "t.yaml:2: nics[0]: key \"mac\" is missing"},
	{"short mac", NIC("mac: \"52:54:00:00:00\""), "t.yaml: nics[0].mac: \"52:54:00:00:00\" is"},
	{"long mac", NIC("mac: \"52:54:00:00:00:01:02\""), "t.yaml: nics[0].mac: \"52:54:00"},
	{"bad digit", NIC("mac: \"52:54:00:00:00:0g\""),
	 "t.yaml: nics[0].mac: \"52:54:00:00:00:0g"},
	{"empty mac", NIC("mac: \"\""), "t.yaml: nics[0].mac: \"\" is not like"},
	{"multicast mac", NIC("mac: \"01:54:00:00:00:01\""),
	 "t.yaml: nics[0].mac: \"01:54:00:00:00:01\" is not the address of one station"},
	{"zero mac", NIC("mac: \"00:00:00:00:00:00\""),
	 "t.yaml: nics[0].mac: \"00:00:00:00:00:00\" is not the address of one station"},
	{"unknown guest", GUEST "nics: [{name: n, class: erdma, guest: b, " MAC "}]\n",
	 "t.yaml: nics[0].guest: no guest is called \"b\""},
	{"trace elsewhere", NIC(MAC ", wqe_trace: /etc/passwd"),
	 "t.yaml: nics[0].wqe_trace: \"/etc/passwd\" is not a plain file name"},
	{"trace over the log", NIC(MAC ", wqe_trace: sim.log"),
	 "t.yaml: nics[0].wqe_trace: \"sim.log\" is the name of another file there"},
	{"nic twice",
	 GUEST "nics: [{name: n, class: e, guest: a, " MAC "}, {name: n, class: e, guest: a, " MAC2
	       "}]\n",
	 "t.yaml: nics[1].name: nics[0] is called \"n\" too"},
	{"nic and port", NIC(MAC) "ports: [{name: n, guest: a, " MAC2 "}]\n",
	 "t.yaml: ports[0].name: nics[0] is called \"n\" too"},
	{"mac twice", NIC(MAC) "ports: [{name: p, guest: a, " MAC "}]\n",
	 "t.yaml: ports[0].mac: nics[0] has it too"},
	{"port's mac twice",
	 GUEST "ports: [{name: p, guest: a, " MAC "}, {name: q, guest: a, " MAC "}]\n",
	 "t.yaml: ports[1].mac: ports[0] has it too"},
	{"loss above 1", SWITCH("loss_ppm: 1000001"),
	 "t.yaml: switch.loss_ppm: 1000001 is not from 0 to 1000000"},
	{"mtu", SWITCH("mtu: 9217"), "t.yaml: switch.mtu: 9217 is not from 576 to 9216"},
	{"pmax", SWITCH("ecn_pmax_percent: 101"), "t.yaml: switch.ecn_pmax_percent: 101 is not"},
	{"kmin above kmax", SWITCH("rate_mbps: 1, ecn_kmin_kib: 2, ecn_kmax_kib: 1"),
	 "t.yaml: switch.ecn_kmin_kib: 2 is more than ecn_kmax_kib, 1"},
	{"ecn without rate", SWITCH("ecn_kmin_kib: 1, ecn_kmax_kib: 2"),
	 "t.yaml: switch.ecn_kmin_kib: needs rate_mbps"},
	{"faults on nothing", SWITCH("faults_on: none"),
	 "t.yaml:2: switch.faults_on: \"none\" is not allowed; allowed: roce, all"},
	{"capture elsewhere", SWITCH("capture: ../x"),
	 "t.yaml: switch.capture: \"../x\" is not a plain file name"},
	{"hidden capture", SWITCH("capture: .x"), "t.yaml: switch.capture: \".x\" is not"},
};

static void mistakes_are_named(void)
{
	char error[TOPOLOGY_ERROR_MAX];
	struct topology *t;
	size_t i;

	for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		T_EQ_ROW(mistakes[i].name, parse(mistakes[i].text, &t, error), -EINVAL);
		T_TRUE_ROW(mistakes[i].name, !t);
		t_check(!strncmp(error, mistakes[i].want, strlen(mistakes[i].want)), __FILE__,
			__LINE__, "%s: says \"%s\", want \"%s\"", mistakes[i].name, error,
			mistakes[i].want);
		T_TRUE_ROW(mistakes[i].name, !strchr(error, '\n'));
	}
}

static void too_many_guests(void)
{
	char text[4096] = "guests:\n", error[TOPOLOGY_ERROR_MAX];
	struct topology *t;
	unsigned int i;

	for (i = 0; i <= TOPOLOGY_GUESTS_MAX; i++)
		sprintf(text + strlen(text), "  - name: g%u\n", i);
	T_EQ(parse(text, &t, error), -EINVAL);
	t_check(!strncmp(error, "t.yaml:34: guests", 17) && strstr(error, "too many entries"),
		__FILE__, __LINE__, "%s", error);
}

/* Cut anywhere, the text must be taken or refused, never more. */
static void every_prefix(void)
{
	char error[TOPOLOGY_ERROR_MAX];
	struct topology *t;
	size_t length;

	for (length = 0; length < sizeof(full); length++) {
		t = NULL;
		if (!topology_parse("t.yaml", full, length, &t, error))
			topology_free(t);
		else
			T_TRUE(!t);
	}
}

static void files(void)
{
	char path[] = "/tmp/anynic-topology-XXXXXX", error[TOPOLOGY_ERROR_MAX], *big;
	int fd = mkstemp(path);
	struct topology *t;

	T_NEED(fd >= 0);
	T_EQ(write(fd, full, sizeof(full) - 1), sizeof(full) - 1);
	T_EQ(topology_load(path, &t, error), 0);
	topology_free(t);
	big = calloc(1, TOPOLOGY_FILE_MAX + 1);
	T_NEED(big);
	memset(big, '#', TOPOLOGY_FILE_MAX + 1);
	T_EQ(pwrite(fd, big, TOPOLOGY_FILE_MAX + 1, 0), TOPOLOGY_FILE_MAX + 1);
	T_EQ(topology_load(path, &t, error), -EFBIG);
	free(big);
	close(fd);
	unlink(path);
	T_EQ(topology_load(path, &t, error), -ENOENT);
	T_TRUE(strstr(error, ": No such file or directory") != NULL);
	T_EQ(topology_load("/tmp", &t, error), -EISDIR);
	topology_free(NULL);
}

T_MAIN("topology", T_CASE(reads_everything), T_CASE(fills_in_defaults), T_CASE(mistakes_are_named),
       T_CASE(too_many_guests), T_CASE(every_prefix), T_CASE(files), )
