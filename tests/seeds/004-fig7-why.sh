# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, figure 7: possible causes of the values at the right ends of the
# curves.  Simulates faster ports 0, inputs that feed one output at a time, and other buffer
# sizes.  Then simulates figure 7 (a) on three levels.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

engines=(ftree dmodc sftree sftree+paper) loads=(0 10 100)
if [[ $long ]]; then
	shape=648 deep='3;18,6,6;1,6,6;1,3,3'
else
	shape='2;8,16;1,8;1,1' deep='3;6,3,3;1,3,3;1,2,2'
fi
own=(--vls 2 --host-sl 1)

tree "$shape"
# Throughput of the hosts at the right ends of the curves, where switches send at full load.  The
# tables are those of stock ftree.  Each row changes one option.
csv=$out/004-fig7-right-ends.csv
echo 'option,value,one VL,two VLs' >"$csv"
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
	right_ends --speedup 1
	right_ends --buffer 8192 51200
fi
# r RATE VLS: print the throughput with this rate of ports 0 and this number of VLs.
r() { awk -F, -v rate="$1" -v c="$2" '$1 == "switch-rate" && $2 == rate { print $(2 + c) }' "$csv"; }
claim 'ports 0 as fast as hosts: hosts lose far more if they have a VL of their own than on a common VL' \
	"$(r 16000 2) < $(r 16000 1) - 10"
claim 'mismatch: ports 0 at 1x SDR: with a VL of their own hosts lose at most 3 points more than on a common VL' \
	"$(r 2000 2) > $(r 2000 1) - 3"

# Part (a) on three levels, where far more pairs of switches have no up/down path.  sFtree routes
# all these pairs through one subtree.
tree "$deep"
figure 004-fig7c 'Three levels, all on one VL' '' 92.93
c() { at 004-fig7c "$1" "$2"; }
claim 'three levels: at a tenth of the load sftree costs hosts less than 1 point' \
	"$(c 10 'sftree hosts') > $(c 0 'sftree hosts') - 1"
claim 'three levels: at full load hosts lose more with sftree, which routes pairs that ftree omits' \
	"$(c 100 'sftree hosts') < $(c 100 'ftree hosts') - 2"

# Ports 0 receive at the speed of a link, but send no more than 1x SDR.
line='' head=''
for e in "${engines[@]}"; do
	head+="${head:+,}$e hosts,$e ports 0"
	traffic "$T/t" "$e" --switch-rate 16000 --switch-load 12.5
	line+="${line:+,}$(hosts),$(switches)"
done
printf '%s\n' "$head" "$line" >"$out/004-fig7-sinks.csv"
claim 'three levels, ports 0 that receive at the rate of a link: hosts lose at most 3 points with dmodc' \
	"$(cut -d , -f 3 <<<"$line") > $(c 0 'dmodc hosts') - 3"
