# perftest and pingpong between two erdma NICs and with Linux rxe: stock driver, both providers.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: pair rxe
# topology: erdma-pair
# timeout: 600
# variant: pair
# variant: rxe topology=erdma-rxe
# variant: 6.12 topology=erdma-pair-6.12
# variant: jumbo mtu=9000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

nothing_odd() {
	stats_read && not_counted 'nics.*.command_errors' 'nics.*.invalid_wqes' 'nics.*.bad_doorbells' \
		'nics.*.bad_registers' 'nics.*.eq_full' 'nics.*.drop_icrc' 'nics.*.drop_length' \
		'nics.*.drop_opcode' 'nics.*.drop_pad' 'nics.*.drop_mtu' 'ports.*.drop_*'
}

both_ways() { # GROUPS
	tool_steps "$1" a b 4
	tool_steps "$1" b a 6
}

ends_find
for provider in stock anynic; do
	use_provider $provider
	case $LAB_VARIANT in
	pair) both_ways "rc mtu perf atomic more" ;;
	rxe)
		both_ways "rc perf atomic more"
		# The rest of directions and families.
		tool_steps perf b a 4
		tool_steps perf a b 6
		;;
	6.12) tool_steps "rc perf atomic" a b 4 ;;
	jumbo) tool_steps jumbo a b 4 ;;
	esac
done
step "neither NIC saw anything odd" nothing_odd
