# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2016
# Bogdanski et al. 2012, tables I and II: the patterns of HPCC's latency and bandwidth test
# between the 648 hosts.  Switches send nothing, or 25 MB/s each as in the paper.  The ring in
# order is a shift by one, the random ring a random permutation.  In PTRANS and FFT every host
# sends to all others in turn.
tree='2;6,12;1,6;1,1' us=200
[[ -z $long ]] || tree='2;18,36;1,18;1,1' us=150
ibfattree gen "$tree" | sed 's/4xEDR/4xDDR/' >t.net
"$build/published_sftree" t.net 2>/dev/null >t.lft
# run SWITCH-LOAD PATTERN...: simulate, and write t.json.  25 MB/s are 10 % of 1x SDR.
run() {
	local load=$1
	shift
	ibfattree sim --lfts t.lft --pattern "$@" --switch-load "$load" \
		--buffer 17792 --warmup 100us --duration ${us}us --json t.net \
		>t.json
}
{
	echo 'pattern,load %,off: % of capacity,on,difference %,off: ns,on,difference %'
	for p in 'shift --load 100' 'permutation --load 100' \
		'all-to-all --load 100' 'shift --load 5' 'permutation --load 5'; do
		row=
		for load in 0 10; do
			# shellcheck disable=SC2086
			run $load $p
			row+=" $(jsonq t.json hosts.accepted) $(jsonq t.json hosts.latency_ns.mean)"
		done
		echo "${p% --*} ${p##* } $row" | awk -v OFS=, '{
			print $1, $2, 100 * $3, 100 * $5,
				sprintf("%.2f", 100 * ($5 / $3 - 1)), $4, $6,
				sprintf("%.2f", 100 * ($6 / $4 - 1)) }'
	done
} >"$out/004-hpcc.csv"
# worst COLUMN WHERE: print the largest absolute value in the rows for which WHERE is true.
worst() {
	awk -F, "NR > 1 && ($2) { v = \$$1 < 0 ? -\$$1 : \$$1; if (v > w) w = v }
		END { print w + 0 }" "$out/004-hpcc.csv"
}
claim 'throughput of hosts: traffic of 25 MB/s from each switch changes it by less than 1 %' \
	"$(worst 5 1) < 1"
claim 'latency at a load of 5 %: the same traffic changes it by less than 5 %' "$(worst 8 '$2 == 5') < 5"
