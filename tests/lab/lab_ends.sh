#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# However a lab ends, it says why in one line and leaves nothing running.
# long: all
# topology: rxe-one
# timeout: 400
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"

logs=$LAB_RUN/inner # not build/lab-logs: those are for people

# Start a lab of its own with a command that lasts, and wait until that runs.
# Sets $lab (its process) and $members (simulator and guests).
lab_start() { # COMMAND...
	mkdir -p "$logs"
	rm -f "$logs/up"
	# A shell's background process ignores SIGINT, and what it starts does too, unless told.
	env --default-signal=INT "$LAB" run rxe-one --keep-logs "$logs" -- \
		"echo up; $*" >"$logs/up" 2>"$logs/error" &
	lab=$!
	for _ in {1..600}; do
		[ ! -s "$logs/up" ] || break
		sleep 0.1
	done
	members=$(pgrep -P $lab | paste -sd' ')
	[ -s "$logs/up" ] && [ "$(wc -w <<<"$members")" = 2 ] && return
	echo "the inner lab did not start: $(cat "$logs/error")"
	kill -KILL $lab
	return 1
}

member() { # NAME -> its process
	local pid
	for pid in $members; do
		! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q -- "$1" || echo "$pid"
	done
}

# The lab has ended with this status, having said this, and its members are gone.
lab_ended() { # STATUS TEXT
	local status pid
	wait "$lab"
	status=$?
	cat "$logs/error"
	[ $status = "$1" ] || { echo "status $status, not $1"; return 1; }
	[ "$(wc -l <"$logs/error")" = $((${#2} > 0)) ] || { echo "not one line"; return 1; }
	grep -q -- "$2" "$logs/error" || [ -z "$2" ] || { echo "no '$2' in it"; return 1; }
	for pid in $members; do
		for _ in {1..20}; do
			[ -d "/proc/$pid" ] || break
			sleep 0.1
		done
		[ ! -d "/proc/$pid" ] || { echo "process $pid is left"; return 1; }
	done
}

after_signal() { # SIGNAL STATUS
	lab_start sleep 1000 && kill "-$1" "$lab" && lab_ended "$2" ""
}

interrupted_while_it_boots() {
	env --default-signal=INT "$LAB" run rxe-one -- true 2>"$logs/error" &
	lab=$!
	sleep 1
	members=$(pgrep -P $lab | paste -sd' ')
	kill -INT $lab && lab_ended 130 ""
}

simulator_is_killed() {
	lab_start sleep 1000 && kill -SEGV "$(member anynic-sim)" &&
		lab_ended 125 "anynic-sim killed by SIGSEGV"
}

qemu_is_killed() {
	lab_start sleep 1000 && kill -KILL "$(member qemu-system)" &&
		lab_ended 125 "guest a ended: QEMU killed by SIGKILL"
}

guest_panics() {
	lab_start "sleep 2; echo c >/proc/sysrq-trigger" &&
		lab_ended 125 "guest a ended: .*Kernel panic - not syncing: sysrq" &&
		grep -q "Kernel panic" "$logs/a.console"
}

refused() { # TEXT ARGUMENT...
	local text=$1 status
	shift
	"$LAB" "$@" >"$logs/out" 2>"$logs/error"
	status=$?
	cat "$logs/error"
	[ $status = 125 ] && [ "$(wc -l <"$logs/error")" = 1 ] && grep -q -- "$text" "$logs/error"
}

bad_topology() {
	printf 'guests:\n  - name: a\n    memroy: 1\n' >"$logs/bad.yaml"
	refused "bad.yaml: guests\[0\]: unknown key 'memroy'" run "$logs/bad.yaml" -- true
}

simulator_refuses() {
	sed 's/^ports:/nics:/; s/p0/n0\n    class: nonesuch/' \
		"$(dirname "$0")/topologies/rxe-one.yaml" >"$logs/class.yaml"
	refused "nonesuch" run "$logs/class.yaml" -- true
}

missing_module() {
	sed 's/^    rxe: eth0/    modules: [nonesuch]/' \
		"$(dirname "$0")/topologies/rxe-one.yaml" >"$logs/module.yaml"
	refused "kernel 7.3 has no module 'nonesuch'" run "$logs/module.yaml" -- true
}

boot_fails() {
	# A driver of VIA processors, which no guest has.
	sed 's/^    rxe: eth0/    modules: [padlock_aes]/' \
		"$(dirname "$0")/topologies/rxe-one.yaml" >"$logs/boot.yaml"
	refused "guest a: the boot failed: lab: cannot load" run "$logs/boot.yaml" -- true
}

mkdir -p "$logs"
step "interrupted (Ctrl-C)" after_signal INT 130
step "interrupted while it boots" interrupted_while_it_boots
step "terminated" after_signal TERM 143
step "killed" after_signal KILL 137
step "its simulator crashes" simulator_is_killed
step "its QEMU is killed" qemu_is_killed
step "its guest panics" guest_panics
step "topology with an unknown key" bad_topology
step "topology that does not exist" refused "no such topology" run nonesuch -- true
step "guest that does not exist" refused "no guest 'z' (there are: a)" run rxe-one --guest z -- true
step "switch setting that does not exist" refused "unknown key 'los'" run rxe-one --switch los=1 -- true
step "class that the simulator does not have" simulator_refuses
step "module that the kernel does not have" missing_module
step "boot that fails in the guest" boot_fails
step "run folder without a lab" refused "no lab runs there" exec /nonexistent a -- true
