# The unmodified kernel driver of erdma on the simulated NIC: probe, addresses, link, MTU, reload, unbind, reset.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-pair
# variant: 7.3
# variant: 6.12 topology=erdma-pair-6.12
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

# What the scripts below share; each runs in guest a with -e.
# shellcheck disable=SC2016 # the guest's shell expands it
guest_words='
pci=
for path in /sys/bus/pci/devices/*; do
	read -r vendor <"$path/vendor"
	[ "$vendor" != 0x1ded ] || pci=$path
done
driver=/sys/bus/pci/drivers/erdma
eventually() { # COMMAND...: within 10 s
	for _ in $(seq 100); do
		"$@" && return 0
		sleep 0.1
	done
	echo "never: $*"
	return 1
}
field() { ibv_devinfo -v -d erdma_0 | sed -n "s/^[[:space:]]*$1:[[:space:]]*//p"; }
is() { case $(field "$1") in "$2"*) ;; *) return 1 ;; esac; } # FIELD VALUE
active() { is state PORT_ACTIVE; }
gone() { [ ! -e /sys/class/infiniband/erdma_0 ]; }
gid() { ibv_devinfo -v -d erdma_0 | grep -q "GID\[.*[[:space:]]$1, RoCE v2"; }
no_gid() { ! gid "$1"; }
'

in_a() { # SCRIPT
	on a sh -ec "$guest_words$1"
}

driver_is_stock() {
	in_a '
	modinfo -F filename erdma | grep "/updates/erdma.ko"
	modinfo -F intree erdma || true
	dmesg | grep -i erdma
	[ -e "$pci/driver" ]
	eventually active'
}

attributes() {
	in_a '
	is vendor_id 0x1ded
	is transport InfiniBand
	is link_layer Ethernet
	is phys_port_cnt 1
	is node_guid 5054:00ff:fe00:0001
	is active_mtu 1024
	is phys_state LINK_UP
	is num_comp_vectors 1
	[ "$(field max_qp)" -ge 16384 ]
	[ "$(field max_mr)" -ge 65536 ]'
}

gids_follow() {
	in_a '
	gid ::ffff:10.9.0.1
	gid fd09::1
	ip address add 10.9.77.7/16 dev eth0
	ip address add fd09::77/64 dev eth0 nodad
	eventually gid ::ffff:10.9.77.7
	eventually gid fd09::77
	ip address del 10.9.77.7/16 dev eth0
	ip address del fd09::77/64 dev eth0
	eventually no_gid ::ffff:10.9.77.7
	eventually no_gid fd09::77
	gid ::ffff:10.9.0.1'
}

# More than the table holds: the kernel says no, the NIC's table keeps in step.
gids_many() {
	in_a '
	for i in $(seq 1 40); do ip address add 10.9.66.$i/16 dev eth0; done
	eventually gid ::ffff:10.9.66.1
	for i in $(seq 1 40); do ip address del 10.9.66.$i/16 dev eth0; done
	eventually no_gid ::ffff:10.9.66.1
	ip address add 10.9.66.99/16 dev eth0
	eventually gid ::ffff:10.9.66.99
	ip address del 10.9.66.99/16 dev eth0
	eventually no_gid ::ffff:10.9.66.99'
}

link_follows() {
	in_a '
	ibv_asyncwatch -d erdma_0 >/tmp/events & watch=$!
	eventually grep -q "async event FD" /tmp/events
	ip link set eth0 down
	eventually is state PORT_DOWN
	ip link set eth0 up
	ip address add fd09::1/64 dev eth0 nodad # the kernel drops it with the link
	eventually active
	eventually gid fd09::1
	kill $watch
	cat /tmp/events
	grep -q "IBV_EVENT_PORT_ERR" /tmp/events
	grep -q "IBV_EVENT_PORT_ACTIVE" /tmp/events'
}

# This driver rounds the netdev's MTU down to a path MTU and takes no headers off; the NIC sends
# frames of its own, for which the netdev's MTU is no limit.
mtu_follows() {
	in_a '
	while read -r netdev path; do
		ip link set eth0 mtu $netdev
		eventually is active_mtu "$path "
	done <<-TABLE
		600 512
		1280 1024
		2047 1024
		2048 2048
		4095 2048
		4096 4096
		9000 4096
		1500 1024
	TABLE
	gid fd09::1 || ip address add fd09::1/64 dev eth0 nodad' # the kernel has no IPv6 under 1280
}

reload() {
	in_a '
	for i in $(seq 20); do
		modprobe -r erdma
		eventually gone
		modprobe erdma
		eventually active
	done
	eventually gid ::ffff:10.9.0.1
	eventually gid fd09::1'
}

unbind() {
	in_a '
	for i in $(seq 5); do
		basename "$pci" >$driver/unbind
		eventually gone
		basename "$pci" >$driver/bind
		eventually active
	done'
}

# 7.3 takes the device from under its users; 6.12 waits for them.
unbind_in_use() {
	[ "$LAB_VARIANT" = 6.12 ] && skip "the driver of 6.12 waits until the device is closed"
	in_a '
	ibv_rc_pingpong -d erdma_0 -g 1 >/tmp/pingpong 2>&1 & user=$!
	eventually sh -c "rdma resource show qp | grep -q ibv_rc_pingpong"
	basename "$pci" >$driver/unbind
	eventually gone
	kill $user
	wait $user || true
	basename "$pci" >$driver/bind
	eventually active'
}

function_reset() {
	in_a '
	grep -q flr "$pci/reset_method"
	modprobe -r erdma
	echo 1 >"$pci/reset"
	modprobe erdma
	eventually active'
}

# A driver that dies leaves the NIC running: the next one must find it as new.
reset_alive() {
	in_a '
	echo 1 >"$pci/remove"
	eventually gone
	echo 1 >/sys/bus/pci/rescan
	eventually active'
}

# Not bad_doorbells: as it ends, the driver arms its command CQ once more after the NIC's reset.
nothing_odd() {
	stats_read && not_counted 'nics.*.command_errors' 'nics.*.invalid_wqes' 'nics.*.bad_registers' \
		'nics.*.eq_full' 'nics.*.drop_icrc' 'nics.*.drop_length'
}

step "the driver is the kernel's own and has probed" driver_is_stock
step "ibv_devinfo -v shows an active RoCE port and its limits" attributes
step "the GID table follows the addresses" gids_follow
step "more addresses than GIDs do no harm" gids_many
step "the port follows the link, and tells" link_follows
step "the path MTU follows the netdev's" mtu_follows
step "the driver is unloaded and loaded 20 times" reload
step "the driver is unbound and bound" unbind
step "the driver is unbound while a tool has the device" unbind_in_use
step "a function level reset" function_reset
step "the function is removed and found again" reset_alive
ends_find
use_provider stock
tool_step rc_pingpong_4097 a b 4
tool_step rc_pingpong_4097 b a 6
step "the NIC saw nothing odd" nothing_odd
