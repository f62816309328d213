# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bad input: one line says what is wrong and where, opensm keeps running, the
# next engine routes, and another line says so.

# refuses REGEX: conf on stdin; updn takes over.
refuses() {
	local conf
	conf=$(cat)
	gen '2;4,4;1,4;1,1' --random-guids --seed 41
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,updn
	$conf
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	logged "$1"
	allow "$1" 'ERR IBF203: dmodc' 'ERR IBF210: .* updn routes now instead of dmodc'
	routed_by updn
	logged 'ERR IBF210.*updn routes now instead of dmodc'
	walk tables
	down
}

case_unknown_key() {
	printf 'threads 1\ncolour blue\n' >"$T/conf"
	refuses "ERR IBF201.*$T/conf:2: unknown key \"colour\"" \
		<<<"event_plugin_options ibfattree:$T/conf"
}

case_bad_value() {
	printf 'threads many\n' >"$T/conf"
	refuses "ERR IBF201.*$T/conf:1: threads is \"many\"" \
		<<<"event_plugin_options ibfattree:$T/conf"
}

case_missing_options_file() {
	refuses "ERR IBF201.*$T/nowhere: No such file" \
		<<<"event_plugin_options ibfattree:$T/nowhere"
}

case_torn_root_guid_file() {
	printf '0x0002c90000000001\n0x00zz\n' >"$T/roots"
	refuses "ERR IBF204.*$T/roots:2: .*0x00zz" \
		<<<"root_guid_file $T/roots"
}

case_missing_cn_guid_file() {
	refuses "ERR IBF204.*$T/nowhere" <<<"cn_guid_file $T/nowhere"
}

case_options_are_read() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 42
	printf '# comment\nthreads 1\nleaf_order name\n' >"$T/conf"
	up <<<"event_plugin_options ibfattree:$T/conf"
	logged "IBF001.*$T/conf"
	logged 'IBF002.* 1 threads'
	routed_by dmodc
	walk tables
	[[ -s $SIM_DIR/sm/opensm-dmodc-ca-order.dump ]] ||
		fail "no opensm-dmodc-ca-order.dump"
	down
}

# A plugin built for another opensm is turned down by opensm itself.
case_other_opensm_version() {
	mkdir "$T/plugins"
	sed 's/OpenSM 3\.3\.23/OpenSM 9.9.99/g' \
		"$SIM_BUILD/.libs/libibfattree.so" >"$T/plugins/libibfattree.so"
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

case_ucast_cache_is_warned_of() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 44
	up <<<'use_ucast_cache TRUE'
	logged 'WRN IBF104'
	routed_by dmodc
	walk tables
	down
}
