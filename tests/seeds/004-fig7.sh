# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, figure 7: the effect of the switches' traffic on the hosts of the
# 648-port switch.  (a) Hosts and switches share one VL.  (b) The hosts have a VL of their own.
# The two VLs have the same weight, and each has the buffer size of the single VL in (a).
#
# All values are percentages of the rate of a host's link.  Port 0 of a switch has an eighth of this
# rate, so at its full rate it has 12.5 %.
# The text of the paper gives the ends of its curves: hosts lose 1 percentage point in (a), and
# have 64 % at the right end of (b).  Table III has 91.94 % at the right end of (a).
#
# 004-fig7-why examines (b).

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

engines=(ftree dmodc sftree)
if [[ $long ]]; then
	shape=648 loads=(0 10 40 80 100)
else
	shape='2;8,16;1,8;1,1' loads=(0 10 80 100)
fi
own=(--vls 2 --host-sl 1)

tree "$shape"
figure 004-fig7a 'All on one VL' '' 91.94
figure 004-fig7b 'Hosts on a VL of their own' '' 64 "${own[@]}"

a() { at 004-fig7a "$1" "$2"; }
b() { at 004-fig7b "$1" "$2"; }
for e in ftree sftree; do
	claim "$e: at a tenth of the load switches cost hosts less than 1 point, on one VL or two" \
		"$(a 10 "$e hosts") > $(a 0 "$e hosts") - 1 && $(b 10 "$e hosts") > $(b 0 "$e hosts") - 1"
	claim "$e: at four fifths of the load, on one VL, switches cost hosts at most 2 points" \
		"$(a 80 "$e hosts") > $(a 0 "$e hosts") - 2"
	claim "$e: switches have at least the same throughput if hosts have a VL of their own" \
		"$(b 100 "$e ports 0") >= $(a 100 "$e ports 0") - 0.2"
done
claim 'sftree carries more traffic of switches than ftree, which uses the first upward port' \
	"$(a 80 'sftree ports 0') > 1.05 * $(a 80 'ftree ports 0')"
