// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * lab-verbs: cases of verbs between two guests, or of one QP that is connected to itself, with
 * every byte and completion looked at. Owns the command line and the table of cases.
 */
#include "tests/lab/verbs/verbs_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct verbs_case {
	const char *name;
	int (*run)(struct end *end);
	bool alone;
} cases[] = {
	{"opcodes", verbs_opcodes, false},
	{"bulk", verbs_bulk, false},
	{"rnr", verbs_rnr, false},
	{"rnr-limit", verbs_rnr_limit, false},
	{"solicited", verbs_solicited, false},
	{"errors", verbs_errors, false},
	{"errors-local", verbs_errors_local, false},
	{"refused", verbs_refused, true},
	{"fork", verbs_fork, true},
	{"mtu", verbs_mtu, true},
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

static int usage(void)
{
	size_t i;

	fprintf(stderr, "usage: lab-verbs -d DEVICE -g GID-INDEX [-p PORT] CASE [SERVER]\ncases:");
	for (i = 0; i < CASES; i++)
		fprintf(stderr, " %s%s", cases[i].name, cases[i].alone ? " (alone)" : "");
	fputc('\n', stderr);
	return 2;
}

static int run(const struct verbs_case *row, struct end_options *opt)
{
	struct end end;
	int err;

	opt->alone = row->alone;
	if (row->run == verbs_fork && ibv_fork_init()) {
		fprintf(stderr, "fork_init failed\n");
		return 1;
	}
	err = end_open(&end, opt);
	if (!err)
		err = row->run(&end);
	end_close(&end);
	printf("%s: %s\n", row->name, err ? "failed" : "ok");
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct end_options opt = {.port = 18600};
	size_t i;
	int c;

	while ((c = getopt(argc, argv, "d:g:p:")) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 'g':
			opt.gid_index = atoi(optarg);
			break;
		case 'p':
			opt.port = (uint16_t)atoi(optarg);
			break;
		default:
			return usage();
		}
	}
	if (!opt.device || optind >= argc)
		return usage();
	opt.peer = argv[optind + 1];
	for (i = 0; i < CASES; i++)
		if (strcmp(cases[i].name, argv[optind]) == 0)
			return run(&cases[i], &opt);
	return usage();
}
