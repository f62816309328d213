/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Every message that the plugin writes to OpenSM's log, with its code.  (Message LAYOUT is
 * written to syslog.)
 *
 * A code is "IBF" and three digits: IBF0xx is information, IBF1xx a warning, IBF2xx an
 * error.  A code is never reused for another message.  A test compares the table with
 * ibfattree(7).  This file does not depend on OpenSM.
 */
#ifndef IBF_MSG_H
#define IBF_MSG_H

enum ibf_severity { IBF_INFO, IBF_WARN, IBF_ERROR };

/* name, number, severity, short description */
#define IBF_MESSAGES(M)							\
	M(LOADED, 1, INFO, "the plugin is loaded")			\
	M(ROUTED, 2, INFO, "one line per routing")			\
	M(MCAST, 3, INFO, "multicast trees built since the routing")	\
	M(FAST, 4, INFO, "one line per fast reroute")			\
	M(RECONCILED, 5, INFO, "changes by the sweep after a fast reroute") \
	M(NOMINAL, 6, INFO, "the nominal fabric was made or has grown")	\
	M(VLS, 7, INFO, "the VLs that ddlr uses")			\
	M(SEARCH, 8, INFO, "a search for better tables has ended")	\
	M(ADOPTED, 9, INFO, "tables read from the switches (adopt)")	\
	M(TRANSITION, 10, INFO, "tables replaced in a checked order")	 \
	M(REPLACED, 11, INFO, "kept tables are replaced by better ones")	\
	M(DRAINED, 12, INFO, "the list of drained parts has changed")	\
	M(OPTION, 13, INFO, "an option has changed")			\
	M(OBSERVED, 20, INFO, "changes that an engine would make (observe)")	\
	M(UNREACHABLE, 101, WARN, "unreachable pairs")			\
	M(SKIPPED, 102, WARN, "OpenSM's data contradicts itself")	\
	M(CA_ORDER, 103, WARN, "the host order was not written")	\
	M(UCAST_CACHE, 104, WARN, "use_ucast_cache is on")		\
	M(THREADS, 105, WARN, "no threads started; one thread routes")	\
	M(MCAST_MEMBERS, 106, WARN, "a multicast group does not reach all members") \
	M(NO_SUCH_PORTS, 107, WARN, "a GUID file has no port of this fabric") \
	M(FAST_OFF, 108, WARN, "there is no fast path")			\
	M(FAST_FAILED, 109, WARN, "no fast reroute; a sweep repairs the tables") \
	M(FAST_WRITES, 110, WARN, "writes were not acknowledged")	\
	M(FLAPPING, 111, WARN, "a link fails repeatedly and is damped")	\
	M(EVENT_FILE, 112, WARN, "the event file cannot be written")	\
	M(STATE_FILE, 113, WARN, "a state file is not used or not written") \
	M(ENGINE_NAME, 114, WARN, "an engine's name is misspelt")	\
	M(ROOTS, 115, WARN, "root_guid_file is not complete")		\
	M(STATUS_FILE, 116, WARN, "a status file cannot be written")	\
	M(REORDERED, 119, WARN, "dmodc uses an order of switches like that of sftree") \
	M(TRANSITION_PLAIN, 121, WARN, "tables not replaced in a checked order") \
	M(SEARCH_FAILED, 122, WARN, "the search process failed")	\
	M(RESTART, 123, WARN, "a changed option needs a restart of OpenSM") \
	M(OPTIONS, 201, ERROR, "the options are wrong")			\
	M(REGISTER, 202, ERROR, "OpenSM refused an engine")	\
	/* 203 was used before 0.1.0 */					\
	M(GUID_FILE, 204, ERROR, "a GUID file cannot be used")		\
	M(SNAPSHOT, 205, ERROR, "the subnet could not be copied")	\
	M(SHAPE, 206, ERROR, "the fabric cannot be ranked")		\
	M(ENGINE, 207, ERROR, "the engine failed")			\
	M(CHECK, 208, ERROR, "computed tables were refused")		\
	M(COMMIT, 209, ERROR, "OpenSM's buffers for tables do not match the fabric") \
	M(FALLBACK, 210, ERROR, "another engine routes")		\
	M(NO_ENGINE, 211, ERROR, "no engine routes")			\
	M(MCAST_TREE, 212, ERROR, "a multicast tree failed")		\
	M(DRAIN_FILE, 213, ERROR, "the file of drained parts cannot be used")	\
	M(LAYOUT, 220, ERROR, "the plugin does not fit this OpenSM")

#define IBF_MSG_ENUM(name, number, severity, text) IBF_##name,
enum ibf_msg { IBF_MESSAGES(IBF_MSG_ENUM) IBF_N_MSG };
#undef IBF_MSG_ENUM

struct ibf_msg_info {
	unsigned int number;
	enum ibf_severity severity;
	const char *text;
};

extern const struct ibf_msg_info ibf_msg_table[IBF_N_MSG];

#endif
