/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the source files of test_no_memory. */
#ifndef FTR_TEST_NO_MEMORY_H
#define FTR_TEST_NO_MEMORY_H

#include "lib/temp.h"
#include <ftr/ftr.h>

#define TRY(call)							\
	do {								\
		enum ftr_status st_ = call;				\
									\
		if (st_)						\
			return st_;					\
	} while (0)

/* A fabric, a damaged copy f, and their tables. */
struct scene {
	struct ftr_fabric *whole, *f;
	struct ftr_fabric *other;	/* another damaged copy, without a switch and a host */
	struct ftr_fabric *torus, *ring;
	struct ftr_nominal *nominal;	/* made from whole */
	struct ftr_shape *sh, *before;	/* of f; of whole */
	struct ftr_tables *old, *carried, *t;	/* of whole; the same for f; of f */
	struct ftr_turn *turn;		/* the extra turns of t */
	uint32_t n_turns;
	uint8_t *order;			/* the levels that t claims, if order_known */
	bool order_known;
	ftr_ep *hosts;			/* [whole->n_ep] all hosts of whole */
	struct ftr_team *team;
	char dir[TEMP_ROOM];			/* the directory of the files */
};

/* An operation: *sum is a hash of its result.  It allocates only with functions that can be made to
 * fail, or frees what it allocates otherwise. */
struct op {
	const char *name;
	enum ftr_status (*run)(const struct scene *z, uint64_t *sum, struct ftr_err *err);
};

extern const struct op shape_ops[], file_ops[];
extern const unsigned int n_shape_ops, n_file_ops;

void files_set(struct scene *z);
void files_clear(struct scene *z);

uint64_t fold(uint64_t sum, const void *data, size_t n);
uint64_t fold_tables(uint64_t sum, const struct ftr_tables *t);

#endif
