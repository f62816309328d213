# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of the names of nodes, and of the dump file that contains them.

# Two leaves with one host each, and two spines with one Aggregation Node each.  A name map renames
# the Aggregation Nodes.  They must not count as hosts, and the spines must not count as leaves.
case_renamed_aggregation_nodes() {
	local i net=$T/fabric.net an='# "Mellanox Technologies Aggregation Node"'
	for i in 1 2; do
		printf 'Switch 3 "S-leaf%d"\n[1] "H-%d"[1]\n' $i $i
		printf '[2] "S-spine1"[%d]\n[3] "S-spine2"[%d]\n\n' $i $i
		printf 'Switch 3 "S-spine%d"\n[1] "S-leaf1"[%d]\n' $i $((i + 1))
		printf '[2] "S-leaf2"[%d]\n[3] "H-an%d"[1]\n\n' $((i + 1)) $i
		printf 'Hca 1 "H-%d"\n[1] "S-leaf%d"[1]\n\n' $i $i
		printf 'caguid=0x90%d0\nHca 1 "H-an%d" %s\n[1] "S-spine%d"[3]\n\n' \
			$i $i "$an" $i
	done >"$net"
	printf '0x90%d0 "sharp%d"\n' 1 1 2 2 >"$T/map"
	up <<<"node_name_map_name $T/map"
	logged 'IBF002.* 4 switches, 2 leaves, .*[(]0 not on leaves[)]'
	walk tables
	down
}

# opensm runs as root.  A user who may write to the dump directory must not be able to make opensm
# overwrite another file.
case_dump_follows_no_link() {
	gen '2;4,4;1,4;1,1' --seed 61
	local dump=opensm-dmodc-ca-order.dump
	mkdir "$T/dumps"
	echo precious >"$T/victim"
	ln -s "$T/victim" "$T/dumps/$dump.tmp"
	up <<<"dump_files_dir $T/dumps"
	until_lines 16 "$T/dumps/$dump"
	[[ $(<"$T/victim") == precious ]] || fail "$dump.tmp was followed"
	[[ ! -L $T/dumps/$dump ]] || fail "$(ls -l "$T/dumps")"
	not_logged IBF103
	down
}
