# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Reads a netfile (ibsim, ibnetdiscover).  Prints one line for each link whose lower switch has at
# least two upward links.  The fields of the line:
#	1	1 + rank of the upper switch
#	2	number of upward links of the lower switch
#	3, 4	ID and port of the lower switch
#	5, 6	ID and port of the upper switch
#	7, 8	name of the lower switch, name of the upper switch

function quoted(text, n,    part) {
	split(text, part, "\"")
	return part[2 * n]
}

/^Switch/ {
	self = quoted($0, 1)
	name[self] = quoted($0, 2)
	switches[self] = 1
	hosts[self] += 0
	next
}

/^[^[]/ { self = "" }

/^\[/ && self != "" {
	port = substr($0, 2) + 0
	far = quoted($0, 1)
	rest = $0
	sub(/^[^"]*"[^"]*"\[/, "", rest)
	if (far ~ /^S/) {
		n++
		from[n] = self; from_port[n] = port
		to[n] = far; to_port[n] = rest + 0
	} else if ($0 !~ /Aggregation Node/) {
		hosts[self]++
	}
}

END {
	for (s in switches)
		if (hosts[s] > most)
			most = hosts[s]
	for (s in switches)
		if (hosts[s] * 2 >= most && most)
			height[s] = 1
	for (level = 1; !done; level++) {
		done = 1
		for (i = 1; i <= n; i++)
			if (height[from[i]] == level && !height[to[i]]) {
				height[to[i]] = level + 1
				done = 0
			}
	}
	for (i = 1; i <= n; i++)
		if (height[to[i]] > height[from[i]])
			ways[from[i]]++
	for (i = 1; i <= n; i++)
		if (height[to[i]] > height[from[i]] && ways[from[i]] > 1)
			printf "%d\t%d\t%s\t%d\t%s\t%d\t%s\t%s\n",
				height[to[i]], ways[from[i]], from[i],
				from_port[i], to[i], to_port[i],
				name[from[i]], name[to[i]]
}
