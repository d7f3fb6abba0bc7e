# Tools over a wire that loses, reorders, doubles and damages RoCE frames: no wrong byte, no hang.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-trio
# timeout: 600
# switch: seed=20
# variant: loss loss_ppm=10000
# variant: reorder reorder_ppm=20000
# variant: duplicate duplicate_ppm=20000
# variant: corrupt corrupt_ppm=10000
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

# The fault happened on the way to every guest, and both NICs had to do what it calls for.
seen() {
	local port
	stats_read || return
	for port in nic0 nic1 p0; do
		counted "ports.$port.fault_$LAB_VARIANT" 5 || return
	done
	case $LAB_VARIANT in
	loss) counted 'nics.*.retransmitted' && counted 'nics.*.out_of_sequence' ;;
	reorder) counted 'nics.*.out_of_sequence' ;;
	duplicate) counted 'nics.*.duplicate_request' ;;
	corrupt) counted 'nics.*.drop_icrc' && counted 'nics.*.retransmitted' ;;
	esac
}

# rxe's requester can stop for ever while it sends a long message again, so against rxe the long
# messages are ours: it answers, and sends single packets.
ends_find
if [ -n "${ANYNIC_LAB_LONG:-}" ]; then
	use_provider stock
	tool_steps "rc perf atomic cm" a b 4
	use_provider anynic
	tool_steps "rc perf atomic" b a 6
	tool_steps perf c a 6
else
	use_provider stock
	tool_step rc_pingpong_64k a b 4
	tool_step rping a b 4
	use_provider anynic
	tool_step rc_pingpong_64k b a 6
	tool_step read_bw a b 4
	for row in write_bw read_bw send_bw send_lat; do
		tool_step $row c a 6
	done
fi
step "the switch did it, and the NICs noticed" seen
