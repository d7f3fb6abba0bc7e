# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
#
# Public RDMA tools, each named once, and how two guests run one of them. Sourced by
# scenarios after lib.sh. Knows no brand: devices and GIDs are looked up in the guests.
#
#     ends_find                         look up device, GIDs and addresses of each guest
#     use_provider stock|anynic         who serves the devices in all that follows
#     tool ROW SERVER CLIENT [4|6]      run a row of the table; 4 or 6: the GID's family
#     alone_step CASE GUEST             a case of lab-verbs that needs no other end, as a step
#     tool_step ROW SERVER CLIENT [4|6] the same, as a step
#     tool_steps GROUPS SERVER CLIENT [4|6]  all rows of some groups, as steps

# GROUP NAME | command of both sides | what the server adds | what the client adds
# @dev, @gid: device and GID index of the guest; @ip: the server's IPv4 address, for what a
# tool exchanges by TCP; @addr: its address in the family asked for, for rdma_cm.
# ibv_rc_pingpong -c checks the data; rping -V, rstream -T v and lab-verbs (of ours) do too. perftest's newer way to post
# works with RC on one vendor's devices only, hence --use_old_post_send (@perf).
tool_table='
rc     rc_pingpong       | ibv_rc_pingpong -d @dev -g @gid -n 200                   | | @ip
rc     rc_pingpong_1     | ibv_rc_pingpong -d @dev -g @gid -n 100 -c -s 1           | | @ip
rc     rc_pingpong_1023  | ibv_rc_pingpong -d @dev -g @gid -n 100 -c -s 1023        | | @ip
rc     rc_pingpong_4097  | ibv_rc_pingpong -d @dev -g @gid -n 100 -c -s 4097        | | @ip
rc     rc_pingpong_64k   | ibv_rc_pingpong -d @dev -g @gid -n 50 -c -s 65536 -r 20  | | @ip
rc     rc_pingpong_1m    | ibv_rc_pingpong -d @dev -g @gid -n 10 -c -s 1048576 -r 5 | | @ip
mtu    rc_pingpong_mtu   | ibv_rc_pingpong -d @dev -g @gid -n 100 -c -m 256         | | @ip
rc     rc_pingpong_event | ibv_rc_pingpong -d @dev -g @gid -n 100 -c -e             | | @ip
perf   write_bw          | ib_write_bw @perf -n 100                                 | | @ip
perf   read_bw           | ib_read_bw @perf -n 100                                  | | @ip
perf   send_bw           | ib_send_bw @perf -n 100                                  | | @ip
perf   write_lat         | ib_write_lat @perf -n 100                                | | @ip
perf   read_lat          | ib_read_lat @perf -n 100                                 | | @ip
perf   send_lat          | ib_send_lat @perf -n 100                                 | | @ip
atomic atomic_bw_cas     | ib_atomic_bw @perf -n 100 -A CMP_AND_SWAP                | | @ip
atomic atomic_bw_faa     | ib_atomic_bw @perf -n 100 -A FETCH_AND_ADD               | | @ip
atomic atomic_lat        | ib_atomic_lat @perf -n 100                               | | @ip
more   write_bw_imm      | ib_write_bw @perf -n 100 --write_with_imm                | | @ip
more   write_bw_qps_bidi | ib_write_bw @perf -n 20 -q 8 -b -s 8192                  | | @ip
more   read_bw_qps_bidi  | ib_read_bw @perf -n 20 -q 8 -b -s 8192                   | | @ip
more   send_bw_qps_bidi  | ib_send_bw @perf -n 20 -q 8 -b -s 8192                   | | @ip
more   send_bw_1m        | ib_send_bw @perf -n 10 -s 1048576 -r 20                  | | @ip
more   send_bw_event     | ib_send_bw @perf -n 50 -e                                | | @ip
more   read_lat_event    | ib_read_lat @perf -n 50 -e                               | | @ip
more   send_lat_inline   | ib_send_lat @perf -n 50 -I 64 -s 64                      | | @ip
cm     write_bw_cm       | ib_write_bw @perf -n 50 -R @v6                           | | @addr
cm     send_lat_cm       | ib_send_lat @perf -n 50 -R @v6                           | | @addr
cm     rping             | rping -v -V -C 20 -S 4096 -a @addr                       | -s | -c
cm     rping_64k         | rping -V -C 5 -S 65536 -a @addr                          | -s | -c
cm     ucmatose          | ucmatose -C 10 -S 1000 -c 3                              | -b @addr | -s @addr
cm     rstream           | rstream -T v -S 65536 -C 50                              | -b @addr | -s @addr
verbs  opcodes           | lab-verbs -d @dev -g @gid opcodes                        | | @ip
verbs  bulk              | lab-verbs -d @dev -g @gid bulk                           | | @ip
verbs  solicited         | lab-verbs -d @dev -g @gid solicited                      | | @ip
verbs  rnr               | lab-verbs -d @dev -g @gid rnr                            | | @ip
verbs  errors            | lab-verbs -d @dev -g @gid errors                         | | @ip
-      errors_local      | lab-verbs -d @dev -g @gid errors-local                   | | @ip
-      rnr_limit         | lab-verbs -d @dev -g @gid rnr-limit                      | | @ip
jumbo  rc_pingpong_m4096 | ibv_rc_pingpong -d @dev -g @gid -n 50 -c -s 65535 -m 4096 -r 20 | | @ip
jumbo  write_bw_m4096    | ib_write_bw @perf -n 100 -m 4096                         | | @ip
ud     ud_pingpong       | ibv_ud_pingpong -d @dev -g @gid -n 100 -s 1000           | | @ip
ud     ud_pingpong_event | ibv_ud_pingpong -d @dev -g @gid -n 100 -s 1000 -e        | | @ip
ud     send_bw_ud        | ib_send_bw @perf -n 100 -c UD -s 1024                    | | @ip
ud     send_lat_ud       | ib_send_lat @perf -n 100 -c UD                           | | @ip
ud     udaddy            | udaddy -C 10 -S 1000 -c 3                                | -b @addr | -s @addr
'
tool_perf='-d @dev -x @gid -F --use_old_post_send'

declare -A end_device end_gid4 end_gid6 end_addr4 end_addr6

# In the guest: "device gid4 gid6 addr4 addr6" of its first RDMA device. Indexes of GIDs
# are looked up, never guessed: empty entries stand between valid ones.
# shellcheck disable=SC2016 # the guest's shell expands it
ends_script='
device=$(ls /sys/class/infiniband | head -n 1)
[ -n "$device" ] || { echo "no RDMA device" >&2; exit 1; }
cd "/sys/class/infiniband/$device/ports/1" || exit
gid4= gid6= netdev=
for path in gids/*; do
	i=${path#gids/}
	read -r type 2>/dev/null <"gid_attrs/types/$i" || continue
	read -r gid <"$path"
	case "$type $gid" in
	"RoCE v2 0000:0000:0000:0000:0000:ffff:"*) gid4=${gid4:-$i} ;;
	"RoCE v2 fd09:"*) gid6=${gid6:-$i} ;;
	esac
	read -r netdev <"gid_attrs/ndevs/$i"
done 2>/dev/null
address() { ip -o "-$1" addr show dev "$netdev" scope global | sed -n "1s|.* inet6* \([^/]*\).*|\1|p"; }
echo "$device ${gid4:--} ${gid6:--} $(address 4) $(address 6)"'

ends_find() {
	local guest found
	for guest in $LAB_GUESTS; do
		found=$(on "$guest" sh -c "$ends_script") || return
		read -r "end_device[$guest]" "end_gid4[$guest]" "end_gid6[$guest]" \
			"end_addr4[$guest]" "end_addr6[$guest]" <<<"$found"
		say "$guest: $found"
	done
}

# The one place that chooses. The stock provider is what libibverbs finds by itself.
use_provider() { # stock|anynic
	case $1 in
	stock) unset ANYNIC_LAB_ENV ;;
	anynic) export ANYNIC_LAB_ENV="IBV_DRIVERS=/anynic/lib/libanynic" ;;
	*) echo "use_provider: $1?" >&2; return 1 ;;
	esac
	provider=$1
}

tools_of() { # GROUP... -> names of rows
	local wanted=" $* " group name
	while read -r group name _; do
		[[ -n $group && $wanted == *" $group "* ]] && echo "$name"
	done <<<"$tool_table"
	return 0
}

# WORDS of the table for a guest, tokens replaced.
tool_words() { # GUEST SERVER FAMILY WORDS
	local guest=$1 server=$2 words=$4 gid=${end_gid4[$1]} address=${end_addr4[$2]} v6=
	if [ "$3" = 6 ]; then
		gid=${end_gid6[$guest]} address=${end_addr6[$server]} v6=--ipv6-addr
	fi
	words=${words//@perf/$tool_perf}
	words=${words//@dev/${end_device[$guest]}}
	words=${words//@gid/$gid}
	words=${words//@v6/$v6}
	words=${words//@ip/${end_addr4[$server]}}
	echo "${words//@addr/$address}"
}

tool() { # ROW SERVER CLIENT [4|6]
	local row=$1 server=$2 client=$3 family=${4:-4} name both listen connect
	while IFS='|' read -r name both listen connect; do
		read -r _ name <<<"$name"
		[ "$name" != "$row" ] || break
	done <<<"$tool_table"
	[ "$name" = "$row" ] || { echo "no tool $row"; return 1; }
	pair "$server" "$(tool_words "$server" "$server" "$family" "$both $listen")" \
		"$client" "$(tool_words "$client" "$server" "$family" "$both $connect")"
}

tool_step() { # ROW SERVER CLIENT [4|6]
	step "$1, $provider provider, IPv${4:-4}, ${end_device[$3]} of $3 to ${end_device[$2]} of $2" \
		tool "$@"
}

# A case of lab-verbs that needs no other end.
alone_step() { # CASE GUEST
	step "$1, $provider provider, ${end_device[$2]} of $2 to itself" \
		on "$2" lab-verbs -d "${end_device[$2]}" -g "${end_gid4[$2]}" "$1"
}

tool_steps() { # GROUPS SERVER CLIENT [4|6]
	local groups row
	read -ra groups <<<"$1"
	shift
	for row in $(tools_of "${groups[@]}"); do
		tool_step "$row" "$@"
	done
}
