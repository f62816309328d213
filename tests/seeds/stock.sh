# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Functions that write the tables of stock opensm, for experiments that compare with its engines.
#
#   roots NETFILE			print the node GUIDs of the top switches of a
#					generated fabric
#   stock_tables DIR NETFILE ENGINE...
#					run NETFILE in ibsim and opensm with one engine after
#					the other; write DIR/ENGINE.lfts, and DIR/ENGINE.net
#					with the LIDs.  Fails if opensm falls back to another
#					engine.  The files DIR/roots and DIR/order, if
#					they exist, are the root_guid_file and the
#					guid_routing_order_file
#
# STOCK_LIMIT is the number of seconds within which opensm must have routed (900).  If STOCK_DUMP is set,
# opensm writes the tables itself, which is faster than reading them, and DIR/ENGINE.net is not written.
#
# ENGINE may be "ftree+roots" (ftree with connect_roots).  With "+vls" after any engine
# ("dfsssp+vls"), qos is on, and every switch maps SL n to VL n.  DIR/ENGINE.psl then has the
# SLs of the paths.

SIM_BUILD=$build
SIM_SCRIPTS=$top/scripts
# shellcheck source=scripts/sim.sh
. "$SIM_SCRIPTS/sim.sh"

roots() {
	awk '/^Switch/ { split($0, q, "\""); split(q[4], a, "-")
		level[q[2]] = a[2]; if (a[2] > high) high = a[2] }
	     END { for (s in level) if (level[s] == high)
			print "0x" substr(s, 3) }' "$1" | sort
}

stock_conf() {
	local dir=$1 engine=$2
	echo "routing_engine ${engine%+*}"
	[[ $engine != *+roots ]] || echo 'connect_roots TRUE'
	[[ $engine != *+vls ]] ||
		printf '%s\n' 'qos TRUE' 'event_plugin_name ibfvls'
	[[ ! -s $dir/roots ]] || echo "root_guid_file $dir/roots"
	[[ ! -s $dir/order ]] || echo "guid_routing_order_file $dir/order"
	printf '%s\n' 'max_wire_smps 64' 'transaction_timeout 2000'
	[[ -n ${STOCK_DUMP:-} ]] || echo 'log_flags 0x03'	# no dumps
}

# Read the tables from the fabric.  Findings of the checker do not matter, but each switch must have
# answered.
stock_save() {
	in_sim "$build/ibfattree" check --live --save-fabric "$1/$2.net" \
		--save-lfts "$1/$2.lfts" >/dev/null 2>"$1/$2.err" || true
	[[ -s $1/$2.net && -s $1/$2.lfts ]] && ! grep 'its table is not known' "$1/$2.err" >&2
}

stock_engine() {
	local dir=$1 engine=$2 id=${2%+*}
	osm_start "$id" < <(stock_conf "$dir" "$engine")
	osm_wait "$id" "${STOCK_LIMIT:-900}" 'SUBNET UP'
	osm_settled "$id" 900
	[[ $(osm_engine "$id") == "$id" ]] || {
		sim_die "opensm falls back from $id to $(osm_engine "$id")"
		return
	}
	# on a busy machine a management packet may time out: try again
	rm -f "$dir/$engine.net" "$dir/$engine.lfts"
	[[ -n ${STOCK_DUMP:-} ]] || sim_until 600 stock_save "$dir" "$engine" ||
		sim_die "no tables of $engine" || return
	osm_stop "$id"
	[[ -z ${STOCK_DUMP:-} ]] || mv "$SIM_DIR/$id/opensm-lfts.dump" "$dir/$engine.lfts"
	# the file is complete only after opensm has ended
	if [[ $engine == *+vls ]]; then
		cp "$SIM_DIR/$id/opensm-psl.dump" "$dir/$engine.psl"
	fi
	rm -rf "${SIM_DIR:?}/$id"
}

stock_tables() {
	local dir net=$2 engine
	dir=$(cd "$1" && pwd)
	shift 2
	(
		trap sim_stop EXIT
		sim_start "$dir/sim" "$net"
		for engine; do
			stock_engine "$dir" "$engine"
		done
	)
	rm -rf "$dir/sim"
}
