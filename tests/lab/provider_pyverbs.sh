# rdma-core's own Python tests: what passes with the stock provider passes with ours, and more.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-pair
# timeout: 600
. "$(dirname "$0")/lib.sh"

# Guest a runs a module with the stock provider while guest b runs it with ours.
# MODULE | least count of tests that pass with the stock provider | with ours
# Not in the list: modules of one vendor (mlx5, efa, irdma, cuda), and those of hardware that
# erdma has not (flow, rss, tag matching): every test of theirs skips or errors on a real card.
modules='
test_addr             0  1
test_atomic           6  6
test_cq               2  3
test_cq_events        1  1
test_cqex             1  3
test_device          14 14
test_fork             1  1
test_mr               1  1
test_odp              0  0
test_parent_domain    0  1
test_pd               4  4
test_qpex             0 10
test_rdmacm           5  5
test_relaxed_ordering 1  1
test_shared_pd        0  0
test_srq              0  0
'

run_module() { # GUEST MODULE [ENVIRONMENT]
	on "$1" sh -c '
		cd /usr/share/anynic-lab
		env $2 python3 tests/run_tests.py --dev erdma_0 -v "tests.$1" 2>&1' sh "$2" "${3:--u IBV_DRIVERS}"
}

# A test's description, if it has one, and the verdict stand on the line after its name.
passed() { # FILE -> names of tests that passed
	awk '/^test_/ { name = $1 } /\.\.\. ok$/ { print name }' "$1" | sort
}

compare() { # MODULE STOCK OURS
	local stock=$LAB_RUN/stock.$1 ours=$LAB_RUN/ours.$1 lost
	run_module a "$1" >"$stock" &
	run_module b "$1" IBV_DRIVERS=/anynic/lib/libanynic >"$ours"
	wait
	passed "$stock" >"$stock.ok"
	passed "$ours" >"$ours.ok"
	wc -l "$stock.ok" "$ours.ok"
	lost=$(comm -23 "$stock.ok" "$ours.ok")
	[ -z "$lost" ] || { echo "pass with the stock provider only: $lost"; cat "$ours"; return 1; }
	if [ "$(wc -l <"$stock.ok")" -lt "$2" ] || [ "$(wc -l <"$ours.ok")" -lt "$3" ]; then
		tail -n 30 "$ours"
		return 1
	fi
}

while read -r module stock ours; do
	[ -z "$module" ] || step "$module: at least $stock with stock, $ours with ours" compare "$module" "$stock" "$ours"
done <<<"$modules"
