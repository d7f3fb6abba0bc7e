# nvme-rdma over erdma: fast registration, SEND with invalidate, multi-packet READ and WRITE of a kernel user.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-trio
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

# A namespace in memory, offered by rdma_cm on the guest's address.
# shellcheck disable=SC2016 # the guest's shell expands it
target_script='
modprobe nvmet-rdma
mkdir -p /dev/shm
truncate -s 64M /dev/shm/disk
cd /sys/kernel/config/nvmet
mkdir -p subsystems/lab/namespaces/1 ports/1
echo 1 >subsystems/lab/attr_allow_any_host
echo 1 >subsystems/lab/namespaces/1/buffered_io
echo /dev/shm/disk >subsystems/lab/namespaces/1/device_path
echo 1 >subsystems/lab/namespaces/1/enable
echo rdma >ports/1/addr_trtype
echo "ipv$2" >ports/1/addr_adrfam
echo "$1" >ports/1/addr_traddr
echo 4420 >ports/1/addr_trsvcid
ln -s "$PWD/subsystems/lab" ports/1/subsystems/lab'

target_end_script='
cd /sys/kernel/config/nvmet
rm ports/1/subsystems/lab
rmdir ports/1 subsystems/lab/namespaces/1 subsystems/lab
modprobe -r nvmet-rdma'

# Large and small blocks, written and read past the page cache, compared with what was sent.
# shellcheck disable=SC2016 # the guest's shell expands it
initiator_script='
modprobe nvme-rdma
nvme connect -t rdma -a "$1" -s 4420 -n lab -i 1
for _ in $(seq 100); do
	[ -b /dev/nvme0n1 ] && break
	sleep 0.1
done
head -c 8M /dev/urandom >/tmp/data
dd if=/tmp/data of=/dev/nvme0n1 bs=256k oflag=direct
dd if=/tmp/data of=/dev/nvme0n1 bs=4k seek=4096 count=256 oflag=direct
dd if=/dev/nvme0n1 of=/tmp/large bs=64k count=128 iflag=direct
dd if=/dev/nvme0n1 of=/tmp/small bs=4k skip=4096 count=256 iflag=direct
cmp /tmp/data /tmp/large
head -c 1M /tmp/data | cmp - /tmp/small
nvme disconnect -n lab
modprobe -r nvme-rdma'

target() { # GUEST FAMILY
	local address=${end_addr4[$1]}
	[ "$2" = 4 ] || address=${end_addr6[$1]}
	on "$1" sh -ec "$target_script" sh "$address" "$2"
}

target_end() { # GUEST
	on "$1" sh -ec "$target_end_script"
}

initiator() { # GUEST TARGET FAMILY
	local address=${end_addr4[$2]}
	[ "$3" = 4 ] || address=${end_addr6[$2]}
	on "$1" sh -ec "$initiator_script" sh "$address"
}

wire_has_it() {
	stats_read && "${0%/*}/capture.py" check "$LAB_RUN/all.pcapng" \
		--expect RC_SEND_ONLY_INVALIDATE,RC_WRITE_MIDDLE,RC_READ_RESPONSE_MIDDLE
}

ends_find
step "erdma offers a namespace" target a 4
step "erdma writes and reads it" initiator b a 4
step "rxe writes and reads it" initiator c a 4
step "it is taken away" target_end a
step "rxe offers a namespace, by IPv6" target c 6
step "erdma writes and reads it, by IPv6" initiator a c 6
step "it is taken away" target_end c
step "the wire has SEND with invalidate, and each ICRC is right" wire_has_it
