# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Prints a netfile: a 648-port switch with racks as in Bogdanski et al. 2012, section 7.2.3.
# Each rack has two switches of 36 ports, like the Sun Blade 6048 module that the paper cites.
# A rack switch has 12 hosts, 15 upward links in five bundles of three, and nine horizontal links
# to the other switch of the rack.  Both switches connect to the same five leaf chips of the large
# switch.  The 21 racks use 35 of its 36 leaf chips, which have 18 external ports each.
function sw(n) { return sprintf("S-020001%06d0000", n) }
function host(n) { return sprintf("H-020000%06d0000", n) }
function cable(a, p, b, q) {
	line[a] = line[a] sprintf("[%d]\t\"%s\"[%d]\n", p, b, q)
	line[b] = line[b] sprintf("[%d]\t\"%s\"[%d]\n", q, a, p)
}
function node(key, type, ports, id, name) {
	printf "%s=0x%s\n%s\t%d \"%s\"\t\t# \"%s\"\n%s\n", key, substr(id, 3), \
		type, ports, id, name, line[id]
}
BEGIN {
	racks = 21
	for (l = 0; l < 36; l++)
		for (s = 0; s < 18; s++)
			cable(sw(100 + l), 19 + s, sw(200 + s), 1 + l)
	for (u = 0; u < racks; u++)
		for (h = 0; h < 2; h++) {
			r = 2 * u + h
			for (i = 0; i < 12; i++)
				cable(host(12 * r + i), 1, sw(r), 1 + i)
			for (j = 0; j < 5; j++)
				for (i = 0; i < 3; i++)
					cable(sw(r), 13 + 3 * j + i, \
						sw(100 + (5 * u + j) % 36), \
						1 + 6 * int((5 * u + j) / 36) + 3 * h + i)
			for (i = 0; h == 0 && i < 9; i++)
				cable(sw(r), 28 + i, sw(r + 1), 28 + i)
		}
	for (r = 0; r < 2 * racks; r++)
		node("switchguid", "Switch", 36, sw(r), "sw-1-" r)
	for (l = 0; l < 36; l++)
		node("switchguid", "Switch", 36, sw(100 + l), "sw-2-" l)
	for (s = 0; s < 18; s++)
		node("switchguid", "Switch", 36, sw(200 + s), "sw-3-" s)
	for (i = 0; i < 24 * racks; i++)
		node("caguid", "Ca", 1, host(i), "host-" i)
}
