# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# A fabric of about 4,000 hosts and 1,400 switches in which every level is
# irregular, as an ibsim netfile.  It is synthetic; no real site has it.
#
#	awk -v seed=1 -v racks=580 -v missing=2.9 -v roots=f.roots -f chassis.awk >f.net
#	ibfattree route f.net --roots f.roots
#
# There are four ranks: edge, row, leaf chips, spine chips.  The parts are
# - two core chassis, each of 36 leaf chips and 18 spine chips; some leaf chips have hosts;
# - racks of two edge switches; ten racks are a row;
# - in each row one switch for each chassis, connected to two neighbouring leaf chips of it.
# Trunks have one to six links.  `missing` per cent of the links between switches are left out.
function rnd(n) { state = (state * 1103515245 + 12345) % 2147483648; return int(state / 65536) % n }
function add(s) {
	if (!(s in line))
		order[n_sw++] = s
}
function join(a, b, n) {
	while (n-- > 0) {
		if (rnd(1000) < missing * 10)
			continue
		add(a); add(b)
		line[a] = line[a] sprintf("[%d] \"%s\"[%d]\n", ++port[a], b, ++port[b])
		line[b] = line[b] sprintf("[%d] \"%s\"[%d]\n", port[b], a, port[a])
	}
}
function host(s) {
	add(s)
	h = sprintf("H-%04d", n_hosts++)
	line[s] = line[s] sprintf("[%d] \"%s\"[1]\n", ++port[s], h)
	ends[h] = sprintf("[1] \"%s\"[%d]\n", s, port[s])
}
BEGIN {
	state = seed ? seed : 1
	racks = racks ? racks : 580
	missing = missing == "" ? 2.9 : missing
	for (c = 0; c < 2; c++)
		for (i = 0; i < 36; i++)
			for (j = 0; j < 18; j++)
				join(sprintf("L-%d-%02d", c, i), sprintf("S-%d-%02d", c, j), 1 + (j % 3 == 0))
	for (r = 0; r < racks / 10; r++)
		for (c = 0; c < 2; c++) {
			m = sprintf("M-%02d-%d", r, c)
			chip = (r * 5 + c * 7) % 36
			join(m, sprintf("L-%d-%02d", c, chip), 4 + rnd(3))
			join(m, sprintf("L-%d-%02d", c, (chip + 1) % 36), 4 + rnd(3))
		}
	for (r = 0; r < racks; r++)
		for (e = 0; e < 2; e++) {
			s = sprintf("E-%03d-%d", r, e)
			row = int(r / 10)
			for (c = 0; c < 2; c++)
				join(s, sprintf("M-%02d-%d", row, c), 1 + (rnd(4) == 0))
			for (i = 3 + rnd(2); i > 0; i--)
				host(s)
		}
	for (c = 0; c < 2; c++)
		for (i = 0; i < 36; i += 6)
			for (k = 0; k < 4; k++)
				host(sprintf("L-%d-%02d", c, i))
	for (i = 0; i < n_sw; i++) {
		s = order[i]
		if (roots && s ~ /^S/)
			printf "0x%x\n", i + 4096 >roots
		printf "switchguid=0x%x\nSwitch %d \"%s\"\n%s\n", i + 4096, (port[s] > 36 ? 108 : 36), s, line[s]
	}
	for (i = 0; i < n_hosts; i++) {
		h = sprintf("H-%04d", i)
		printf "Hca 1 \"%s\"\n%s\n", h, ends[h]
	}
}
