/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a NIC reads and writes by itself: ring buffers, and pages of small
 * records. Owns mapping, zeroing and marks against fork. Knows no class.
 *
 * mmap and not malloc: the pages are shared with nothing of the program, so that
 * keeping them from a child takes nothing else away, and valgrind counts them as
 * initialised, whoever writes to them.
 */
#include "userlib/provider/provider.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORDS_PER_WORD 64

struct anynic_record_page {
	struct anynic_record_page *next;
	struct anynic_buffer buffer;
	size_t count, used;
	uint64_t taken[]; /* a bit a record */
};

int anynic_buffer_init(struct anynic_buffer *buffer, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *addr;

	if (length > SIZE_MAX - page)
		return -ENOMEM;
	length = (length + page - 1) & ~(page - 1);
	addr = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED)
		return -ENOMEM;
	if (ibv_dontfork_range(addr, length)) {
		munmap(addr, length);
		return -ENOMEM;
	}
	buffer->addr = addr;
	buffer->length = length;
	return 0;
}

void anynic_buffer_fini(struct anynic_buffer *buffer)
{
	if (!buffer->addr)
		return;
	ibv_dofork_range(buffer->addr, buffer->length);
	munmap(buffer->addr, buffer->length);
	*buffer = (struct anynic_buffer){0};
}

int anynic_records_init(struct anynic_records *records, size_t record_bytes)
{
	records->pages = NULL;
	records->record_bytes = record_bytes;
	return -pthread_mutex_init(&records->mutex, NULL);
}

static void page_destroy(struct anynic_record_page *page)
{
	anynic_buffer_fini(&page->buffer);
	free(page);
}

void anynic_records_fini(struct anynic_records *records)
{
	struct anynic_record_page *page;

	while ((page = records->pages)) {
		records->pages = page->next;
		page_destroy(page);
	}
	pthread_mutex_destroy(&records->mutex);
}

static struct anynic_record_page *page_create(size_t record_bytes)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE), count = bytes / record_bytes;
	size_t words = (count + RECORDS_PER_WORD - 1) / RECORDS_PER_WORD;
	struct anynic_record_page *page;

	page = calloc(1, sizeof(*page) + words * sizeof(page->taken[0]));
	if (!page)
		return NULL;
	page->count = count;
	if (anynic_buffer_init(&page->buffer, bytes)) {
		free(page);
		return NULL;
	}
	return page;
}

static void *page_take(struct anynic_record_page *page, size_t record_bytes)
{
	size_t i;

	for (i = 0; page->taken[i / RECORDS_PER_WORD] >> i % RECORDS_PER_WORD & 1; i++)
		;
	page->taken[i / RECORDS_PER_WORD] |= 1ull << i % RECORDS_PER_WORD;
	page->used++;
	return (char *)page->buffer.addr + i * record_bytes;
}

void *anynic_records_get(struct anynic_records *records)
{
	struct anynic_record_page *page;
	void *record = NULL;

	pthread_mutex_lock(&records->mutex);
	for (page = records->pages; page && page->used == page->count; page = page->next)
		;
	if (!page) {
		page = page_create(records->record_bytes);
		if (page) {
			page->next = records->pages;
			records->pages = page;
		}
	}
	if (page) {
		record = page_take(page, records->record_bytes);
		memset(record, 0, records->record_bytes);
	}
	pthread_mutex_unlock(&records->mutex);
	return record;
}

/* An empty page goes back: each one is pinned memory. */
void anynic_records_put(struct anynic_records *records, void *record)
{
	struct anynic_record_page **link, *page;
	size_t i;

	if (!record)
		return;
	pthread_mutex_lock(&records->mutex);
	for (link = &records->pages; (page = *link); link = &page->next) {
		size_t offset = (size_t)((char *)record - (char *)page->buffer.addr);

		if (offset >= page->buffer.length)
			continue;
		i = offset / records->record_bytes;
		page->taken[i / RECORDS_PER_WORD] &= ~(1ull << i % RECORDS_PER_WORD);
		if (!--page->used) {
			*link = page->next;
			page_destroy(page);
		}
		break;
	}
	pthread_mutex_unlock(&records->mutex);
}
