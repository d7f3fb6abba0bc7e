/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Acknowledgements of a QP that ends. A program that saw its last message arrive may end the QP
 * before the engine's next turn; the peer must still get the ACK, or it takes the message for
 * lost. Seen as a pingpong whose last SEND failed with "transport retry exceeded".
 */
#include "tests/unit/sim/engine/roce_raw.h"

#include "tests/lib/t.h"

#include <stdlib.h>

enum end { TO_ERR, TO_RESET, DESTROY };

static const struct {
	const char *name;
	enum end end;
	bool blocked; /* the port has no room until later */
} rows[] = {
	{"modify to ERR", TO_ERR, false},
	{"modify to RESET", TO_RESET, false},
	{"destroy", DESTROY, false},
	{"modify to ERR, blocked", TO_ERR, true},
	{"modify to RESET, blocked", TO_RESET, true},
	{"destroy, blocked", DESTROY, true},
};

static void end_qp(struct raw *r, enum end end)
{
	struct roce_qp_attr attr = {.state = end == TO_ERR ? ROCE_QPS_ERR : ROCE_QPS_RESET};

	if (end == DESTROY)
		roce_qp_destroy(r->qp);
	else
		T_EQ(roce_qp_modify(r->qp, r->dut.now, &attr, ROCE_QP_STATE), 0);
}

/* Makes the NIC take a message in without giving it a turn to send. */
static void receive_only(struct raw *r)
{
	struct node_frame *frame;
	struct roce_template template;
	struct roce_pkt pkt;
	uint8_t *payload;

	raw_pkt(r, &pkt, ROCE_OP_RC_SEND_ONLY, RAW_RQ_PSN);
	pkt.ack_req = true;
	pkt.payload_length = 4;
	roce_template_init(&template, &r->path);
	frame = malloc(sizeof(*frame) + ROCE_MAX_HEAD_BYTES + 4 + ROCE_MAX_TAIL_BYTES);
	payload = roce_frame_build(&template, &pkt, frame->bytes);
	payload[0] = payload[1] = payload[2] = payload[3] = 7;
	roce_frame_finish(&template, &pkt, frame->bytes);
	roce_nic_input(r->dut.nic, r->dut.now, frame->bytes, roce_frame_size(&template, pkt.op, 4));
	free(frame);
}

static void ack_outlives_the_qp(void)
{
	struct raw r;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		raw_defaults(&r, ROCE_QPT_RC);
		raw_start(&r);
		raw_post_recv(&r, 1, 0, 100);
		if (rows[i].blocked)
			r.dut.room = 0;
		receive_only(&r);
		raw_expect_wc(&r, rows[i].name, 1, ROCE_WC_SUCCESS);
		raw_expect_silence(&r, rows[i].name);
		end_qp(&r, rows[i].end);
		if (rows[i].blocked) {
			raw_expect_silence(&r, rows[i].name);
			node_make_room(&r.dut, 100);
		}
		raw_expect_ack(&r, rows[i].name, RAW_RQ_PSN, RAW_ACK);
		node_run(&r.dut);
		raw_expect_silence(&r, rows[i].name);
		raw_stop(&r);
	}
}

/* A reset of the NIC is not the end of a QP: from then on it is silent. */
static void reset_is_silent(void)
{
	struct raw r;

	raw_defaults(&r, ROCE_QPT_RC);
	raw_start(&r);
	raw_post_recv(&r, 1, 0, 100);
	receive_only(&r);
	roce_nic_reset(r.dut.nic);
	node_run(&r.dut);
	raw_expect_silence(&r, "reset");
	raw_stop(&r);
}

T_MAIN("roce_reply_end", T_CASE(ack_outlives_the_qp), T_CASE(reset_is_silent))
