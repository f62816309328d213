# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Bogdanski et al. 2012, section 7.2.3: uniform traffic on larger trees "exhibits the same
# trends".  Hosts send at full rate.  Switches send nothing, or a tenth of 1x SDR.  The paper
# does not give the cabling; these trees are PGFTs of 36-port switches.
trees=('64 hosts=3;4,4,4;1,4,4;1,1,1') warm=100us time=100us
if [[ $long ]]; then
	trees=('3456-port=3456' 'JuRoPA-like=3;18,18,16;1,18,9;1,1,2')
	warm=100us time=50us
fi
{
	echo 'tree,engine,hosts alone %,hosts with switches %,difference %'
	for t in "${trees[@]}"; do
		ibfattree gen "${t#*=}" | sed 's/4xEDR/4xDDR/' >t.net
		for how in 'dmodc' 'sftree' 'sftree paper'; do
			[[ -z $long || $how != sftree ]] || continue
			row=
			tables=(--engine "${how% paper}")
			if [[ $how == *paper ]]; then
				"$build/published_sftree" t.net 2>/dev/null >t.lft
				tables=(--lfts t.lft)
			fi
			for load in 0 10; do
				ibfattree sim "${tables[@]}" --balance off \
					--switch-load $load --buffer 17792 \
					--warmup $warm --duration $time --json \
					t.net >t.json || (($? == 1))
				row+=" $(jsonq t.json hosts.accepted) $(jsonq t.json ports_0.accepted)"
			done
			# shellcheck disable=SC2086
			set -- $row
			echo "${t%=*},$how,$(awk "BEGIN {
				printf \"%.2f,%.2f,%.2f\", 100 * $1, 100 * $3,
					100 * ($3 / $1 - 1) }")"
		done
	done
} >"$out/004-large.csv"
claim 'switches at a tenth of their load cost hosts less than 1 point' \
	"$(awk -F, 'NR > 1 && ($5 < -1 || $3 < 50) { bad = 1 } END { print bad + 0 }' "$out/004-large.csv") == 0"
claim 'hosts alone carry more than 80 % of their capacity' \
	"$(awk -F, 'NR > 1 && $3 < 80 { bad = 1 } END { print bad + 0 }' "$out/004-large.csv") == 0"
