# Datagrams on erdma, which only our provider can send: UD ping-pong, perftest, udaddy.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# long: pair
# topology: erdma-pair
# timeout: 400
# variant: pair
# variant: rxe topology=erdma-rxe
#
# The stock driver makes address handles for the kernel only (see providers/erdma/README.md), so
# this runs on the lab's variant of it that offers the same function to user space.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"

offer_address_handles() {
	local guest
	for guest in $LAB_GUESTS; do
		on "$guest" sh -ec '
			[ -d /sys/module/erdma ] || exit 0
			rmmod erdma
			insmod "/usr/share/anynic-lab/$(uname -r)/erdma-user-ah.ko"
			for i in $(seq 100); do ibv_devinfo | grep -q PORT_ACTIVE && exit 0; sleep 0.1; done
			exit 1' || return
	done
}

# Proof that the reason is the driver, and that it is told as an errno.
stock_refuses() {
	local output
	output=$(tool ud_pingpong a b 2>&1)
	echo "$output"
	grep -q 'Failed to create AH' <<<"$output"
}

step "devices and GIDs are there" ends_find
ends_find >/dev/null
use_provider anynic
step "the stock driver refuses address handles to user space" stock_refuses
step "a driver that offers them loads" offer_address_handles
for ends in 'a b' 'b a'; do
	for row in ud_pingpong ud_pingpong_event send_bw_ud send_lat_ud udaddy; do
		tool_step $row $ends
	done
	tool_step ud_pingpong $ends 6
done
