# rdma_cm over the GSI of erdma's stock driver: rping, ucmatose, rsockets, both peers, both providers.
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# topology: erdma-pair
# variant: pair
# variant: rxe topology=erdma-rxe
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/include/tools.sh"

ends_find
for provider in stock anynic; do
	use_provider $provider
	tool_steps cm a b 4
	tool_steps cm b a 6
done
