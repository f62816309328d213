# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Gliksberg et al. 2020, section 5: a PGFT of 8,490 nodes, with thousands of simultaneous
# changes.  The paper does not give its shape.  This PGFT has 1,056 switches of at most 36
# ports and 12,960 links between them.
shape='3;6,8,6;1,6,4;1,1,1' hosts=0 counts=(60)
[[ -z $long ]] || shape='3;18,24,20;1,18,12;1,1,1' hosts=150 counts=(1000 3000)
ibfattree gen "$shape" >whole.net
# row OPTIONS: route t.net on one thread with these options, check the tables, and print a row.  The
# time is the processor time of the command, which depends less on the load of the machine.
row() {
	local TIMEFORMAT=%U s
	# shellcheck disable=SC2086
	s=$({ time ibfattree route --nominal whole.net --threads 1 ${1#default} t.net \
		2>/dev/null >t.lft; } 2>&1)
	ibfattree check --lfts t.lft t.net >check.log || :
	grep -q '^credit loops  none' check.log
	awk -v head="$n,$1,$s" '
	/host port -> host port/ {
		gsub(",", ""); pairs = $7
		bad = /all arrive/ ? 0 : $9
	}
	/^missing entry/ { gsub(",", ""); gsub(";", ""); none = $3 }
	END { printf "%s,%s,%s,%s\n", head, pairs, bad, none + 0 }' check.log
}
{
	echo links lost,options,s,host port pairs,without a path,entries without a path
	for n in "${counts[@]}"; do
		ibfattree gen --drop-hosts $hosts --drop-links "$n" --seed 1 \
			"$shape" >t.net
		row default
		row '--balance off --paths updown'
	done
} >"$out/002-production.csv"
# The dividers of equation (3): without faults no link has more flows than the lower bound.
ibfattree route --balance off --paths updown whole.net >t.lft 2>/dev/null
ibfattree load --lfts t.lft --sample 1 --permutations 0 --bisections 0 whole.net >load.log
claim 'without faults the most loaded link carries at most 1.01 times the lower bound of all-to-all' \
	"$(awk '/^lower bound/ { print $(NF - 3) }' load.log) <= 1.01"
last=$(tail -n 1 "$out/002-production.csv")
IFS=, read -r lost _ _ pairs bad _ <<<"$last"
claim "$lost changes at once: at least 99 % of the pairs of hosts have a path" \
	"$pairs > 1000 && $bad <= 0.01 * $pairs"
