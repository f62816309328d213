# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of invalid input.  The log reports the problem and its place, and dmodc routes without this
# input.  In some cases another engine routes, or the switches keep their tables.

# reports REGEX: start opensm with the lines of opensm.conf on standard input.  The log must have a
# matching line.
reports() {
	local conf
	conf=$(cat)
	gen '2;4,4;1,4;1,1' --random-guids --seed 41
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,no_fallback
	$conf
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	logged "$1"
	allow "$1"
	routed_by dmodc
	never_logged 'IBF210'
	walk tables
	down
}

case_unknown_key() {
	printf 'threads 1\ncolour blue\n' >"$T/conf"
	reports "ERR IBF201.*$T/conf:2: unknown key \"colour\"; all options" \
		<<<"event_plugin_options ibfattree:$T/conf"
}

case_bad_value() {
	printf 'threads many\n' >"$T/conf"
	reports "ERR IBF201.*$T/conf:1: threads is \"many\"" \
		<<<"event_plugin_options ibfattree:$T/conf"
}

case_missing_options_file() {
	reports "ERR IBF201.*$T/nowhere: .*No such file" \
		<<<"event_plugin_options ibfattree:$T/nowhere"
}

case_bad_plugin_options() {
	reports 'ERR IBF201.*event_plugin_options: "ibfattree" names no file' \
		<<<"event_plugin_options ibfattree"
}

case_torn_root_guid_file() {
	printf '0x0002c90000000001\n0x00zz\n' >"$T/roots"
	reports "ERR IBF204.*root_guid_file is not used: $T/roots:2: .*0x00zz.*; ranks are inferred" \
		<<<"root_guid_file $T/roots"
}

case_missing_cn_guid_file() {
	reports "ERR IBF204.*cn_guid_file is not used: .*$T/nowhere" \
		<<<"cn_guid_file $T/nowhere"
}

# Root and option files become invalid while opensm runs.  A SIGHUP then changes no entry.
case_broken_root_guid_file() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --seed 45
	sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p' "$T/fabric.net" >"$T/all"
	sed -n 's/^Switch.*"S-\(.*\)".*"sw-3-.*/0x\1/p' "$T/fabric.net" >"$T/roots"
	[[ -s $T/roots ]] || fail "no top switches"
	printf 'threads 1\nleaf_order name\nbalance load\n' >"$T/conf"
	up <<-EOF
	root_guid_file $T/roots
	event_plugin_options ibfattree:$T/conf
	EOF
	logged 'IBF002: .*from root_guid_file'
	walk before
	rm "$T/roots"
	echo 'colour blue' >"$T/conf"
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'SUBNET UP'
	logged "ERR IBF204: root_guid_file is not used: .*$T/roots.*; the list of 16 GUIDs last read stays in use"
	logged "ERR IBF201: $T/conf:1: unknown key \"colour\"; the options stay as they were"
	allow 'ERR IBF20[14]'
	logged 'IBF002: .*from root_guid_file.* 1 thread;'
	routed_by dmodc
	walk after
	same before after
	down
}

# Half of the top switches are missing from the root file.  With "roots auto" they are used as
# roots, and the log has the GUID of the first one.  With "roots strict" the engine refuses to
# route.
case_incomplete_root_guid_file() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --seed 48
	sed -n 's/^Switch.*"S-\(.*\)".*"sw-3-.*/0x\1/p' "$T/fabric.net" >"$T/all"
	local first
	first=$(sort "$T/all" | sed -n 9p)
	sort "$T/all" | sed -n '1,8p' >"$T/roots"
	echo 'roots auto' >"$T/conf"
	up <<-EOF
	root_guid_file $T/all
	event_plugin_options ibfattree:$T/conf
	EOF
	walk before
	never_logged 'IBF115'
	cp "$T/roots" "$T/all"
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	# a sweep that began before the signal ends with SUBNET UP, too
	osm_wait sm "$patience" "WRN IBF115: root_guid_file $T/all lacks 8 top switches: $first \"sw-3-.*; a top switch that is not listed is treated as a root, too"
	osm_wait sm "$patience" 'SUBNET UP'
	walk after
	same before after
	osm_stop sm
	echo 'roots strict' >"$T/conf"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,updn
	root_guid_file $T/roots
	event_plugin_options ibfattree:$T/conf
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	logged "ERR IBF206: .*8 top switches are missing from the list of roots, the first is $first"
	routed_by updn
	allow 'ERR IBF206' 'ERR IBF210'
	down
}

# opensm does not know a misspelt engine and routes by another engine.
case_misspelt_engine() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 46
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodcc,updn
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'WRN IBF114: routing_engine names "dmodcc", which is no engine; .*; did you mean "dmodc"?'
	routed_by updn
	down
}

case_options_are_read() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 42
	printf '# comment\nthreads 1\nleaf_order name\n' >"$T/conf"
	up <<<"event_plugin_options ibfattree:$T/conf"
	logged "IBF001.*$T/conf"
	logged 'IBF002.* 1 thread;'
	routed_by dmodc
	walk tables
	until_lines 16 "$SIM_DIR/sm/opensm-dmodc-ca-order.dump"
	down
}

# opensm refuses a plugin that was built for another version.
case_other_opensm_version() {
	mkdir "$T/plugins"
	sed 's/OpenSM 3\.3\.23/OpenSM 9.9.99/g' \
		"$SIM_BUILD/libibfattree.so" >"$T/plugins/libibfattree.so"
	export SIM_PLUGINS=$T/plugins
	gen '2;4,4;1,4;1,1' --random-guids --seed 43
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,updn
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'OpenSM 9.9.99'
	routed_by updn
	down
}

# An updated opensm refuses the plugin.  With no_fallback the switches keep their tables.
case_updated_opensm_no_fallback() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 47
	up <<<'routing_engine dmodc,no_fallback'
	routed_by dmodc
	walk before
	osm_stop sm
	mkdir "$T/plugins"
	sed 's/OpenSM 3\.3\.23/OpenSM 9.9.99/g' \
		"$SIM_BUILD/libibfattree.so" >"$T/plugins/libibfattree.so"
	export SIM_PLUGINS=$T/plugins
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,no_fallback
	EOF
	osm_wait sm "$patience" 'No routing engine able to successfully configure'
	walk after
	same before after
	down
}

case_ucast_cache_warning() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 44
	up <<<'use_ucast_cache TRUE'
	logged 'WRN IBF104'
	routed_by dmodc
	walk tables
	down
}
