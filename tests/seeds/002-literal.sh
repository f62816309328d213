# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Gliksberg et al. 2020, equations (3) and (4).  On trees without faults: how the load depends on
# the order of the port groups and on the index d of destinations.  On a damaged tree: how the load
# depends on the placement, that is, the rule by which an engine chooses a port.  GUIDs are random,
# because vendors do not assign GUIDs in the order of the tree.

# load NET LFTS: print the flows on the most loaded link: in shifts (mean, maximum), and in
# all-to-all.
load() {
	ibfattree load --lfts "$2" --sample "$sample" --permutations 0 \
		--bisections 0 --worst 0 --threads 1 "$1" | tr -d , | awk '
		/^all-to-all  / { all = $6 }
		/^shifts  / { mean = $5; most = $6 }
		END { print mean "," most "," all }'
}

trees=('3;6,6,6;1,6,6;1,1,1') sample=60
[[ -z $long ]] || trees=('648' '3;6,6,6;1,6,6;1,1,1' '3456') sample=200
{
	echo tree,groups,index,seed,shifts mean,shifts worst,all-to-all
	for t in "${trees[@]}"; do
		for seed in 1 2; do
			[[ $long || $seed == 1 ]] || continue
			ibfattree gen --random-guids --seed $seed "$t" >t.net
			for how in 'guid guid' 'plane guid' 'guid topology' \
				'plane topology'; do
				# shellcheck disable=SC2086
				"$build/closed" $how t.net >t.lft
				echo "${t//,/ },${how/ /,},$seed,$(load t.net t.lft)"
			done
			# t.lft: groups by plane, topological index
			ibfattree route --balance off --paths updown t.net 2>/dev/null >engine.lft
			diff t.lft engine.lft >>differences || :
		done
	done
} >"$out/002-literal.csv"

# a damaged tree, for each number of failed links
n_lost=(20)
[[ -z $long ]] || n_lost=(4 20)
t=${trees[-1]}
{
	echo 'tree,links lost,placement,shifts mean,shifts worst,all-to-all'
	for n in "${n_lost[@]}"; do
		ibfattree gen --random-guids --seed 1 "$t" >whole.net
		ibfattree gen --random-guids --seed 1 --drop-links "$n" "$t" >t.net
		for how in literal literal-planes even; do
			case $how in
			literal) "$build/closed" guid topology t.net ;;
			literal-planes) "$build/closed" plane topology t.net ;;
			even) ibfattree route --nominal whole.net --balance off t.net \
				2>/dev/null ;;
			esac >t.lft
			echo "${t//,/ },$n,$how,$(load t.net t.lft)"
		done
	done
} >"$out/002-damaged.csv"

# mean GROUPS INDEX: print column "shifts mean" for the last tree and seed 1.
mean() {
	awk -F, -v t="${trees[-1]//,/ }" -v g="$1" -v i="$2" '
	$1 == t && $2 == g && $3 == i && $4 == 1 { print $5; found = 1 }
	END { exit !found }' "$out/002-literal.csv"
}
damaged() {
	awk -F, -v how="$1" '$3 == how { v = $4; found = 1 }
	END { print v; exit !found }' "$out/002-damaged.csv"
}
claim 'complete trees: dmodc without the search has the entries of equations (3) and (4), groups by plane' \
	"$(wc -l <differences) == 0 && $(grep -c '^0x' engine.lft) > 1000"
claim 'groups by plane, topological index: no link carries two flows of a shift' \
	"$(mean plane topology) == 1"
claim 'groups by GUID (as published), topological index: shifts collide on three levels' \
	"$(mean guid topology) > 1.4"
claim 'index by GUID instead of the topological index: shifts collide far more' \
	"$(mean plane guid) > 2 && $(mean plane guid) > 1.3 * $(mean guid topology)"
claim 'damaged tree: the order by plane is not worse than that by GUID' \
	"$(damaged literal-planes) <= $(damaged literal)"
