# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What a scenario is written in; sourced by each. Owns steps and their TAP, and pairs
# of a server and a client. Knows nothing of how guests run: that is $LAB.
#
#     on GUEST COMMAND...           run a command in a guest; one word with blanks: a script
#     step NAME COMMAND...          a test: passes if the command (or function) succeeds
#     pair SERVER CMD CLIENT CMD    run a server in one guest and, once it listens, its client
#     bg GUEST COMMAND...           run until the scenario ends
#     skip REASON                   in a step: skip it; outside: skip all that is left
#     say TEXT                      a line in the report that is no result
#
# Environment: LAB_RUN (the run's folder, also for captures), LAB_VARIANT, LAB_GUESTS.
set -u

lab_steps=0
lab_in_step=
lab_work=$(mktemp -d)
lab_background=()

: "${PAIR_TIMEOUT:=120}" # seconds for the client, and for the server after it

lab_finish() {
	local status=$? pid
	for pid in "${lab_background[@]}"; do
		kill "$pid" 2>/dev/null
	done
	rm -rf "$lab_work"
	# The plan tells the runner that the script was not cut short.
	[ $status != 0 ] || echo "1..$lab_steps"
}
trap lab_finish EXIT

say() {
	printf '%s\n' "$@" | sed 's/^/# /'
}

on() { # GUEST COMMAND...
	local guest=$1
	shift
	"$LAB" exec "$LAB_RUN" "$guest" ${ON_TIMEOUT:+--timeout "$ON_TIMEOUT"} -- "$@"
}

skip() { # REASON
	if [ -n "$lab_in_step" ]; then
		printf '%s\n' "$*" >"$lab_work/skip"
		exit 77
	fi
	lab_steps=$((lab_steps + 1))
	echo "ok $lab_steps - the rest # SKIP $*"
	exit 0
}

# The command runs in a subshell, so a step leaves nothing behind but files. Always succeeds,
# so that the script goes on; whether the step did is in $STEP_STATUS.
step() { # NAME COMMAND...
	local name=$1 status
	shift
	lab_steps=$((lab_steps + 1))
	rm -f "$lab_work/skip"
	(
		lab_in_step=1
		trap - EXIT
		"$@"
	) >"$lab_work/output" 2>&1 </dev/null
	status=$?
	if [ $status = 0 ]; then
		echo "ok $lab_steps - $name"
	elif [ $status = 77 ] && [ -e "$lab_work/skip" ]; then
		echo "ok $lab_steps - $name # SKIP $(cat "$lab_work/skip")"
	else
		# Why it failed comes first: the runner takes it with the result that follows.
		say "status $status from: $*"
		tail -n 60 "$lab_work/output" | tr -cd '\11\12\15\40-\176' | sed 's/^/#   /'
		echo "not ok $lab_steps - $name"
	fi
	# shellcheck disable=SC2034 # for scenarios
	STEP_STATUS=$status
}

bg() { # GUEST COMMAND...
	local guest=$1
	shift
	"$LAB" exec "$LAB_RUN" "$guest" -- "$@" >"$lab_work/bg.${#lab_background[@]}" 2>&1 &
	lab_background+=($!)
}

# In the guest: succeed once a process of the given session listens, by TCP or by rdma_cm.
# shellcheck disable=SC2016 # the guest's shell expands it
lab_wait_listen='
session=$1
in_session() {
	for pid in $(sed -n "s/.*pid[= ]\([0-9][0-9]*\).*/\1/p"); do
		read -r stat <"/proc/$pid/stat" 2>/dev/null || continue
		set -- ${stat##*) }
		[ "$4" = "$session" ] && return 0
	done
	return 1
}
while [ -d "/proc/$session" ]; do
	ss -Hltnp | in_session && exit 0
	rdma resource show cm_id 2>/dev/null | grep LISTEN | in_session && exit 0
	sleep 0.1
done
echo "the server ended before it listened" >&2
exit 1'

# Both outputs are printed; succeeds if both commands do.
pair() { # SERVER-GUEST COMMAND CLIENT-GUEST COMMAND
	local server=$1 command=$2 client=$3 then=$4 id=$BASHPID.$RANDOM pid status server_status
	# The guest ends a command as its own lab exec ends, so this one is no function's child.
	# shellcheck disable=SC2016
	"$LAB" exec "$LAB_RUN" "$server" --timeout $((PAIR_TIMEOUT + 60)) -- \
		sh -c 'echo $$ >/tmp/pair.$1; exec sh -c "$2"' sh "$id" "$command" \
		>"$lab_work/server.$id" 2>&1 &
	pid=$!
	# shellcheck disable=SC2016
	ON_TIMEOUT=60 on "$server" sh -c '
		while [ ! -s "/tmp/pair.$1" ]; do sleep 0.05; done
		exec sh -c "$2" sh "$(cat "/tmp/pair.$1")"' sh "$id" "$lab_wait_listen" &&
		ON_TIMEOUT=$PAIR_TIMEOUT on "$client" sh -c "$then"
	status=$?
	if [ $status != 0 ]; then
		echo "client: status $status"
		# A server whose client has failed may wait for ever.
		sleep 1
		kill $pid 2>/dev/null
	fi
	wait $pid
	server_status=$?
	sed 's/^/server: /' "$lab_work/server.$id"
	[ $server_status = 0 ] || echo "server: status $server_status"
	[ $status != 0 ] || status=$server_status
	return $status
}
