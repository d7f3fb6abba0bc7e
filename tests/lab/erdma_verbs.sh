# Each verbs opcode, every byte looked at; errors, receivers that are not ready, events, fork.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-trio
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

# What must not happen whatever a tool does.
nothing_odd() {
	stats_read && not_counted 'nics.*.command_errors' 'nics.*.invalid_wqes' 'nics.*.bad_doorbells' \
		'nics.*.bad_registers' 'nics.*.drop_icrc' 'nics.*.drop_length' 'nics.*.drop_pad'
}

every_icrc() {
	"${0%/*}/capture.py" check "$LAB_RUN/all.pcapng"
}

ends_find
for provider in stock anynic; do
	use_provider $provider
	tool_steps verbs a b 4
	tool_steps verbs a c 6
	tool_steps verbs c a 4
	# Only rxe lets the user set the timers and limits that these need, or flushes at once.
	tool_step rnr_limit a c 4
	tool_step errors_local a b 6
	alone_step fork a
done
# The stock provider refuses with errno's sign turned, and does not look at the path MTU.
alone_step refused a
alone_step mtu a
step "no NIC saw anything odd" nothing_odd
step "each ICRC is right" every_icrc
