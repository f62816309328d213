# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Bogdanski et al. 2012, table IV: time to route, with and without paths between all switches.
# The paper does not give the cabling, so the trees are PGFTs.  The first one has the size of
# the paper's 648-port switch.  The others have fewer switches than the paper's trees: 696
# (paper: 720), 738 (864) and 756 (1440).  They have the paper's number of hosts, except for the
# Ranger-like system, for which the paper does not state the number of hosts.
trees=('648-port switch=2;18,36;1,18;1,1')
[[ -z $long ]] || trees+=('3456-port switch=3;18,12,16;1,18,12;1,1,1'
	'JuRoPA-like=3;18,18,16;1,18,9;1,1,2' 'Ranger-like=3;18,18,12;1,18,18;1,1,1')
# Print the time in ms that shape and tables take on one thread: the minimum of three runs.
ms() {
	for _ in 1 2 3; do
		"$@" 2>&1 >/dev/null
	done | awk '
	/shape .* ms, route/ {
		n = 0
		for (i = 1; i <= NF; i++)
			if ($i == "shape" || $i == "route") n += $(i + 1)
		if (!least || n < least) least = n
	}
	END { printf "%.1f", least }'
}
route=(ibfattree route t.net --balance off --threads 1)
{
	echo tree,hosts,switches,dmodc ms,sftree paper ms,sftree ms
	for t in "${trees[@]}"; do
		ibfattree gen "${t#*=}" >t.net
		echo "${t%=*},$(grep -c '^Ca\|^Hca' t.net),$(grep -c '^Switch' t.net),$(
			ms "${route[@]}" --engine dmodc --paths updown),$(
			ms "$build/published_sftree" t.net),$(
			ms "${route[@]}" --engine sftree)"
	done
} >"$out/004-table4.csv"
# The claim has no limit in seconds, because the script could exceed it on a busy machine.
claim 'every tree has 648, 3,456, 5,184 or 3,888 hosts, and all three engines route it' \
	"$(awk -F, 'NR > 1 { ok += ($2 ~ /^(648|3456|5184|3888)$/ && $4 > 0 && $5 > 0 && $6 > 0) }
		END { print NR - 1 - ok }' "$out/004-table4.csv") == 0"
