# What is on the wire: each opcode, decoded by tshark and with its ICRC recomputed, by an erdma NIC and by rxe.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-trio
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"
. "$(dirname "$0")/include/stats.sh"

check=${0%/*}/capture.py
file=$LAB_RUN/all.pcapng
requests_rc=RC_SEND_FIRST,RC_SEND_MIDDLE,RC_SEND_LAST,RC_SEND_LAST_IMM,RC_SEND_ONLY,RC_SEND_ONLY_IMM
requests_rc+=,RC_WRITE_FIRST,RC_WRITE_MIDDLE,RC_WRITE_LAST,RC_WRITE_LAST_IMM,RC_WRITE_ONLY
requests_rc+=,RC_WRITE_ONLY_IMM,RC_READ_REQUEST,RC_COMPARE_SWAP,RC_FETCH_ADD
responses=RC_READ_RESPONSE_FIRST,RC_READ_RESPONSE_MIDDLE,RC_READ_RESPONSE_LAST
responses+=,RC_READ_RESPONSE_ONLY,RC_ACKNOWLEDGE,RC_ATOMIC_ACKNOWLEDGE

decode() { # ARGUMENT...
	tshark -n -r "$file" "$@" 2>"$lab_work/tshark.err" ||
		{ cat "$lab_work/tshark.err"; return 1; }
}

sent_by() { # ADDRESS OPCODES
	"$check" check "$file" --from "$1" --expect "$2"
}

# A frame that goes on after "infiniband" is one whose payload tshark has taken for another
# protocol's: what tools put into messages is not for it to guess at.
no_malformed() {
	decode -Y _ws.malformed -T fields -e frame.number \
		-e frame.protocols >"$lab_work/malformed" || return
	! grep -v ':infiniband:[^_]' "$lab_work/malformed"
}

# Two decoders that share nothing count the same.
counts_agree() {
	decode -Y infiniband.bth.opcode -T fields -e infiniband.bth.opcode |
		sort -n | uniq -c | awk '{ print $2, $1 }' >"$lab_work/tshark"
	"$check" check "$file" --numbers | sort -n >"$lab_work/ours"
	[ -s "$lab_work/ours" ] && diff "$lab_work/tshark" "$lab_work/ours"
}

damage_is_seen() {
	local status
	"$check" damage "$file" "$lab_work/damaged.pcapng" || return
	"$check" check "$lab_work/damaged.pcapng"
	status=$?
	[ $status = 1 ] && rm "$lab_work/damaged.pcapng"
}

ends_find
use_provider stock
tool_step opcodes a b 4
tool_step opcodes b a 6
tool_step opcodes a c 6
tool_step opcodes c a 4
tool_step rping a b 4
tool_step rping b c 6
tool_step rping c a 4
step "the capture is written" stats_read
step "erdma's requests and responses, IPv4" sent_by "${end_addr4[a]}" "$responses,UD_SEND_ONLY"
step "erdma's requests and responses, IPv4" sent_by "${end_addr4[b]}" "$requests_rc,UD_SEND_ONLY"
step "erdma's requests and responses, IPv6" sent_by "${end_addr6[a]}" "$requests_rc"
step "erdma's requests and responses, IPv6" sent_by "${end_addr6[b]}" "$responses"
step "rxe's requests and responses are right by the same check" sent_by "${end_addr6[c]}" "$requests_rc"
step "rxe's requests and responses are right by the same check" sent_by "${end_addr4[c]}" "$responses"
step "tshark finds nothing malformed" no_malformed
step "tshark and the check count the same opcodes" counts_agree
step "a damaged packet is found" damage_is_seen
