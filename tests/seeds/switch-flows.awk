# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Arguments: NETFILE LFTS.  Follows the paths from port 0 of every switch to port 0 of every other
# switch.  Prints the number of pairs, the number without a path, and the flows on the most loaded
# direction of a link.
FNR == 1 { file++ }
file == 1 && /^Switch/ { split($0, q, "\""); at = q[2]; sw[++n] = at; next }
file == 1 && /^Ca/ { at = "" }
file == 1 && at && /^\[/ {
	split($0, q, "\"")
	p = $0
	sub(/^\[/, "", p)
	peer[at, p + 0] = q[2]
}
file == 2 && /^Unicast/ {
	match($0, /guid 0x[0-9a-f]+/)
	at = "S-" substr($0, RSTART + 7, RLENGTH - 7)
}
file == 2 && /^0x/ {
	port[at, $1] = $2 + 0
	if ($2 + 0 == 0) lid[at] = $1
}
END {
	for (i = 1; i <= n; i++)
		for (j = 1; j <= n; j++) {
			at = sw[i]
			to = lid[sw[j]]
			for (hops = 0; at != sw[j] && hops < 64; hops++) {
				if (!((at, to) in port) || port[at, to] == 255)
					break
				p = port[at, to]
				if (++flows[at, p] > most)
					most = flows[at, p]
				at = peer[at, p]
			}
			lost += at != sw[j]
		}
	print n * (n - 1), lost + 0, most + 0
}
