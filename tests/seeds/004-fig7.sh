# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Seed 004, figure 7: what switches' traffic costs the hosts of the 648-port
# switch, (a) on the same lane, (b) with the hosts on a lane of their own; both
# lanes have the same weight, and each the room that one has in (a).  All in per
# cent of what a host can send, so that a port 0 at full rate has 12.5.  Of the
# paper's curves the text tells the ends: hosts lose 1 point in (a), and have 64 at
# the right end of (b); table III has 91.94 at that of (a).
#
# Second, what makes (b) as it is: the same at the right end with faster ports 0,
# inputs that feed one output at a time, and other room (long version).

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

engines=(ftree dmodc sftree)
if [[ $long ]]; then
	shape=648 deep='3;18,6,6;1,6,6;1,3,3'
	loads=(0 10 20 40 60 80 100)
else
	shape='2;8,16;1,8;1,1' deep='3;6,3,3;1,3,3;1,2,2'
	loads=(0 10 80 100)
fi
own=(--vls 2 --host-sl 1)

# tree SHAPE: tables of all engines in $T/t.
tree() {
	rm -rf "$T/t"
	mkdir "$T/t"
	if [[ $1 == racks ]]; then
		awk -f "$here/racks.awk" >"$T/t.net"
	else
		ibfattree gen "$1" --no-lids -o "$T/t.net"
	fi
	roots "$T/t.net" >"$T/t/roots"
	stock "$T/t" "$T/t.net" ftree
	ours "$T/t" "$T/t/ftree.net" "${engines[@]:1}"
}

tree "$shape"

# Of a port 0's part to that of a host.
eighth() { awk "BEGIN { printf \"%.2f\", $(switches) / 8 }"; }

# figure NAME TITLE LEFT-END RIGHT-END OPTION...: the ends are the paper's.
figure() {
	local name=$1 start=$3 end=$4 load e line
	line='switch load %'
	for e in "${engines[@]}"; do
		line+=",$e hosts,$e ports 0"
	done
	echo "$line,paper sftree hosts" >"$out/$name.csv"
	for load in "${loads[@]}"; do
		line=$load
		for e in "${engines[@]}"; do
			traffic "$T/t" "$e" --switch-load "$load" "${@:5}"
			line+=",$(hosts),$(eighth)"
		done
		case $load in
		100) line+=",$end" ;;
		0) line+=",$start" ;;
		*) line+=, ;;
		esac
		echo "$line"
	done >>"$out/$name.csv"
	plot "$name" "$2" 'switches send, per cent of 1x SDR' \
		'per cent of 4x DDR'
}

figure 004-fig7a 'All on one lane' 92.94 91.94
figure 004-fig7b 'Hosts on a lane of their own' 92.94 64 "${own[@]}"

a() { at 004-fig7a "$1" "$2"; }
b() { at 004-fig7b "$1" "$2"; }
for e in ftree sftree; do
	claim "$e: at a tenth of the load switches cost hosts nothing, on one lane or two" \
		"$(a 10 "$e hosts") > $(a 0 "$e hosts") - 1 && $(b 10 "$e hosts") > $(b 0 "$e hosts") - 1"
	claim "$e: on one lane, at four fifths of it, they cost 2 points at most" \
		"$(a 80 "$e hosts") > $(a 0 "$e hosts") - 2"
	claim "$e: on a lane of their own, switches get no less than on one" \
		"$(b 100 "$e ports 0") >= $(a 100 "$e ports 0") - 0.2"
done
claim 'sftree carries more of the switches than the first port up' \
	"$(a 80 'sftree ports 0') > 1.05 * $(a 80 'ftree ports 0')"

# What stock ftree leaves the hosts at the right ends, by an option.
csv=$out/004-fig7-right-ends.csv
echo 'option,value,one lane,two lanes' >"$csv"
# right_ends OPTION VALUE...
right_ends() {
	local option=$1 v line
	shift
	for v; do
		line=${option#--},$v
		traffic "$T/t" ftree --switch-load 100 "$option" "$v"
		line+=,$(hosts)
		traffic "$T/t" ftree --switch-load 100 "$option" "$v" "${own[@]}"
		echo "$line,$(hosts)"
	done >>"$csv"
}

right_ends --switch-rate 2000 16000
if [[ $long ]]; then
	right_ends --switch-rate 8000 10000
	right_ends --speedup 1 3
	right_ends --buffer 8192 51200
	right_ends --switch-buffer 17792
fi
# r RATE LANES
r() { awk -F, -v rate="$1" -v c="$2" '$1 == "switch-rate" && $2 == rate { print $(2 + c) }' "$csv"; }
claim 'ports 0 as fast as hosts: on a lane of their own they take far more' \
	"$(r 16000 2) < $(r 16000 1) - 10"
claim 'at 1x SDR they do not' \
	"$(r 2000 2) > $(r 2000 1) - 3"

# The same of (a) on three levels, where far more pairs of switches have no way up
# and down, and all of them share the subtree.
engines+=(sftree+paper)
[[ ! $long ]] || loads=(0 10 40 100)
tree "$deep"
figure 004-fig7c 'Three levels, all on one lane' '' 92.93
c() { at 004-fig7c "$1" "$2"; }
claim 'three levels: at a tenth of the load sftree costs hosts nothing' \
	"$(c 10 'sftree hosts') > $(c 0 'sftree hosts') - 1"
claim 'three levels: at full load sftree has to pay for what ftree leaves out' \
	"$(c 100 'sftree hosts') < $(c 100 'ftree hosts') - 2"
