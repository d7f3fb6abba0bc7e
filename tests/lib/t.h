/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Unit test frame: CUnit cases, one line of TAP each, exit 0, 1 or 77 (skip).
 *
 *	static void psn_wraps(void) { T_EQ(psn_add(0xffffff, 1), 0); }
 *
 *	T_MAIN("roce_psn",
 *	       T_CASE(psn_wraps),
 *	)
 *
 * A case that walks a table names the row in each check: T_EQ_ROW(row->name, got, want).
 */
#ifndef ANYNIC_TESTS_LIB_T_H
#define ANYNIC_TESTS_LIB_T_H

#include <CUnit/CUnit.h>
#include <stddef.h>
#include <stdint.h>

struct t_case {
	const char *name;
	void (*run)(void);
};

#define T_CASE(function)            \
	{                           \
#function, function \
	}

#define T_MAIN(suite, ...)                                                    \
	int main(void)                                                        \
	{                                                                     \
		static const struct t_case cases[] = {__VA_ARGS__};           \
		return t_run(suite, cases, sizeof(cases) / sizeof(cases[0])); \
	}

/* Runs the cases in order. Returns the exit status of the program. */
int t_run(const char *suite, const struct t_case *cases, size_t count);

/* Ends the program as skipped (77), with the reason. Call it before any case runs. */
_Noreturn void t_skip(const char *reason);

/* Notes a failure of the running case and returns false, or returns true. */
_Bool t_check(_Bool ok, const char *file, unsigned int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

_Bool t_check_bytes(const void *got, const void *want, size_t length, const char *file,
		    unsigned int line, const char *row);

#define T_TRUE(condition) t_check((condition), __FILE__, __LINE__, "%s", #condition)
#define T_TRUE_ROW(row, condition) \
	t_check((condition), __FILE__, __LINE__, "%s: %s", (row), #condition)

#define T_EQ_ROW(row, got, want)                                                            \
	({                                                                                  \
		long long t_got_ = (long long)(got), t_want_ = (long long)(want);           \
		t_check(t_got_ == t_want_, __FILE__, __LINE__,                              \
			"%s: %s is %lld (0x%llx), want %lld (0x%llx)", (row), #got, t_got_, \
			t_got_, t_want_, t_want_);                                          \
	})
#define T_EQ(got, want) T_EQ_ROW("", got, want)

#define T_BYTES_ROW(row, got, want, length) \
	t_check_bytes((got), (want), (length), __FILE__, __LINE__, (row))
#define T_BYTES(got, want, length) T_BYTES_ROW("", got, want, length)

/* Ends the running case at once where going on makes no sense. */
#define T_NEED(condition)               \
	do {                            \
		if (!T_TRUE(condition)) \
			return;         \
	} while (0)

/* Decodes a string of hex digits into bytes; returns the count. */
size_t t_hex(const char *hex, void *out, size_t room);

#endif
