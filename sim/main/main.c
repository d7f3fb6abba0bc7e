/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* anynic-sim's table of classes: one row for each line of providers/common/classes.def. */
#include "sim/main/sim_program.h"

#define NIC_CLASS(name, vendor) extern const struct sim_class sim_class_##name;
#include "providers/common/classes.def"
#undef NIC_CLASS

static const struct sim_class_row rows[] = {
#define NIC_CLASS(name, vendor) {vendor, &sim_class_##name},
#include "providers/common/classes.def"
#undef NIC_CLASS
};

int main(int argc, char **argv)
{
	const struct sim_class_table classes = {rows, sizeof(rows) / sizeof(rows[0])};

	return sim_program_main(argc, argv, &classes);
}
