/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Unit test frame: drives CUnit and prints TAP. Knows nothing of what is tested. */
#include "tests/lib/t.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned int number;
static const char *suite_name;

_Noreturn void t_skip(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(77);
}

_Bool t_check(_Bool ok, const char *file, unsigned int line, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!ok)
		printf("# %s:%u: %s\n", file, line, text);
	CU_assertImplementation(ok, line, text, file, "", CU_FALSE);
	return ok;
}

_Bool t_check_bytes(const void *got, const void *want, size_t length, const char *file,
		    unsigned int line, const char *row)
{
	const uint8_t *g = got, *w = want;
	size_t i;

	for (i = 0; i < length; i++)
		if (g[i] != w[i])
			return t_check(0, file, line, "%s: byte %zu of %zu is %02x, want %02x", row,
				       i, length, g[i], w[i]);
	return t_check(1, file, line, "%s", row);
}

size_t t_hex(const char *hex, void *out, size_t room)
{
	uint8_t *bytes = out;
	unsigned int value;
	size_t count = 0;

	for (; hex[0] && hex[1] && count < room; hex += 2) {
		if (sscanf(hex, "%2x", &value) != 1)
			break;
		bytes[count++] = (uint8_t)value;
	}
	return count;
}

static void print_result(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failed)
{
	(void)suite;
	printf("%sok %u - %s: %s\n", failed ? "not " : "", ++number, suite_name, test->pName);
	fflush(stdout);
}

int t_run(const char *suite, const struct t_case *cases, size_t count)
{
	unsigned int failed;
	CU_pSuite handle;
	size_t i;

	suite_name = suite;
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	handle = CU_add_suite(suite, NULL, NULL);
	for (i = 0; handle && i < count; i++)
		if (!CU_add_test(handle, cases[i].name, cases[i].run))
			handle = NULL;
	if (!handle) {
		fprintf(stderr, "%s: %s\n", suite, CU_get_error_msg());
		CU_cleanup_registry();
		return 1;
	}
	printf("1..%zu\n", count);
	CU_set_test_complete_handler(print_result);
	CU_run_all_tests();
	failed = CU_get_number_of_tests_failed() + (CU_get_number_of_tests_run() != count);
	CU_cleanup_registry();
	return failed ? 1 : 0;
}
