# Our provider under valgrind in a guest: ping-pong polled, with events, long; no error, no leak.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-pair
# timeout: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"

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
step "ibv_rc_pingpong, 64 KiB messages" \
	pair_checked "ibv_rc_pingpong -d erdma_0 -g ${end_gid4[a]} -n 10 -c -s 65536 -r 10"
