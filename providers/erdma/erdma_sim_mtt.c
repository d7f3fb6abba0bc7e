// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * erdma simulator: address translation of queue buffers and regions. Owns the walk through
 * the tables in guest memory. Knows nothing of keys, rights or queues.
 *
 *	level 0   pages in the request
 *	level 1   top -> array of pages     not aligned to anything but 8
 *	level 2   top -> tables -> pages    a table is 4 KiB << n, 512 << n entries
 *	level 3   top -> tables -> tables -> pages
 */
#include "providers/erdma/erdma_sim.h"

#include <errno.h>
#include <string.h>

/* Page size beyond which the arithmetic below would need care; the formats end at 2 GiB. */
#define PAGE_SHIFT_MAX 31
/* Pages of one buffer: enough for 16 TiB of the smallest, and no product overflows. */
#define PAGES_MAX (1ull << 32)

/* Reads entry `index` of the table at `table`. */
static int read_entry(struct erdma_nic *nic, uint64_t table, uint64_t index, uint64_t *value)
{
	uint64_t addr = table + index * sizeof(__le64);
	const __le64 *entry;
	__le64 word;

	if (addr < table)
		return -EFAULT;
	entry = sim_dma_map(nic->dev, addr, sizeof(word), false);
	if (entry)
		memcpy(&word, entry, sizeof(word));
	else if (sim_dma_read(nic->dev, addr, &word, sizeof(word)))
		return -EFAULT;
	*value = nic_from_le64(word);
	return 0;
}

/* Bus address of page `index`. */
static int find_page(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t index,
		     uint64_t *page)
{
	unsigned int shift, level = mtt->level;
	uint64_t table = mtt->pages[0];
	int err;

	if (index >= mtt->count)
		return -EFAULT;
	if (level == 0) {
		*page = mtt->pages[index];
		return 0;
	}
	for (; level > 1; level--) {
		shift = (mtt->table_shift - 3u) * (level - 1);
		/* A top table is one table: more entries than that are not there. */
		if (index >> shift >= 1ull << (mtt->table_shift - 3))
			return -EFAULT;
		err = read_entry(nic, table, index >> shift, &table);
		if (err)
			return err;
		index &= (1ull << shift) - 1;
	}
	return read_entry(nic, table, index, page);
}

/* Bus address of the byte at offset, and how many bytes follow it without a gap. */
static int find_byte(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		     uint64_t *addr, uint64_t *run)
{
	uint64_t page_size = 1ull << mtt->page_shift, at = mtt->offset + offset, page;
	int err;

	if (offset >= mtt->length || at < offset)
		return -EFAULT;
	if (mtt->contiguous) {
		*addr = mtt->pages[0] + at;
		*run = mtt->length - offset;
		return *addr < at ? -EFAULT : 0;
	}
	err = find_page(nic, mtt, at >> mtt->page_shift, &page);
	if (err)
		return err;
	*addr = page + (at & (page_size - 1));
	*run = page_size - (at & (page_size - 1));
	if (*run > mtt->length - offset)
		*run = mtt->length - offset;
	return *addr < page ? -EFAULT : 0;
}

int erdma_mtt_check(struct erdma_nic *nic, const struct erdma_mtt *mtt)
{
	uint64_t addr, run;
	int err;

	if (mtt->page_shift < ERDMA_PAGE_SHIFT || mtt->page_shift > PAGE_SHIFT_MAX ||
	    mtt->level > 3 || mtt->count == 0 || mtt->count > PAGES_MAX || mtt->length == 0)
		return -EINVAL;
	if (mtt->level == 0 && mtt->count > ERDMA_MTT_INLINE)
		return -EINVAL;
	if (mtt->contiguous && (mtt->level || mtt->count > 1))
		return -EINVAL;
	if (mtt->level > 1 && !(nic->personality->caps & ERDMA_CAP_MTT_VA))
		return -EINVAL;
	if (!mtt->contiguous && (mtt->offset >> mtt->page_shift ||
				 mtt->length > (mtt->count << mtt->page_shift) - mtt->offset))
		return -EINVAL;
	err = find_byte(nic, mtt, 0, &addr, &run);
	if (err)
		return err;
	return find_byte(nic, mtt, mtt->length - 1, &addr, &run);
}

int erdma_mtt_check_memory(struct erdma_nic *nic, const struct erdma_mtt *mtt)
{
	uint64_t offset, addr, run;
	uint8_t byte;
	int err;

	err = erdma_mtt_check(nic, mtt);
	for (offset = 0; !err && offset < mtt->length; offset += run) {
		err = find_byte(nic, mtt, offset, &addr, &run);
		if (!err)
			err = sim_dma_read(nic->dev, addr, &byte, sizeof(byte));
		if (!err)
			err = sim_dma_read(nic->dev, addr + run - 1, &byte, sizeof(byte));
	}
	return err;
}

/* Part of a range that lies in one piece of guest memory. */
struct piece {
	uint64_t addr;
	size_t length;
};

static int find_piece(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		      size_t length, struct piece *piece)
{
	uint64_t run;
	int err = find_byte(nic, mtt, offset, &piece->addr, &run);

	piece->length = err || length < run ? length : (size_t)run;
	return err;
}

int erdma_mtt_map(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		  size_t length, bool write, struct iovec *iov, int max)
{
	int count = 0, err;
	struct piece piece;
	char *host;

	while (length) {
		err = find_piece(nic, mtt, offset, length, &piece);
		if (err)
			return err;
		host = sim_dma_map(nic->dev, piece.addr, piece.length, write);
		if (!host)
			return -EFAULT;
		if (count && (char *)iov[count - 1].iov_base + iov[count - 1].iov_len == host) {
			iov[count - 1].iov_len += piece.length;
		} else {
			if (count == max)
				return -EFAULT;
			iov[count++] = (struct iovec){host, piece.length};
		}
		offset += piece.length;
		length -= piece.length;
	}
	return count;
}

int erdma_mtt_read(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset, void *data,
		   size_t length)
{
	struct piece piece;
	int err;

	while (length) {
		err = find_piece(nic, mtt, offset, length, &piece);
		if (err)
			return err;
		err = sim_dma_read(nic->dev, piece.addr, data, piece.length);
		if (err)
			return err;
		data = (char *)data + piece.length;
		offset += piece.length;
		length -= piece.length;
	}
	return 0;
}

int erdma_mtt_write(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		    const void *data, size_t length)
{
	struct piece piece;
	int err;

	while (length) {
		err = find_piece(nic, mtt, offset, length, &piece);
		if (err)
			return err;
		err = sim_dma_write(nic->dev, piece.addr, data, piece.length);
		if (err)
			return err;
		data = (const char *)data + piece.length;
		offset += piece.length;
		length -= piece.length;
	}
	return 0;
}

void *erdma_mtt_at(struct erdma_nic *nic, const struct erdma_mtt *mtt, uint64_t offset,
		   size_t length, bool write)
{
	uint64_t addr, run;

	if (find_byte(nic, mtt, offset, &addr, &run) || run < length)
		return NULL;
	return sim_dma_map(nic->dev, addr, length, write);
}
