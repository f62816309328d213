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

# exports_wrong TEXT OPTION...: the export fails with this message, and keeps the output file.
exports_wrong() {
	local text=$1 status=0
	shift
	echo before >"$T/x"
	topo "$@" -o "$T/x" 2>"$T/err" || status=$?
	((status == 2)) || fail "'$*' gives exit status $status: $(cat "$T/err")"
	[[ $(cat "$T/err") == "ibfattree: $text" ]] || fail "'$*' says: $(cat "$T/err"), not: $text"
	[[ $(cat "$T/x") == before && ! -e $T/x.part ]] || fail "'$*' leaves files"
}

case_exports_files() {
	local name end='Compressed file ended before the end-of-stream marker was reached'
	"$ibfattree" gen "2;4,4;1,4;1,1" -o "$T/f.net"
	"$ibfattree" route "$T/f.net" 2>"$T/err" >"$T/f.lfts"
	topo --export sst --lfts "$T/f.lfts" "$T/f.net" -o "$T/sst"
	# compressed input, and pipes
	gzip -k "$T/f.net"
	xz -k "$T/f.lfts"
	topo --export sst --lfts "$T/f.lfts.xz" "$T/f.net.gz" | cmp - "$T/sst"
	topo --export sst --lfts <(cat "$T/f.lfts.xz") /dev/stdin < <(cat "$T/f.net.gz") | cmp - "$T/sst"
	head -c 200 "$T/f.net.gz" >"$T/cut.gz"
	head -c 200 "$T/f.lfts.xz" >"$T/cut.xz"
	printf '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xff\xff\xff' >"$T/bad.gz"
	echo 'no switch' >"$T/none"
	exports_wrong "$T/cut.gz: $end" --export sst --lfts "$T/f.lfts" "$T/cut.gz"
	exports_wrong "$T/cut.gz: $end" --write "$T/cut.gz"
	exports_wrong "$T/cut.xz: $end" --export sst --lfts "$T/cut.xz" "$T/f.net"
	exports_wrong "$T/bad.gz: Error -3 while decompressing data: invalid block type" \
		--export sst --lfts "$T/bad.gz" "$T/f.net"
	printf '\x1f\x8b\x01\x00\x00\x00\x00\x00\x00\x03' >"$T/bad.gz"
	exports_wrong "$T/bad.gz: Unknown compression method" "$T/bad.gz"
	exports_wrong "$T/none: no \"Switch\" or \"Ca\" line: this is not a netfile or the output of ibnetdiscover" \
		--export sst --lfts "$T/f.lfts" "$T/none"
	# a pipe or a device remains one
	mkfifo "$T/pipe"
	cat "$T/pipe" >"$T/piped" &
	topo --export sst --lfts "$T/f.lfts" "$T/f.net" -o "$T/pipe"
	wait "$!"
	cmp "$T/piped" "$T/sst"
	[[ -p $T/pipe ]] || fail "the pipe was replaced"
	ln -s /dev/full "$T/full"
	! topo --export sst --lfts "$T/f.lfts" "$T/f.net" -o "$T/full" 2>"$T/err" || fail "no error"
	[[ -c $T/full && $(cat "$T/err") == "ibfattree: $T/full: cannot write: No space left on device" ]] ||
		fail "$(cat "$T/err")"
	# options without effect
	for name in write "guids x" "ibnl x"; do
		# shellcheck disable=SC2086	# an option and its value
		exports_wrong "topo: --export and --${name% *} exclude each other" \
			--export sst --lfts "$T/f.lfts" "$T/f.net" --$name
	done
	exports_wrong "topo: --write and --guids exclude each other" --write --guids x "$T/f.net"
}

# CODES knows hosts by the GUIDs of their adapters.
case_exports_codes_wrong() {
	cat >"$T/f.net" <<-'EOF'
	Switch 4 "S-0000000000000001" # "sw" base port 0 lid 3 lmc 0
	[1] "H-0000000000000010"[1](11) # "a" lid 1 4xEDR
	[2] "H-0000000000000010"[2](12) # "a" lid 2 4xEDR
	[3] "H-0000000000000020"[1](21) # "b" lid 4 4xEDR
	Ca 2 "H-0000000000000010" # "a"
	[1](11) "S-0000000000000001"[1] # lid 1 lmc 0 "sw" lid 3 4xEDR
	[2](12) "S-0000000000000001"[2] # lid 2 lmc 0 "sw" lid 3 4xEDR
	Ca 1 "H-0000000000000020" # "b"
	[1](21) "S-0000000000000001"[3] # lid 4 lmc 0 "sw" lid 3 4xEDR
	EOF
	printf 'Unicast lids [0x0-0x4] of switch Lid 3 guid 0x1 (sw):\n0x0001 001\n0x0002 002\n0x0004 003\n' \
		>"$T/f.lfts"
	exports_wrong "$T/f.net: 2 host ports have the node GUID 0x0000000000000010; CODES knows hosts by it" \
		--export codes --lfts "$T/f.lfts" "$T/f.net"
	topo --export loggopsim --lfts "$T/f.lfts" "$T/f.net" >"$T/out"
	grep -qx '  S0 -> H1 \[comment="H1"\];' "$T/out" || fail "$(cat "$T/out")"
	sed -i 's/H-0000000000000010/H-x/' "$T/f.net"
	exports_wrong "$T/f.net: 'H-x' has no GUID" --export codes --lfts "$T/f.lfts" "$T/f.net"
}
