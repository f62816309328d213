# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# The exports for simulators, read by exports.py.  The loads must be those of "ibfattree load".

case_exports() {
	local shape wanted got name
	for shape in "2;6,6;1,6;1,1 --drop-links 6 --seed 3" "3;3,2,4;1,2,2;1,1,2 --random-ports --seed 2" \
		"superpod:H100:1 --nodes 4"; do
		# shellcheck disable=SC2086	# a shape and its options
		"$ibfattree" gen $shape -o "$T/f.net"
		"$ibfattree" route "$T/f.net" -o "$T/f.lfts" 2>"$T/err"
		"$ibfattree" load "$T/f.net" --lfts "$T/f.lfts" --json >"$T/j"
		wanted=$(for name in max worst.sum; do "$build/jsonq" "$T/j" "results.0.$name"; done | xargs)
		for name in sst loggopsim links codes; do
			topo --export "$name" --lfts "$T/f.lfts" "$T/f.net" -o "$T/$name"
		done
		"$ibfattree" route "$T/f.net" -o "$T/f.lfts.gz" 2>"$T/err"
		topo --export sst --lfts "$T/f.lfts.gz" "$T/f.net" | cmp - "$T/sst"
		for name in "sst $T/sst" "loggopsim $T/loggopsim" "codes $T/codes $T/sst $T/f.net"; do
			# shellcheck disable=SC2086
			got=$(python3 "$here/exports.py" $name)
			[[ $got == "$wanted "* ]] || fail "$shape: ${name%% *}: $got, not $wanted"
		done
		wanted=$(for name in end_ports switches switch_cables; do
			"$build/jsonq" "$T/j" "fabric.$name"; done | xargs)
		got=$(python3 "$here/exports.py" links "$T/links")
		[[ $got == "$wanted "[14]00Gbps ]] || fail "$shape: links: $got, not $wanted"
		rm -r "$T/codes"
	done
	# bad input
	sed -i '/^0x0001 /d' "$T/f.lfts"
	! topo --export sst --lfts "$T/f.lfts" "$T/f.net" -o "$T/x" 2>"$T/err" || fail "no error"
	grep -q 'f.lfts: no path from S-.* to LID 1$' "$T/err" || fail "$(cat "$T/err")"
	[[ ! -e $T/x && ! -e $T/x.part ]] || fail "a file is left"
}
