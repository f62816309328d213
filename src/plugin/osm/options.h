/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The options of the plugin.
 *
 * One table defines the names, ranges and defaults.  Tests compare it with the sample file
 * (ibfattree.conf) and with ibfattree.conf(5).
 *
 * Each line of the file is "key value" or "key = value".  A comment begins with '#' at the
 * start of a line or after a blank.
 *
 * This file does not depend on OpenSM.
 */
#ifndef IBF_OPTIONS_H
#define IBF_OPTIONS_H

#include <ftr/status.h>
#include <ftr/types.h>

struct ibf_options {
	int threads;		/* 0: one per core */
	int leaf_order;		/* enum ftr_leaf_order */
	int roots;		/* enum ftr_roots */
	int ca_order_dump;	/* bool */
	int status_files;	/* bool */
	int log_samples;	/* maximum number of hosts named in a warning */
	int balance;		/* enum ftr_balance */
	int adopt;		/* bool */
	int transition;		/* bool: true for "ordered" */
	int transition_limit_ms;
	int takeover;		/* bool: true for "ordered" */
	int paths;		/* enum ftr_paths */
	int observe;		/* bool: compute and check tables, but do not use them */
	int fast_reroute;	/* bool */
	int fast_window;	/* maximum number of packets in flight */
	int fast_timeout_ms;
	int fast_sweep_delay_ms, fast_sweep_cap_ms;
	int fast_flap_limit;	/* failures until a link is damped; 0: never */
	int fast_flap_window_ms, fast_flap_hold_ms;
};

struct ibf_option {
	const char *name;
	size_t offset;		/* position of the value, an int, in struct ibf_options */
	int min, max;		/* range of a number */
	int def;		/* default: a number, or the index of a word */
	/* The permitted words; the value is an index into this array.  NULL: the value is a
	 * number. */
	const char *const *words;
	bool at_start;		/* a new value needs a restart of OpenSM */
};

/* The table of options; its last entry has no name. */
extern const struct ibf_option ibf_option_table[];

void ibf_options_default(struct ibf_options *o);

static inline int *ibf_option_value(struct ibf_options *o, const struct ibf_option *opt)
{
	return (int *)(void *)((char *)o + opt->offset);
}

/*
 * Read the file; its values replace those in *o.
 *
 * FTR_IO: the file cannot be read; *missing (may be NULL) is true if it does not exist.
 * FTR_PARSE: a line has an unknown or repeated key or a bad value, is too long, or contains a NUL
 * byte.  The message names file and line, and *o is unchanged.
 */
enum ftr_status ibf_options_read(const char *path, struct ibf_options *o,
				 bool *missing,
				 struct ftr_err *err) FTR_MUST_USE;

/*
 * Find the word "ibfattree:PATH" in `shared`, the value of event_plugin_options in
 * opensm.conf, which all plugins share.  `shared` may be NULL.  *path: PATH, allocated, or
 * NULL if there is no such word.  FTR_INVAL: there are two such words, or PATH is missing.
 */
enum ftr_status ibf_options_path(const char *shared, char **path,
				 struct ftr_err *err) FTR_MUST_USE;

#endif
