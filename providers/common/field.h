/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The field kit: named bit fields of the structures that a NIC reads and
 * writes. Owns bit positions and byte order. Knows no NIC, and needs nothing
 * but <linux/types.h>, so that one description of a format serves a kernel
 * half, a user half, a simulator and their tests.
 *
 * A field is one macro. It names the structure, the member (the word), the
 * highest and lowest bit, and by its own name the byte order of the word:
 *
 *	struct demo_cqe { __be32 hdr; ... };
 *	#define DEMO_CQE_OWNER  NIC_FBE32(struct demo_cqe, hdr, 31, 31)
 *	#define DEMO_CQE_OPCODE NIC_FBE32(struct demo_cqe, hdr, 23, 16)
 *
 * Checked access, for the cold path:
 *
 *	owner = nic_get(cqe, DEMO_CQE_OWNER);
 *	nic_set(cqe, DEMO_CQE_OPCODE, 4);
 *
 * Hot path, and memory that the other side may change meanwhile: load or store
 * the word once, work on the value in a register.
 *
 *	hdr = nic_from_be32(cqe->hdr);
 *	opcode = nic_pick(hdr, DEMO_CQE_OPCODE);
 *	cqe->hdr = nic_to_be32(nic_prep(DEMO_CQE_OWNER, 1) | nic_prep(DEMO_CQE_OPCODE, 4));
 *
 * Compile errors, not surprises: a pointer to another structure, a word whose
 * size is not the one that the macro says, bits outside the word or in the
 * wrong order, and a constant that does not fit into the field. A value that is
 * known only at run time is cut to the width of the field, so that it can never
 * reach a neighbour; whoever takes it from outside has to check it before.
 */
#ifndef ANYNIC_PROVIDERS_COMMON_FIELD_H
#define ANYNIC_PROVIDERS_COMMON_FIELD_H

#include <linux/types.h>

/* sparse tells byte orders apart; a compiler does not see this. */
#ifdef __CHECKER__
#define NIC_FORCE __attribute__((force))
#else
#define NIC_FORCE
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NIC_SWAP_LE(bits, value) (value)
#define NIC_SWAP_BE(bits, value) __builtin_bswap##bits(value)
#else
#define NIC_SWAP_LE(bits, value) __builtin_bswap##bits(value)
#define NIC_SWAP_BE(bits, value) (value)
#endif

/* nic_to_le32(cpu value) is a __le32, nic_from_le32(__le32) a cpu value; likewise the others. */
#define NIC_DEFINE_ORDER(order, ORDER, bits)                                     \
	static inline __##order##bits nic_to_##order##bits(__u##bits value)      \
	{                                                                        \
		return (NIC_FORCE __##order##bits)NIC_SWAP_##ORDER(bits, value); \
	}                                                                        \
	static inline __u##bits nic_from_##order##bits(__##order##bits word)     \
	{                                                                        \
		return NIC_SWAP_##ORDER(bits, (NIC_FORCE __u##bits)word);        \
	}
NIC_DEFINE_ORDER(le, LE, 16)
NIC_DEFINE_ORDER(le, LE, 32)
NIC_DEFINE_ORDER(le, LE, 64)
NIC_DEFINE_ORDER(be, BE, 16)
NIC_DEFINE_ORDER(be, BE, 32)
NIC_DEFINE_ORDER(be, BE, 64)

static inline __u8 nic_to_u8(__u8 value)
{
	return value;
}

static inline __u8 nic_from_u8(__u8 word)
{
	return word;
}

/*
 * Descriptors. Last come the word's kind, which is the suffix of nic_to_ and
 * nic_from_, and its width. The parentheses keep a field one argument however
 * many macros hand it on; NIC_CALL_ takes them off.
 */
#define NIC_FU8(type, word, high, low)	 (type, word, high, low, u8, 8)
#define NIC_FLE16(type, word, high, low) (type, word, high, low, le16, 16)
#define NIC_FLE32(type, word, high, low) (type, word, high, low, le32, 32)
#define NIC_FLE64(type, word, high, low) (type, word, high, low, le64, 64)
#define NIC_FBE16(type, word, high, low) (type, word, high, low, be16, 16)
#define NIC_FBE32(type, word, high, low) (type, word, high, low, be32, 32)
#define NIC_FBE64(type, word, high, low) (type, word, high, low, be64, 64)

/* The field's value, from a pointer to its structure. 32 bits or fewer give a __u32. */
#define nic_get(pointer, field) NIC_CALL_(NIC_GET_, pointer, NIC_ITEMS_ field)

/* The field's value, from a word that was loaded and turned to cpu order before. */
#define nic_pick(value, field) NIC_CALL_(NIC_PICK_, value, NIC_ITEMS_ field)

/* The field set to value within an otherwise zero word, in cpu order. */
#define nic_prep(field, value) NIC_CALL_(NIC_PREP_, value, NIC_ITEMS_ field)

/* Changes the field in memory and leaves the rest of its word. Not for the hot path. */
#define nic_set(pointer, field, value) NIC_CALL_(NIC_SET_, value, pointer, NIC_ITEMS_ field)

/* The field's bits within its word, and the largest value that it holds. */
#define nic_mask(field) NIC_CALL_(NIC_MASK_, NIC_ITEMS_ field)
#define nic_max(field)	NIC_CALL_(NIC_MAX_, NIC_ITEMS_ field)

#define NIC_ITEMS_(...)	      __VA_ARGS__
#define NIC_CALL_(macro, ...) macro(__VA_ARGS__)

/* 0, or an error when the condition does not hold. Allowed in constant expressions. */
#define NIC_REQUIRE(condition, message)              \
	(0 * (int)sizeof(struct {                    \
		 _Static_assert(condition, message); \
		 char nic_require;                   \
	 }))

#define NIC_ONES(high, low) (~0ULL >> (63 - ((high) - (low))))

#define NIC_CHECK_(type, word, high, low, bits)                                                \
	(NIC_REQUIRE(sizeof(((type *)0)->word) * 8 == (bits), "field: word of another size") + \
	 NIC_REQUIRE((high) >= (low) && (low) >= 0 && (high) < (bits),                         \
		     "field: bits outside word"))

#define NIC_FITS_(value, high, low)                                                         \
	NIC_REQUIRE(__builtin_choose_expr(__builtin_constant_p(value),                      \
					  ((__u64)(value) & ~NIC_ONES(high, low)) == 0, 1), \
		    "field: constant too wide")

/* Selected by type: a pointer to any other structure matches nothing. */
#define NIC_SAME_(pointer, type) _Generic((pointer), type * : 0, const type * : 0)

#define NIC_UNSIGNED_8	__u8
#define NIC_UNSIGNED_16 __u16
#define NIC_UNSIGNED_32 __u32
#define NIC_UNSIGNED_64 __u64

#define NIC_MASK_(type, word, high, low, kind, bits)            \
	((NIC_UNSIGNED_##bits)((NIC_ONES(high, low) << (low)) + \
			       (__u64)NIC_CHECK_(type, word, high, low, bits)))

#define NIC_MAX_(type, word, high, low, kind, bits)                            \
	__builtin_choose_expr((high) - (low) < 32, (__u32)NIC_ONES(high, low), \
			      (__u64)NIC_ONES(high, low))

#define NIC_PICK_(value, type, word, high, low, kind, bits)                                     \
	__builtin_choose_expr(                                                                  \
		(high) - (low) < 32,                                                            \
		(__u32)(((__u64)(NIC_UNSIGNED_##bits)(value) >> (low)) & NIC_ONES(high, low)) + \
			(__u32)NIC_CHECK_(type, word, high, low, bits),                         \
		((__u64)(NIC_UNSIGNED_##bits)(value) >> (low)) & NIC_ONES(high, low))

#define NIC_GET_(pointer, type, word, high, low, kind, bits)                                      \
	NIC_PICK_(((void)NIC_SAME_(pointer, type), nic_from_##kind((pointer)->word)), type, word, \
		  high, low, kind, bits)

#define NIC_PREP_(value, type, word, high, low, kind, bits)       \
	((NIC_UNSIGNED_##bits)(                                   \
		(((__u64)(value)&NIC_ONES(high, low)) << (low)) + \
		(__u64)(NIC_CHECK_(type, word, high, low, bits) + NIC_FITS_(value, high, low))))

#define NIC_SET_(value, pointer, type, word, high, low, kind, bits)                             \
	do {                                                                                    \
		type *nic_set_ = (pointer);                                                     \
		(void)_Generic((pointer), type * : 0);                                          \
		nic_set_->word = nic_to_##kind((NIC_UNSIGNED_##bits)(                           \
			(nic_from_##kind(nic_set_->word) &                                      \
			 (NIC_UNSIGNED_##bits) ~NIC_MASK_(type, word, high, low, kind, bits)) | \
			NIC_PREP_(value, type, word, high, low, kind, bits)));                  \
	} while (0)

#endif
