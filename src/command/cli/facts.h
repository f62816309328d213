/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * facts: what ibfattree-doctor, ibfattree-save and ibfattree-restore, programs in Python, cannot find
 * out themselves.
 *
 *	facts.c		the command "ibfattree facts": the fabric, its tables, those of the engines
 *	facts_live.c	reads a running fabric, with its subnet managers, ports and error counters
 *	rails.c		ports of hosts with several adapters, also for ibfattree check
 */
#ifndef FTR_CLI_FACTS_H
#define FTR_CLI_FACTS_H

#include <json-c/json.h>

#include "cli/cli.h"

/* Reads the fabric and its tables from the switches.  Adds "m_key", "sms", "live_switches", "live_ports",
 * "no_counters" and "no_adaptive" to o, also if the tables cannot be read. */
enum ftr_status cli_facts_live(struct cli_in *in, struct json_object *o,
			       struct cli_live *out, struct ftr_err *err) FTR_MUST_USE;

/* Reads the fabric, its tables and its SL2VL tables from the switches.  Dies if a switch does not
 * answer a Get of its SL2VL tables. */
enum ftr_status cli_sl2vl_live(struct cli_in *in, struct ftr_sl2vl **m,
			       struct cli_live *out, struct ftr_err *err) FTR_MUST_USE;

/* Return an object with "verdict" ("ok" or "warning"), "text", "count", "details" and "places": what
 * is wrong with the rails of hosts, or with the ports of one host.  t: the tables, or NULL. */
struct json_object *cli_rails(const struct ftr_fabric *f);
struct json_object *cli_host_ports(const struct ftr_fabric *f, const struct ftr_tables *t);

#endif
