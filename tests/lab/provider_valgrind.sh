# Our provider under valgrind in a guest: ping-pong, perftest, refused requests; no error, no leak.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-pair
# timeout: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"

# Only what has our provider in its stack counts: the tools themselves leak at their end.
checked() { # COMMAND...
	printf 'valgrind --quiet --leak-check=full --error-exitcode=99 --errors-for-leak-kinds=definite,indirect --suppressions=/anynic/valgrind.supp %s' "$*"
}

pair_checked() { # COMMAND
	PAIR_TIMEOUT=240 pair a "$(checked "$1")" b "$(checked "$1 ${end_addr4[a]}")"
}

ends_find
use_provider anynic
cp "$(dirname "$0")/../valgrind.supp" "$LAB_BUILD/valgrind.supp"
step "ibv_devinfo -v" on a sh -c "$(checked ibv_devinfo -v)"
step "ibv_rc_pingpong, checked data" \
	pair_checked "ibv_rc_pingpong -d erdma_0 -g ${end_gid4[a]} -n 20 -c"
step "ibv_rc_pingpong with events" \
	pair_checked "ibv_rc_pingpong -d erdma_0 -g ${end_gid4[a]} -n 20 -c -e"
step "ib_write_bw" pair_checked "ib_write_bw $(tool_words a a 4 @perf) -n 20 -s 4096"
step "ib_send_lat, inline" pair_checked "ib_send_lat $(tool_words a a 4 @perf) -n 20 -s 32 -I 64"
step "ib_atomic_bw" pair_checked "ib_atomic_bw $(tool_words a a 4 @perf) -n 20"
step "refused creations and posts" on a sh -c \
	"cd /usr/share/anynic-lab && PYTHONMALLOC=malloc valgrind --quiet --error-exitcode=99 \
	--suppressions=/anynic/valgrind.supp python3 tests/run_tests.py --dev erdma_0 -v tests.test_pd tests.test_cq"
