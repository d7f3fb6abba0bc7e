# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# What the simulator counted. Sourced by scenarios after lib.sh; knows no NIC class.
#
#     stats_read                  have the simulator write its counters
#     counter PATH                print one: ports.NAME.COUNTER, `*` sums over all of that level
#     counted PATH [LEAST]        succeed if it is at least LEAST (1)
#     not_counted PATH...         succeed if all are 0; says which are not

stats_read() {
	local file=$LAB_RUN/stats.json pid
	# Only this run's simulator has the run's folder on its command line.
	pid=$(pgrep -f "anynic-sim --run-dir $LAB_RUN ") || { echo "no simulator"; return 1; }
	rm -f "$file"
	kill -USR1 "$pid"
	for _ in {1..100}; do
		python3 -m json.tool "$file" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	echo "the simulator did not write $file"
	return 1
}

counter() { # PATH
	python3 - "$LAB_RUN/stats.json" "$1" <<-'PYTHON'
	import fnmatch, json, sys
	nodes = [json.load(open(sys.argv[1]))]
	for part in sys.argv[2].split("."):
	    nodes = [node[key] for node in nodes for key in node if fnmatch.fnmatch(key, part)]
	if not nodes:
	    sys.exit(f"no counter {sys.argv[2]}")
	print(sum(nodes))
	PYTHON
}

counted() { # PATH [LEAST]
	local value
	value=$(counter "$1") || return
	echo "$1 = $value, at least ${2:-1} wanted"
	[ "$value" -ge "${2:-1}" ]
}

not_counted() { # PATH...
	local path value status=0
	for path in "$@"; do
		value=$(counter "$path") || return
		[ "$value" = 0 ] || { echo "$path = $value"; status=1; }
	done
	return $status
}
