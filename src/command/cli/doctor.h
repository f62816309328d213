/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * doctor: data shared by the checks, and their results.
 *
 *	doctor.c	the command: options, order of checks, output
 *	doctor_result.c	fills a result
 *	doctor_local.c	this node: adapter, port, opensm, plugin, opensm.conf
 *	drain.c		drained parts
 *	doctor_read.c	reads the fabric from dumps or from the switches
 *	doctor_links.c	links, switches and subnet managers
 *	doctor_rails.c	rails of hosts with several adapters
 *	doctor_paths.c	forwarding tables: unreachable pairs, loops, balance
 *
 * A check reads struct doctor and fills one struct doc_result.  It does not change
 * the fabric or any file.
 */
#ifndef FTR_CLI_DOCTOR_H
#define FTR_CLI_DOCTOR_H

#include "config.h"

#include <ftr/ftr.h>

#include "cli/cli.h"
#include "cli/live.h"
#include "cli/whatif.h"

enum doc_verdict {
	DOC_OK = 0,
	DOC_WARNING,
	DOC_FAILURE,
	DOC_NOT_CHECKED,
	DOC_N_VERDICTS
};

#define DOC_DETAILS 10

struct doc_result {
	const char *id;
	enum doc_verdict verdict;
	char text[512];		/* the finding, or the reason why nothing was checked */
	char remedy[512];	/* recommended action, "" if there is none */
	char *detail[DOC_DETAILS];	/* malloc()ed lines, at most DOC_DETAILS */
	/* The places where the details were found.  node_guid: node GUID of a switch, port GUID of
	 * a host port, or 0 (none).  port: port of the switch; 0: the switch itself, or a host
	 * port. */
	struct ftr_end location[DOC_DETAILS];
	uint32_t n_details;	/* number of details found; may exceed DOC_DETAILS */
};

/* doctor_result.c */
void doc_say(struct doc_result *r, enum doc_verdict v, const char *fmt, ...)
	FTR_PRINTF(3, 4);
void doc_remedy(struct doc_result *r, const char *fmt, ...) FTR_PRINTF(2, 3);
/* Adds a line for one affected object.  All objects are counted, but only the first DOC_DETAILS
 * lines are kept.  guid: node GUID of a switch, or port GUID; 0: the object has no location. */
void doc_at(struct doc_result *r, uint64_t guid, unsigned int port, const char *fmt, ...)
	FTR_PRINTF(4, 5);
#define doc_detail(r, ...) doc_at(r, 0, 0, __VA_ARGS__)
/* If there are no details, sets the verdict DOC_OK with this text, and returns true. */
#define doc_clean(r, ...) (!(r)->n_details && (doc_say(r, DOC_OK, __VA_ARGS__), true))

/* The name of a verdict in JSON, and the text before the reason why nothing was checked. */
const char *doc_key(enum doc_verdict v);
const char *doc_prefix(enum doc_verdict v);
/* Prints the details with this indentation. */
void doc_put_details(const struct doc_result *r, int indent);
struct json_object;
/* Adds "details" and "places" to o. */
void doc_json_details(struct json_object *o, const struct doc_result *r);

/* Counters of PortCounters (IBA 16.1.3.5) that a bad cable increases. */
enum doc_counter {
	DOC_LINK_DOWNED,
	DOC_SYMBOL_ERRORS,
	DOC_LINK_RECOVERIES,
	DOC_RECEIVE_ERRORS,
	DOC_INTEGRITY_ERRORS,
	DOC_BUFFER_OVERRUNS,
	DOC_N_COUNTERS
};

/* Values from PortInfo of a switch port, and of the port at the far end; 0: not known. */
struct doc_port {
	uint8_t state;		/* 1 Down, 2 Init, 3 Armed, 4 Active */
	uint8_t max_width;	/* greatest number of lanes that both ends support */
	uint8_t max_speed;	/* enum ftr_speed: highest speed that both ends support */
	uint8_t op_vls;		/* number of operational data VLs */
	bool counted;		/* counter[] is known */
	uint16_t counter[DOC_N_COUNTERS];	/* since the counters were cleared */
};

struct doc_switch {
	uint32_t lft_cap;	/* LinearFDBCap, in entries; 0: not known */
	uint32_t lft_top;	/* LinearFDBTop */
	bool adaptive;		/* adaptive routing is on */
};

struct doc_sm {
	uint64_t guid;		/* port GUID */
	ftr_lid lid;
	bool answered;		/* the port answered a Get of SMInfo; if not, state and priority
				 * are not set */
	uint8_t state;		/* 0 not active, 1 discovering, 2 standby, 3 master */
	uint8_t priority;
	char name[FTR_NAME_MAX + 1];
};

#define DOC_SM_MAX 32

/* A link whose far end does not answer, identified by the switch port at its near end. */
struct doc_silent {
	uint64_t guid;
	unsigned int port;
	char name[FTR_NAME_MAX + 1];
};

/* The fabric.  Members that dumps do not contain are NULL or zero. */
struct doc_fabric {
	bool tried;		/* reading was attempted */
	bool live;		/* read from the switches, not from dumps */
	struct ftr_err err;	/* error of reading; status FTR_OK: none */
	double seconds;		/* time to read the fabric */
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing;	/* number of switches without a table */
	struct doc_port *port;	/* [f->n_ports] live only */
	struct doc_switch *sw;	/* [f->n_sw] live only */
	struct doc_sm sm[DOC_SM_MAX];
	uint32_t n_sm;
	struct doc_silent silent[DOC_DETAILS];
	uint32_t n_silent;
	uint32_t no_counters;	/* number of switches whose counters were not read */
	uint32_t no_adaptive;	/* number of switches that did not answer for adaptive routing */
	uint64_t m_key;		/* M_Key of the local port; 0: no M_Key, or hidden by the port */
	bool m_key_known;	/* m_key was read */
};

/* Measurements of one set of tables: those in use, or those of an engine. */
struct doc_column {
	const char *name;	/* "in use", or the engine's name */
	struct cli_measure m;
};
#define DOC_COLUMNS 8

/* Values from opensm.conf; strings are malloc()ed or NULL. */
struct doc_conf {
	char *path;		/* NULL: no file found */
	char *plugins, *engines, *roots, *cn, *io;
	char *options;		/* the plugin's option file */
	bool ucast_cache, qos, no_sweep;
	uint64_t prefix;	/* subnet_prefix; 0: the default */
};

struct doc_opts {
	struct cli_in in;
	const char *lfts, *opensm, *plugin, *conf;
	struct cli_list only;
	unsigned int flaps, errors;
	bool local, quiet, strict;
};

struct doctor {
	struct doc_opts o;
	const char *fabric;	/* path of FABRIC; NULL: read the running fabric */
	const char *sysfs;	/* the directory of adapters in sysfs */
	char kernel[65];	/* release of the running kernel */
	struct doc_conf conf;
	struct doc_fabric net;
	/* computed by the first check that needs them */
	struct cli_shaping shaping;
	struct ftr_shape *sh;	/* NULL: shape_err has the reason */
	struct ftr_err shape_err;
	struct ftr_check_report *report;	/* NULL: not computed */
	struct cli_verdict judged;
	struct doc_column col[DOC_COLUMNS];
	uint32_t n_col;
	const char *best;	/* recommended engine, NULL: not known */
};

typedef void (*doc_fn)(struct doctor *d, struct doc_result *r);

enum doc_need {			/* prerequisites of a check; bit mask */
	DOC_NEED_NODE = 1,	/* this node; not available with dumps */
	DOC_NEED_FABRIC = 2,
	DOC_NEED_LIVE = 4,
	DOC_NEED_TABLES = 8,
};

struct doc_check {
	const char *id;
	unsigned int needs;	/* enum doc_need */
	doc_fn run;		/* NULL: ibfattree was built without the libraries for this check */
};

#define DOC_N_CHECKS 34

/* All checks, in the order in which they run. */
extern const struct doc_check doc_checks[DOC_N_CHECKS];

/* doctor_local.c */
#define DOC_VERSION_MAX 32
/* Finds the first NUL-terminated string "OpenSM <digits and dots>" in the file.  Returns
 * false if there is none; errno is then 0, or the reason why the file cannot be read. */
bool doc_file_version(const char *path, char version[DOC_VERSION_MAX]);
/* Returns the path of the program opensm, malloc()ed; NULL: not found. */
char *doc_find_opensm(void);
void doc_read_conf(struct doctor *d);
void doc_free_conf(struct doc_conf *c);
#ifdef HAVE_IBMAD
void doc_adapter(struct doctor *d, struct doc_result *r);
void doc_module(struct doctor *d, struct doc_result *r);
void doc_permission(struct doctor *d, struct doc_result *r);
void doc_local_port(struct doctor *d, struct doc_result *r);
void doc_known_faults(struct doctor *d, struct doc_result *r);
#else				/* built without libibumad */
#define doc_adapter NULL
#define doc_module NULL
#define doc_permission NULL
#define doc_local_port NULL
#define doc_known_faults NULL
#endif
#if defined(HAVE_IBMAD) && defined(HAVE_IBVERBS)
void doc_mtu(struct doctor *d, struct doc_result *r);
#else				/* built without libibverbs */
#define doc_mtu NULL
#endif
void doc_plugin(struct doctor *d, struct doc_result *r);
void doc_config(struct doctor *d, struct doc_result *r);
/* drain.c */
void doc_drains(struct doctor *d, struct doc_result *r);

/* doctor_read.c */
void doc_read(struct doctor *d);
void doc_free_fabric(struct doc_fabric *n);
void doc_fabric(struct doctor *d, struct doc_result *r);
void doc_m_key(struct doctor *d, struct doc_result *r);

/* doctor_links.c */
void doc_sm(struct doctor *d, struct doc_result *r);
void doc_standby(struct doctor *d, struct doc_result *r);
void doc_sm_version(struct doctor *d, struct doc_result *r);
void doc_silent(struct doctor *d, struct doc_result *r);
void doc_link_state(struct doctor *d, struct doc_result *r);
void doc_link_width(struct doctor *d, struct doc_result *r);
void doc_link_speed(struct doctor *d, struct doc_result *r);
void doc_link_flaps(struct doctor *d, struct doc_result *r);
void doc_link_errors(struct doctor *d, struct doc_result *r);
void doc_lft_capacity(struct doctor *d, struct doc_result *r);
void doc_lft_top(struct doctor *d, struct doc_result *r);
void doc_vls(struct doctor *d, struct doc_result *r);
void doc_adaptive(struct doctor *d, struct doc_result *r);

/* doctor_rails.c */
void doc_rails(struct doctor *d, struct doc_result *r);
void doc_host_ports(struct doctor *d, struct doc_result *r);

/* doctor_paths.c */
void doc_files(struct doctor *d, struct doc_result *r);
void doc_ranks(struct doctor *d, struct doc_result *r);
void doc_links_missing(struct doctor *d, struct doc_result *r);
void doc_sm_reach(struct doctor *d, struct doc_result *r);
void doc_pairs(struct doctor *d, struct doc_result *r);
void doc_loops(struct doctor *d, struct doc_result *r);
void doc_credit_loops(struct doctor *d, struct doc_result *r);
void doc_balance(struct doctor *d, struct doc_result *r);
void doc_free_paths(struct doctor *d);

#endif
