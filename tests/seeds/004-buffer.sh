# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012: the effect of the size of input buffers, which the paper does not give.
# All hosts send uniform traffic.  The tree has enough links, so any loss of throughput is due to
# the switches.  Only the number of packets that fit into a buffer matters.  Without delays of
# links and switches, with packets of 512 bytes, or with 4x EDR links, the throughput is nearly the
# same.  If no two flows share a link (a shift), room for two packets is enough.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

if [[ $long ]]; then
	shape=648 rooms=(2 3 4 6 8 12 16 25 32)
else
	shape='2;8,16;1,8;1,1' rooms=(2 4 8 25)
fi
ibfattree gen "$shape" -o "$T/edr.net"
cp "$T/edr.net" "$T/ddr.net"
ddr "$T/ddr.net"

# carried NET PACKETS BYTES OPTION...: print the throughput of the hosts.  A buffer has room
# for PACKETS packets of BYTES bytes.
carried() {
	local ns=$((200000 * $3 / 2048))
	[[ $1 == ddr ]] || ns=$((ns * 16 / 100))
	ibfattree sim "$T/$1.net" --packet "$3" --buffer $(($2 * $3)) \
		--warmup "${ns}ns" --duration "$((2 * ns))ns" "${@:4}" --json \
		>"$T/result.json"
	hosts
}

still=(--cable-delay 0ns --switch-delay 0ns)
echo 'room in packets,4x DDR,4x DDR no delays,4x DDR 512 bytes,4x EDR,4x DDR fifo,4x DDR shift' \
	>"$out/004-buffer.csv"
for n in "${rooms[@]}"; do
	echo "$n,$(carried ddr "$n" 2048),$(carried ddr "$n" 2048 "${still[@]}"),$(carried ddr "$n" 512),$(carried edr "$n" 2048),$(carried ddr "$n" 2048 --queues fifo),$(carried ddr "$n" 2048 --pattern shift --shift 9)"
done >>"$out/004-buffer.csv"
plot 004-buffer 'Uniform traffic, by the room of an input' \
	'room of a VL, packets' 'hosts, per cent of capacity'

v() { at 004-buffer "$1" "$2"; }
claim 'buffers of 4 packets: uniform traffic loses 10 % or more of its throughput' \
	"$(v 4 '4x DDR') < 90 && $(v 25 '4x DDR') > 95"
claim 'buffers of 4 packets: without delays throughput differs by less than 2 points' \
	"($(v 4 '4x DDR') - $(v 4 '4x DDR no delays')) ^ 2 < 4"
claim 'buffers of 4 packets: a shift, whose flows share no link, loses less than 1 %' "$(v 4 '4x DDR shift') > 99"
claim 'with one queue per VL the throughput is far lower, even with 25 packets' \
	"$(v 25 '4x DDR fifo') < $(v 25 '4x DDR') - 20"
