# The NIC fetches the same work queue bytes from both providers, and ours takes no device but its own.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-traced
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"

trace_end() { # NIC
	stat -c %s "$LAB_RUN/$1.wqe"
}

# What each NIC fetched while the tool ran, in FILE.nic0 and FILE.nic1.
traced() { # FILE ROW
	local nic from before0 before1
	before0=$(trace_end nic0) && before1=$(trace_end nic1) || return
	tool "$2" b a 4 || return
	for nic in nic0 nic1; do
		[ $nic = nic0 ] && from=$before0 || from=$before1
		tail -c +$((from + 1)) "$LAB_RUN/$nic.wqe" >"$1.$nic"
	done
}

same_bytes() { # ROW
	local nic status=0
	use_provider stock && traced "$LAB_RUN/stock" "$1" || return
	use_provider anynic && traced "$LAB_RUN/ours" "$1" || return
	for nic in nic0 nic1; do
		# A server that only answers has posted nothing, with neither.
		if [ $nic = nic1 ] && [ ! -s "$LAB_RUN/stock.$nic" ] && [ ! -s "$LAB_RUN/ours.$nic" ]; then
			continue
		fi
		"${0%/*}/wqe_compare.py" "$LAB_RUN/stock.$nic" "$LAB_RUN/ours.$nic" || status=1
	done
	return $status
}

served_by_ours() { # DEVICE [ENVIRONMENT]
	on a sh -c 'ANYNIC_DEBUG=1 ibv_devinfo -d "$1" 2>&1' sh "$1" | tee "$lab_work/devinfo"
	grep -q "hca_id:.*$1" "$lab_work/devinfo" && grep -q "^anynic: $1: opened" "$lab_work/devinfo"
}

not_served_by_ours() { # DEVICE
	! served_by_ours "$1" && grep -q PORT_ACTIVE "$lab_work/devinfo"
}

rxe_works() {
	local gid
	gid=$(on a sh -c 'grep -l "ffff:0a09:0011" /sys/class/infiniband/rxe0/ports/1/gids/* | head -n 1')
	pair a "ibv_rc_pingpong -d rxe0 -g ${gid##*/} -c -n 50" \
		a "ibv_rc_pingpong -d rxe0 -g ${gid##*/} -c -n 50 10.9.0.17"
}

by_driver_file() {
	on a 'cp /anynic/lib/anynic.driver /etc/libibverbs.d/00-anynic.driver &&
		sed -i "s|^driver .*|driver /anynic/lib/libanynic|" /etc/libibverbs.d/00-anynic.driver'
	served_by_ours erdma_0
	local status=$?
	on a rm /etc/libibverbs.d/00-anynic.driver
	return $status
}

ends_find
for row in opcodes rc_pingpong_4097 rc_pingpong_event write_bw read_bw send_bw atomic_bw_cas \
	atomic_bw_faa write_bw_imm write_lat write_bw_qps_bidi; do
	step "$row: the same entries from both providers" same_bytes $row
done
use_provider stock
step "without a word from the user the stock provider serves erdma_0" not_served_by_ours erdma_0
step "a driver file makes ours serve it" by_driver_file
use_provider anynic
step "IBV_DRIVERS makes ours serve it" served_by_ours erdma_0
step "rxe0 in the same guest is left to its own provider" not_served_by_ours rxe0
step "and works" rxe_works
