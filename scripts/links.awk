# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Reads a netfile (ibsim, ibnetdiscover).  Prints a line for each upward link of a switch with at
# least two upward links.  The fields: 1 + rank of the upper switch; number of upward links of the
# lower switch; ID and port of the lower switch; ID and port of the upper one; name of the lower
# switch; name of the upper one.

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
