/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The reference model of a reliable connection. Knows roce.h, and nothing of packets. */
#include "tests/unit/sim/engine/roce_model.h"

#include "tests/lib/t.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------- regions */

static void region_init(struct model_region *region, struct node *n, uint32_t key, uint32_t access)
{
	region->real = node_mr(n, key, access, MODEL_BYTES);
	region->want = malloc(MODEL_BYTES);
	memcpy(region->want, region->real->bytes, MODEL_BYTES);
	region->used = 0;
}

static void fill(struct model_flow *f, struct model_region *region)
{
	pair_random_bytes(f->pair, region->real->bytes, MODEL_BYTES);
	memcpy(region->want, region->real->bytes, MODEL_BYTES);
}

void model_flow_init(struct model_flow *f, struct pair *p, unsigned int from, uint32_t number)
{
	uint32_t key = (number + 1) << 12, i;
	struct node *mine = &p->node[from], *peers = &p->node[!from];

	memset(f, 0, sizeof(*f));
	f->pair = p;
	f->from = from;
	region_init(&f->source, mine, key | 0x101, 0);
	region_init(&f->sink, mine, key | 0x202, ROCE_ACCESS_LOCAL_WRITE);
	region_init(&f->receive, peers, key | 0x303, ROCE_ACCESS_LOCAL_WRITE);
	region_init(&f->target, peers, key | 0x404,
		    ROCE_ACCESS_LOCAL_WRITE | ROCE_ACCESS_REMOTE_WRITE | ROCE_ACCESS_REMOTE_READ |
			    ROCE_ACCESS_REMOTE_ATOMIC);
	fill(f, &f->source);
	fill(f, &f->target);
	f->target.used = MODEL_ONCE + 4096; /* some that READs find without any WRITE */
	f->read_end = f->target.used;
	for (i = 0; i < MODEL_FAST; i++)
		f->fast[i] = node_fast_mr(peers, key | (0x500 + (i << 8)) | 5, true, 64);
}

void model_flow_fini(struct model_flow *f)
{
	uint32_t i;

	free(f->source.want);
	free(f->sink.want);
	free(f->target.want);
	free(f->receive.want);
	for (i = 0; i < f->posted; i++)
		free(f->ops[i].result);
}

/* ------------------------------------------------------------------ SGEs */

/* Cuts [offset, offset + length) of a region into a random list, with empty elements in it. */
static uint32_t cut(struct model_flow *f, const struct model_region *region, uint32_t offset,
		    uint32_t length, struct roce_sge *sge)
{
	uint32_t count = 0, part, most = 1 + pair_random(f->pair, MODEL_SGES);

	if (!length && pair_random(f->pair, 2))
		return 0;
	do {
		part = count == most - 1 ? length : pair_random(f->pair, length + 1);
		sge[count++] =
			(struct roce_sge){region->real->iova + offset, part, region->real->key};
		offset += part;
		length -= part;
	} while (count < most && (length || !pair_random(f->pair, 4)));
	if (length)
		sge[count - 1].length += length;
	return count;
}

/* Compares what lies where a list says. */
static void check_list(const char *row, const struct model_region *region,
		       const struct roce_sge *sge, uint32_t count, const uint8_t *want,
		       uint32_t length)
{
	uint32_t i, part;

	for (i = 0; i < count && length; i++) {
		part = sge[i].length < length ? sge[i].length : length;
		T_BYTES_ROW(row, region->real->bytes + (sge[i].addr - region->real->iova), want,
			    part);
		want += part;
		length -= part;
	}
	T_EQ_ROW(row, length, 0);
}

/* Notes in the model what is put where a list says. */
static void put_list(struct model_region *region, const struct roce_sge *sge, uint32_t count,
		     const uint8_t *bytes, uint32_t length)
{
	uint32_t i, part;

	for (i = 0; i < count && length; i++) {
		part = sge[i].length < length ? sge[i].length : length;
		memcpy(region->want + (sge[i].addr - region->real->iova), bytes, part);
		bytes += part;
		length -= part;
	}
}

/* -------------------------------------------------------------- posting work */

/* Lengths around those where something changes. */
static uint32_t random_length(struct model_flow *f)
{
	uint32_t packets = pair_random(f->pair, 5), length = packets * f->mtu;

	switch (pair_random(f->pair, 6)) {
	case 0:
		return length;
	case 1:
		return length + 1;
	case 2:
		return length ? length - 1 : 0;
	case 3:
		return pair_random(f->pair, 64);
	default:
		return length + pair_random(f->pair, f->mtu);
	}
}

static uint8_t *copy_of(const uint8_t *bytes, uint32_t length)
{
	uint8_t *copy = malloc(length + !length);

	memcpy(copy, bytes, length);
	return copy;
}

/* Is there a place left for the receive that this one will need? */
static bool can_receive(const struct model_flow *f)
{
	return (f->recvs_needed + 1) * 5 * f->mtu <= MODEL_BYTES;
}

static bool prepare_send(struct model_flow *f, struct model_op *op)
{
	if (!can_receive(f))
		return false;
	op->receives = true;
	op->source = pair_random(f->pair, MODEL_BYTES - op->length);
	op->num_sge = cut(f, &f->source, op->source, op->length, op->sge);
	if (op->opcode != ROCE_WR_SEND_INV)
		return true;
	if (f->fast_used == MODEL_FAST)
		return false;
	op->imm = f->fast[f->fast_used++]->key;
	return true;
}

/* Half of them to a place of their own, which may be read; half over others. */
static bool prepare_write(struct model_flow *f, struct model_op *op)
{
	bool over = pair_random(f->pair, 2);

	if (over && op->length > MODEL_OVER)
		op->length = MODEL_OVER;
	op->receives = op->opcode == ROCE_WR_WRITE_IMM;
	if (op->receives && !can_receive(f))
		return false;
	op->source = pair_random(f->pair, MODEL_BYTES - op->length);
	op->num_sge = cut(f, &f->source, op->source, op->length, op->sge);
	if (over) {
		op->target = MODEL_BYTES - MODEL_OVER +
			     pair_random(f->pair, MODEL_OVER - op->length + 1);
	} else {
		if (op->length > MODEL_BYTES - MODEL_OVER - f->target.used)
			return false;
		op->target = f->target.used;
		f->target.used += op->length;
		f->read_end = f->target.used;
	}
	memcpy(f->target.want + op->target, f->source.want + op->source, op->length);
	return true;
}

static bool take_sink(struct model_flow *f, struct model_op *op)
{
	if (op->length > MODEL_BYTES - f->sink.used)
		return false;
	op->num_sge = cut(f, &f->sink, f->sink.used, op->length, op->sge);
	f->sink.used += op->length + pair_random(f->pair, 3);
	return true;
}

static bool prepare_read(struct model_flow *f, struct model_op *op)
{
	uint32_t room = f->read_end - MODEL_ONCE;

	if (op->length > room)
		op->length = room;
	if (!take_sink(f, op))
		return false;
	op->target = MODEL_ONCE + pair_random(f->pair, room - op->length + 1);
	op->result = copy_of(f->target.want + op->target, op->length);
	return true;
}

/* Operands are chosen such that a comparison is right as often as wrong. */
static bool prepare_atomic(struct model_flow *f, struct model_op *op, struct roce_send_wr *wr)
{
	uint64_t word, after;

	op->length = 8;
	if (MODEL_BYTES - f->sink.used < 8)
		return false;
	op->sge[0] = (struct roce_sge){f->sink.real->iova + f->sink.used, 8, f->sink.real->key};
	op->num_sge = 1;
	f->sink.used += 8;
	op->target = 8 * pair_random(f->pair, MODEL_WORDS);
	memcpy(&word, f->target.want + op->target, 8);
	op->result = copy_of(f->target.want + op->target, 8);
	wr->compare_add = op->opcode == ROCE_WR_FETCH_ADD || pair_random(f->pair, 2)
				  ? word + (op->opcode == ROCE_WR_FETCH_ADD)
				  : word + 1;
	wr->swap = word * 3 + 1;
	after = op->opcode == ROCE_WR_FETCH_ADD ? word + wr->compare_add
		: wr->compare_add == word	? wr->swap
						: word;
	memcpy(f->target.want + op->target, &after, 8);
	return true;
}

static bool prepare(struct model_flow *f, struct model_op *op, struct roce_send_wr *wr)
{
	switch (op->opcode) {
	case ROCE_WR_SEND:
	case ROCE_WR_SEND_IMM:
	case ROCE_WR_SEND_INV:
		return prepare_send(f, op);
	case ROCE_WR_WRITE:
	case ROCE_WR_WRITE_IMM:
		return prepare_write(f, op);
	case ROCE_WR_READ:
		return prepare_read(f, op);
	case ROCE_WR_CMP_SWAP:
	case ROCE_WR_FETCH_ADD:
		return prepare_atomic(f, op, wr);
	default:
		op->length = 0;
		return true;
	}
}

void model_post(struct model_flow *f)
{
	static const enum roce_wr_opcode kinds[] = {
		ROCE_WR_SEND,	   ROCE_WR_SEND_IMM, ROCE_WR_SEND_INV, ROCE_WR_WRITE,
		ROCE_WR_WRITE_IMM, ROCE_WR_READ,     ROCE_WR_READ,     ROCE_WR_CMP_SWAP,
		ROCE_WR_FETCH_ADD, ROCE_WR_NOP,
	};
	struct model_op *op = &f->ops[f->posted];
	struct roce_send_wr wr = {0};
	struct node *n = &f->pair->node[f->from];
	bool inlined;

	if (f->posted == MODEL_OPS)
		return;
	memset(op, 0, sizeof(*op));
	op->opcode = kinds[pair_random(f->pair, sizeof(kinds) / sizeof(kinds[0]))];
	op->imm = pair_random(f->pair, UINT32_MAX);
	op->length = random_length(f);
	if (!prepare(f, op, &wr))
		return;
	op->wr_id = 1000 + f->posted;
	op->signaled = pair_random(f->pair, 3);
	op->solicited = op->receives && pair_random(f->pair, 2);
	inlined = f->source.want && !op->result && op->length && op->length <= ROCE_MAX_INLINE &&
		  !pair_random(f->pair, 3);
	wr.wr_id = op->wr_id;
	wr.opcode = op->opcode;
	wr.flags = (op->signaled ? ROCE_WR_SIGNALED : 0) | (op->solicited ? ROCE_WR_SOLICITED : 0) |
		   (inlined ? ROCE_WR_INLINE : 0) | (pair_random(f->pair, 8) ? 0 : ROCE_WR_FENCE);
	wr.imm = op->imm;
	wr.remote_addr = f->target.real->iova + op->target;
	wr.rkey = f->target.real->key;
	wr.sge = op->sge;
	wr.num_sge = op->num_sge;
	wr.inline_data = f->source.want + op->source;
	wr.inline_length = op->length;
	T_EQ(roce_post_send(f->qp, n->now, &wr), 0);
	f->recvs_needed += op->receives;
	f->posted++;
}

/* Large enough for whatever comes: nobody knows yet which message it will be. */
void model_post_recv(struct model_flow *f)
{
	struct model_recv *recv = &f->recvs[f->recvs_posted];
	struct node *n = &f->pair->node[!f->from];
	struct roce_recv_wr wr;
	uint32_t room = 5 * f->mtu;

	if (f->recvs_posted == MODEL_OPS || room > MODEL_BYTES - f->receive.used)
		return;
	recv->wr_id = 5000 + f->recvs_posted;
	recv->room = room;
	recv->num_sge = cut(f, &f->receive, f->receive.used, room, recv->sge);
	f->receive.used += room;
	wr = (struct roce_recv_wr){recv->wr_id, recv->sge, recv->num_sge};
	T_EQ(roce_post_recv(f->peer_qp, n->now, &wr), 0);
	f->recvs_posted++;
}

/* ------------------------------------------------------- checking completions */

/* Success, or, of a broken connection, one failure and then nothing but flushed work. */
static bool check_status(const struct model_flow *f, enum roce_wc_status status, bool *failed)
{
	if (!f->broken || *failed)
		T_EQ(status, *failed ? ROCE_WC_WR_FLUSH_ERR : ROCE_WC_SUCCESS);
	*failed |= status != ROCE_WC_SUCCESS;
	return !*failed;
}

/* Work that asked for no completion may be passed over, unless it cannot have been done. */
static void pass_over(struct model_flow *f, uint64_t wr_id)
{
	while (!f->send_failed && f->completed < f->posted && !f->ops[f->completed].signaled &&
	       f->ops[f->completed].wr_id != wr_id)
		f->completed++;
}

static void check_send(struct model_flow *f, const struct roce_wc *wc)
{
	const struct model_op *op;

	pass_over(f, wc->wr_id);
	if (!T_TRUE(f->completed < f->posted))
		return;
	op = &f->ops[f->completed++];
	T_EQ(wc->wr_id, op->wr_id);
	T_EQ(wc->wr_opcode, op->opcode);
	if (!check_status(f, wc->status, &f->send_failed))
		return;
	T_EQ(wc->signaled, op->signaled);
	if (!op->result)
		return;
	T_EQ(wc->byte_len, op->length);
	check_list("READ or atomic", &f->sink, op->sge, op->num_sge, op->result, op->length);
}

static enum roce_wc_opcode received_as(enum roce_wr_opcode opcode)
{
	switch (opcode) {
	case ROCE_WR_SEND_IMM:
		return ROCE_WC_RECV_IMM;
	case ROCE_WR_SEND_INV:
		return ROCE_WC_RECV_INV;
	case ROCE_WR_WRITE_IMM:
		return ROCE_WC_RECV_WRITE_IMM;
	default:
		return ROCE_WC_RECV;
	}
}

static void check_received(struct model_flow *f, const struct model_op *op,
			   const struct model_recv *recv)
{
	const uint8_t *bytes = f->source.want + op->source;

	if (op->opcode == ROCE_WR_WRITE_IMM) {
		/* What is written over may be by now; the end will tell. */
		if (op->target < MODEL_BYTES - MODEL_OVER)
			T_BYTES(f->target.real->bytes + op->target, bytes, op->length);
		return;
	}
	check_list("receive", &f->receive, recv->sge, recv->num_sge, bytes, op->length);
	put_list(&f->receive, recv->sge, recv->num_sge, bytes, op->length);
}

static bool fast_is_valid(const struct model_flow *f, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < MODEL_FAST; i++)
		if (f->fast[i]->key == key)
			return roce_mr_attr(f->fast[i]->mr)->valid;
	return true;
}

/* A flushed receive does not say what it would have been. */
static void check_recv(struct model_flow *f, const struct roce_wc *wc)
{
	const struct model_recv *recv = &f->recvs[f->recvs_done];
	const struct model_op *op;

	if (!T_TRUE(f->recvs_done < f->recvs_posted))
		return;
	f->recvs_done++;
	T_EQ(wc->wr_id, recv->wr_id);
	if (!check_status(f, wc->status, &f->recv_failed))
		return;
	while (f->next_receiver < f->posted && !f->ops[f->next_receiver].receives)
		f->next_receiver++;
	if (!T_TRUE(f->next_receiver < f->posted))
		return;
	op = &f->ops[f->next_receiver++];
	T_EQ(wc->opcode, received_as(op->opcode));
	T_EQ(wc->byte_len, op->length);
	T_EQ(wc->solicited, op->solicited);
	if (wc->opcode == ROCE_WC_RECV_IMM || wc->opcode == ROCE_WC_RECV_WRITE_IMM)
		T_EQ(wc->imm, op->imm);
	if (wc->opcode == ROCE_WC_RECV_INV) {
		T_EQ(wc->inv_key, op->imm);
		T_TRUE(!fast_is_valid(f, op->imm));
	}
	check_received(f, op, recv);
}

static struct model_flow *flow_of(struct model_flow *flows, uint32_t count,
				  const struct roce_wc *wc)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (wc->qp == (wc->opcode == ROCE_WC_SEND ? flows[i].qp : flows[i].peer_qp))
			return &flows[i];
	return NULL;
}

void model_check_completions(struct model_flow *flows, uint32_t count)
{
	const struct node_wc *wc;
	struct model_flow *f;
	unsigned int i;

	for (i = 0; i < 2; i++)
		while ((wc = node_take_wc(&flows->pair->node[i]))) {
			f = flow_of(flows, count, &wc->wc);
			if (!T_TRUE(f != NULL))
				continue;
			if (wc->wc.opcode == ROCE_WC_SEND)
				check_send(f, &wc->wc);
			else
				check_recv(f, &wc->wc);
		}
}

void model_check_end(struct model_flow *f)
{
	uint32_t i;

	pass_over(f, 0);
	T_EQ(f->completed, f->posted);
	T_EQ(f->recvs_done, f->recvs_needed);
	T_EQ(roce_qp_send_outstanding(f->qp), 0);
	T_EQ(roce_qp_state(f->qp), ROCE_QPS_RTS);
	for (i = 0; i < f->posted; i++)
		if (f->ops[i].result)
			put_list(&f->sink, f->ops[i].sge, f->ops[i].num_sge, f->ops[i].result,
				 f->ops[i].length);
	T_BYTES_ROW("source", f->source.real->bytes, f->source.want, MODEL_BYTES);
	T_BYTES_ROW("sink", f->sink.real->bytes, f->sink.want, MODEL_BYTES);
	T_BYTES_ROW("target", f->target.real->bytes, f->target.want, MODEL_BYTES);
	T_BYTES_ROW("receive", f->receive.real->bytes, f->receive.want, MODEL_BYTES);
}

void model_check_broken_end(struct model_flow *f)
{
	pass_over(f, 0);
	T_EQ(f->completed, f->posted);
	T_EQ(f->recvs_done, f->recvs_posted);
	T_EQ(roce_qp_send_outstanding(f->qp), 0);
	T_EQ(roce_qp_recv_outstanding(f->peer_qp), 0);
	T_BYTES_ROW("source", f->source.real->bytes, f->source.want, MODEL_BYTES);
}
