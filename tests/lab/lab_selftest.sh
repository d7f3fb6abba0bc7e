#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The lab itself: exact streams and exit status, signals, limits, both kernels, the fabric.
# topology: rxe-pair
# timeout: 120
# variant: 7.3
# variant: 6.12 topology=rxe-pair-6.12
# shellcheck source=tests/lab/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

same() { # EXPECTED ACTUAL
	[ "$1" = "$2" ] || { echo "expected: $1"; echo "got:      $2"; return 1; }
}

streams_are_apart() {
	on a 'printf "out\n\n"; printf "err" >&2' >"$LAB_RUN/out" 2>"$LAB_RUN/err"
	printf 'out\n\n' | cmp - "$LAB_RUN/out" && printf err | cmp - "$LAB_RUN/err"
}

exit_status() {
	local want got
	for want in 0 1 42 255; do
		on a sh -c "exit $want"
		got=$?
		same $want $got || return
	done
	on a /nonexistent
	got=$?
	same 127 $got || return
	on a /etc/passwd
	got=$?
	same 126 $got
}

arguments_are_kept() {
	same "[a b][][\$HOME][*][ä]" "$(on a printf '[%s]' 'a b' '' '$HOME' '*' 'ä')"
}

signals() {
	local got
	on a sh -c 'kill -TERM $$'
	got=$?
	same 143 $got || return
	on a sh -c 'kill -SEGV $$'
	got=$?
	same 139 $got
}

binary_output() {
	on a 'head -c 1048576 /dev/urandom | tee /tmp/blob' >"$LAB_RUN/blob" || return
	same 1048576 "$(stat -c %s "$LAB_RUN/blob")" || return
	same "$(on a 'sha256sum </tmp/blob')" "$(sha256sum <"$LAB_RUN/blob")"
}

binary_input() {
	head -c 1048576 /dev/urandom >"$LAB_RUN/input"
	same "$(sha256sum <"$LAB_RUN/input")" \
		"$("$LAB" exec "$LAB_RUN" a --stdin -- sha256sum <"$LAB_RUN/input")"
}

input_that_nobody_reads() {
	head -c 1048576 /dev/zero | "$LAB" exec "$LAB_RUN" a --stdin -- true
}

empty_input() {
	same "" "$(echo text | on a cat)"
}

slow_reader() {
	# A reader that stops must hold up neither other commands nor lose a byte.
	on a 'head -c 4194304 /dev/zero' | { sleep 3; wc -c; } >"$LAB_RUN/bytes" &
	sleep 1
	same quick "$(ON_TIMEOUT=1 on a echo quick)" || return
	[ ! -s "$LAB_RUN/bytes" ] || return
	wait
	same 4194304 "$(cat "$LAB_RUN/bytes")"
}

reader_that_leaves() {
	same y "$(on a yes | head -n1)" || return
	on a 'for i in 1 2 3 4 5 6 7 8 9 10; do pidof yes >/dev/null || exit 0; sleep 0.2; done; exit 1'
}

time_limit() {
	local begun=$SECONDS got
	ON_TIMEOUT=1 on a sleep 100
	got=$?
	same 124 $got && [ $((SECONDS - begun)) -lt 10 ]
}

commands_side_by_side() {
	local i pids=() pid
	for i in {1..12}; do
		{ same "$i" "$(on a "sleep 0.5; echo $i")"; } &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || return
	done
}

background_process_left_behind() {
	same started "$(ON_TIMEOUT=10 on a 'sleep 1000 & echo started')"
}

environment() {
	same yes "$("$LAB" exec "$LAB_RUN" a --env ANSWER=yes -- printenv ANSWER)"
}

limits() {
	same unlimited "$(on a sh -c 'ulimit -l')"
}

root_is_not_written() {
	on a 'echo x >/etc/anynic-lab-was-here && touch /usr/bin/new' || return
	[ ! -e "$("$(dirname "$LAB")/lab-root" --path)/etc/anynic-lab-was-here" ] &&
		! on a 'touch /anynic/x' 2>/dev/null
}

run_folder_is_shared() {
	on a 'echo hello >/run-dir/note' && same hello "$(on b cat /run-dir/note)"
}

kernel_is_stock() {
	on a uname -r | grep "^${LAB_VARIANT//./\\.}\\." && on a uname -v | grep Debian
}

ping_peer() {
	on a ping -c 3 -i 0.2 -W 2 10.9.0.2 && on b ping -c 3 -i 0.2 -W 2 fd09::1
}

pingpong() {
	pair a "ibv_rc_pingpong -d rxe0 -g 1" b "ibv_rc_pingpong -d rxe0 -g 1 10.9.0.1"
}

rdma_cm() {
	pair a "rping -s -a 10.9.0.1 -C 5 -V" b "rping -c -a 10.9.0.1 -C 5 -V"
}

skipped_step() {
	skip "a step can say why it does not apply"
}

step "the kernel is the stock one" kernel_is_stock
step "stdout and stderr come back apart and exact" streams_are_apart
step "exit status comes back" exit_status
step "arguments are kept as they are" arguments_are_kept
step "a fatal signal is told as 128 + its number" signals
step "1 MiB of binary output is intact" binary_output
step "1 MiB of binary input is intact" binary_input
step "input that nobody reads does no harm" input_that_nobody_reads
step "input is empty unless asked for" empty_input
step "a slow reader holds up nothing" slow_reader
step "a command ends when its reader leaves" reader_that_leaves
step "a time limit ends a command" time_limit
step "twelve commands run side by side" commands_side_by_side
step "a process left in the background holds up nothing" background_process_left_behind
step "environment is passed on" environment
step "locked memory is unlimited" limits
step "the lab root stays as it was" root_is_not_written
step "guests share the run folder" run_folder_is_shared
step "guests reach each other by IPv4 and IPv6" ping_peer
step "rxe talks to rxe over the switch" pingpong
step "rdma_cm connects rxe to rxe" rdma_cm
step "a step can be skipped" skipped_step
