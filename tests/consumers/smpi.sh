# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# MPI programs run with SMPI of SimGrid on the routes of our tables, and take as long as closed
# formulas and "ibfattree collective" say.

smpi_start() {
	want smpicc smpirun
	[[ -e $build/ibfattree-smpi ]] || skip "built without --with-simgrid"
	smpicc -O1 "$here/mpi.c" -o "$T/mpi" -lm
}

smpi() { "$build/ibfattree-smpi" "$T/f.net" --lfts "$T/f.lfts" "$@"; }

# fabric SHAPE [OPTION...]: make $T/f.net and $T/f.lfts.
smpi_fabric() {
	"$ibfattree" gen "$@" -o "$T/f.net"
	"$ibfattree" route "$T/f.net" -o "$T/f.lfts" 2>"$T/err"
}

# near A B: A and B differ by less than 0.2 %.
near() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 0.002 * b && b - a < 0.002 * b) }' ||
		fail "$3: $1 s, not $2 s"
}

# level1 COLLECTIVE KEY [OPTION...]: print a number from "ibfattree collective".
level1() {
	"$ibfattree" collective "$T/f.net" --tables "$T/f.lfts" --collective "$1" --rails no \
		"${@:3}" --json >"$T/j"
	"$build/jsonq" "$T/j" "results.0.$2"
}

# A complete tree: a shift by a multiple of the hosts of a leaf has no contention.  4x EDR is
# 12.5 GB/s.
case_smpi_closed() {
	smpi_start
	smpi_fabric "2;4,4;1,4;1,1"
	near "$(smpi -- "$T/mpi" shift 1000000 4)" 810e-6 "10 shifts by 4"
	"$ibfattree" ranks "$T/f.net" --form ports -o "$T/order.gz"
	near "$(smpi --order "$T/order.gz" -- "$T/mpi" shift 1000000 4)" 810e-6 "compressed order"
	near "$(smpi --latency 500us -- "$T/mpi" shift 1000000 4)" 5800e-6 "latency"
	# all ranks of one leaf send through one link: a table with one way up
	awk '/^Unicast/ { leaf = /sw-1-/ } leaf && /^0x00(0[1-9]|10)/ && $2 > 4 { $2 = "005" } 1' \
		"$T/f.lfts" >"$T/one.lfts"
	mv "$T/one.lfts" "$T/f.lfts"
	near "$(smpi -- "$T/mpi" shift 1000000 4)" 3210e-6 "four flows on one link"
	# two adapters of a node: the same shift, but inside the nodes without a link
	smpi_fabric superpod:H100:1 --nodes 2
	near "$(smpi -- "$T/mpi" shift 1000000 8)" 210e-6 "from node to node"
	near "$(smpi -n 8 -- "$T/mpi" shift 1000000 1)" 10e-6 "inside a node"
}

# smpi_faster PATTERN COLLECTIVE N: the time is less than that of level 1, which makes every flow of a
# step wait for the last one, although ranks in different steps can also delay each other.  N: bytes per rank of the collective, divided by those of the pattern.
smpi_faster() {
	local x most
	x=$(smpi -- "$T/mpi" "$1" 100000)
	most=$(level1 "$2" seconds --size $((100000 * $3)))
	awk -v x="$x" -v most="$most" 'BEGIN { exit !(x < most && x > 0.8 * most) }' ||
		fail "$1: $x s, level 1: $most s"
}

# packets PATTERN COLLECTIVE SIZE LEAST MOST: the time of the packet simulator, divided by that of
# SMPI, is in this range.  Packets wait behind packets of other flows, so they are slower.
smpi_packets() {
	local x y
	level1 "$2" seconds --size "$3" --steps "$T/steps" >"$T/out"
	"$ibfattree" sim "$T/f.net" --lfts "$T/f.lfts" --pattern steps --steps "$T/steps" --json \
		--step-time 1us --cable-delay 0ns --switch-delay 0ns >"$T/j"
	x=$("$build/jsonq" "$T/j" runs.0.finish_us)
	y=$(smpi -- "$T/mpi" "$1" 368640)
	awk -v x="$x" -v y="$y" -v least="$4" -v most="$5" \
		'BEGIN { r = x / y / 1e6; exit !(least <= r && r <= most) }' ||
		fail "$1: packets $x us, SMPI $y s"
	echo "measured: $1: $x us by packets, $y s by SMPI"
}

# A damaged tree: equal times if all flows of a step end together; else SMPI is faster on this one.
case_smpi_collective() {
	local x y
	smpi_start
	smpi_fabric "2;6,6;1,6;1,1" --drop-links 6 --seed 3
	near "$(smpi -- "$T/mpi" halo 3600000)" "$(level1 halo seconds --size 3600000)" halo
	x=$(smpi -- "$T/mpi" ring 3600000)
	near "$x" "$(level1 all-reduce-ring seconds --size 3600000)" ring
	smpi_faster pairwise all-to-all-pairwise 36
	smpi_faster doubling all-reduce-doubling 1
	smpi_packets halo halo 368640 0.999 1.001
	smpi_packets ring all-reduce-ring 368640 0.98 1.002
	smpi_packets doubling all-reduce-doubling 368640 0.98 1.1
	smpi_packets pairwise all-to-all-pairwise $((368640 * 36)) 1 1.15
	# an order of ranks
	"$ibfattree" ranks "$T/f.net" --form ports | sort -R --random-source="$T/f.net" >"$T/order"
	near "$(smpi --order "$T/order" -- "$T/mpi" halo 3600000)" \
		"$(level1 halo seconds --size 3600000 --order "$T/order")" "random order"
	# algorithms of SimGrid's own collectives
	near "$(smpi --cfg smpi/allreduce:lr -- "$T/mpi" allreduce 3600000)" \
		"$(level1 all-reduce-ring seconds --size 3600000)" "MPI_Allreduce by a ring"
	x=$(smpi -n 32 --cfg smpi/allreduce:rdb -- "$T/mpi" allreduce 1000000)
	y=$(smpi -n 32 --cfg smpi/allreduce:lr -- "$T/mpi" allreduce 1000000)
	[[ $x != "$y" ]] || fail "smpi/allreduce has no effect"
}

# smpi_wrong TEXT WORD...: ibfattree-smpi refuses with this message.
smpi_wrong() {
	local text=$1 status=0
	shift
	smpi "$@" >"$T/out" 2>"$T/err" || status=$?
	((status == 2)) || fail "'$*' gives exit status $status"
	[[ $(cat "$T/err") == "ibfattree-smpi: $text" ]] || fail "'$*' says: $(cat "$T/err")"
}

case_smpi_wrong() {
	local rate
	smpi_start
	smpi_fabric "2;4,4;1,4;1,1"
	smpi_wrong "/bin/true is not an MPI program compiled with smpicc or smpicxx" -- /bin/true
	smpi_wrong "$here/mpi.c is not a program" -- "$here/mpi.c"
	smpi_wrong "17 ranks do not fit on 16 host ports" -n 17 -- "$T/mpi" shift 1
	smpi_wrong "--latency expects a time such as 1.5us, not '3'" --latency 3 -- "$T/mpi" shift 1
	smpi_wrong 'no program; it follows "--"' --
	echo 'node1' >"$T/order"
	smpi_wrong "$T/order:1: a LID 0x0000..0xffff and a name expected, not 'node1'" \
		--order "$T/order" -- "$T/mpi" shift 1
	printf '0x0001\ta\n0x0063\tb\n' >"$T/order"
	smpi_wrong "$T/f.net: no host port with a link has the LID 99" --order "$T/order" -- "$T/mpi" shift 1
	gzip -c "$T/order" | head -c 20 >"$T/order.gz"
	smpi_wrong "$T/order.gz: Compressed file ended before the end-of-stream marker was reached" \
		--order "$T/order.gz" -- "$T/mpi" shift 1
	for rate in -5 nan 0 inf x; do
		smpi_wrong "--rate expects a number above 0, not '$rate'" --rate "$rate" -- "$T/mpi" shift 1
	done
	smpi_wrong "0 ranks do not fit on 16 host ports" -n 0 -- "$T/mpi" shift 1
	# without ibfattree beside it or in PATH
	mkdir "$T/bin"
	cp "$build/ibfattree-smpi" "$build/ibfattree-simgrid.so" "$T/bin"
	ln -s "$(type -P smpirun)" "$T/bin"
	! env PATH="$T/bin" "$T/bin/ibfattree-smpi" "$T/f.net" --lfts "$T/f.lfts" -- "$T/mpi" 2>"$T/err" ||
		fail "no error without ibfattree"
	[[ $(cat "$T/err") == "ibfattree-smpi: cannot start ibfattree: No such file or directory" ]] ||
		fail "$(cat "$T/err")"
	! env PATH=/nowhere "$build/ibfattree-smpi" "$T/f.net" --lfts "$T/f.lfts" -- "$T/mpi" \
		2>"$T/err" || fail "no error without smpirun"
	[[ $(cat "$T/err") == "ibfattree-smpi: there is no smpirun; install SimGrid 3.32 (Debian 12: libsimgrid-dev)" ]] ||
		fail "$(cat "$T/err")"
	sed -i '/^0x0010 /d' "$T/f.lfts"
	smpi_wrong "$T/f.lfts: no path from LID 15 (\"host-14\") to LID 16 (\"host-15\")" \
		-- "$T/mpi" shift 1
}
