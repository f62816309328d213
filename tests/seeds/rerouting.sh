# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Functions for the scripts that repeat experiments of Sem-Jacobsen et al. 2006 and 2011.  Units are
# those of the papers: packets of 256 bytes, cycles of 512 ns (rerouting.c).

# rerouting ARGUMENT...: print a row of CSV for each run.
rerouting() { "$build/rerouting" "$@"; }

# tree K,N: write the K-ary N-tree, with links of 2 Gbit/s, to K-ary-N-tree.net.
tree() {
	ibfattree gen "kary:$1" | sed 's/4xEDR/1xSDR/' \
		>"${1/,/-ary-}-tree.net"
}

# table EXPRESSION [KEEP]: turn rows of runs on standard input into a table.  Its rows are the
# numbers of faults, its columns the schemes.  A cell is the mean of EXPRESSION over the runs for
# which KEEP is true; it is empty if there are none.  EXPRESSION and KEEP are awk expressions, in
# which the names of columns stand for their values.
table() {
	awk -F, '
	NR == 1 || $1 ~ /^scheme/ { next }
	{
		scheme = $1; faults = $2; joined = $4; accepted = $5
		latency = $6; wire = $7; queue = $8; no_way = $9
		stuck = $10 != ""; stuck_at = $10; hops = $11; tier = $12
		if (!(scheme in place)) { place[scheme] = ++n; name[n] = scheme }
		if (!(faults in seen)) { seen[faults] = 1; x[++m] = faults }
		if ('"${2:-1}"') {
			sum[faults, scheme] += '"$1"'
			rows[faults, scheme]++
		}
	}
	END {
		printf "faults"
		for (i = 1; i <= n; i++) printf ",%s", name[i]
		for (k = 1; k <= m; k++) {
			printf "\n%s", x[k]
			for (i = 1; i <= n; i++) {
				r = rows[x[k], name[i]]
				printf ",%s", r ? sprintf("%.5g", sum[x[k], name[i]] / r) : ""
			}
		}
		print ""
	}'
}

# paper CSV COLUMN X=VALUE...: add a curve with values from the text of the paper.
paper() {
	local csv=$1 column=$2
	shift 2
	awk -F, -v column="$column" -v points="$*" '
	BEGIN {
		n = split(points, p, " ")
		for (i = 1; i <= n; i++) { split(p[i], q, "="); at[q[1]] = q[2] }
	}
	{ print $0 "," (NR == 1 ? "paper " column : at[$1]) }' \
		"$out/$csv.csv" >"$out/$csv.new"
	mv "$out/$csv.new" "$out/$csv.csv"
}
