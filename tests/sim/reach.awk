# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Counts the LIDs that the tables of the switches do not reach, from the output of stock tools:
# awk -v manager=LID [-v loops=1] -f reach.awk IBNETDISCOVER DUMP_FTS
#
# Follows the paths from every switch to every LID of a host port, and to the subnet manager.
# A switch with host ports counts once for each of them.  With loops=1, also searches for
# cycles in the channel dependency graph of all packets between host ports, on one VL.
function quoted(s, n) { split(s, q, "\""); return q[n] }
function number(s,    n) {	# hexadecimal; mawk has no strtonum
	for (s = substr(s, 3); s != ""; s = substr(s, 2))
		n = n * 16 + index("0123456789abcdef", substr(s, 1, 1)) - 1
	return n
}

FNR == 1 { file++ }
file == 1 && /^(Switch|Ca|Rt)[ \t]/ {
	node = quoted($0, 2)
	is_switch = /^Switch/
	if (is_switch) {
		match($0, / lid [0-9]+/)
		switches[node] = substr($0, RSTART + 5, RLENGTH - 5)
		sw_of[substr(node, 3)] = node
	}
	next
}
file == 1 && /^\[/ {
	port = $0
	sub(/^\[/, "", port)
	sub(/\].*/, "", port)
	far = quoted($0, 2)
	if (is_switch)
		peer[node, port + 0] = far
	else {
		match($0, /# lid [0-9]+ lmc [0-9]/)
		split(substr($0, RSTART, RLENGTH), a, " ")
		split(quoted($0, 3), p, /[][]/)
		for (lid = a[3] + 0; lid < a[3] + 2 ^ a[5]; lid++) {
			home[lid] = far
			last[lid] = p[2] + 0
			host_lid[lid]
		}
		hosts[far]++
	}
	next
}
file == 2 && /^Unicast lids/ {
	match($0, /guid 0x[0-9a-f]+/)
	at = sw_of[substr($0, RSTART + 7, RLENGTH - 7)]
	n_tables++
	next
}
file == 2 && /^0x[0-9a-f]+ [0-9]+/ { lft[at, number($1)] = $2 + 0 }

# True if a packet for lid in switch s arrives.  said[] caches results for this LID.
function arrives(s, lid,    t, path, n, i, ok) {
	ok = -1
	for (t = s; ok < 0; t = peer[t, lft[t, lid]]) {
		if (t in said)
			ok = said[t]
		else if (t in path || !((t, lid) in lft) || !(t in switches))
			ok = 0
		else if (t == home[lid])
			ok = lft[t, lid] == last[lid]
		path[t] = 1
	}
	for (t in path)
		if (!(t in said))
			said[t] = ok
	return ok
}

# Add the channel dependencies of the packets for lid from switch s.
function depend(s, lid,    t, from, to) {
	for (; s != home[lid] && !(s in followed); s = t) {
		followed[s]
		from = s SUBSEP lft[s, lid]
		t = peer[from]
		if (t == home[lid])
			return
		to = t SUBSEP lft[t, lid]
		if ((from, to) in depends)
			continue
		depends[from, to]
		after[from, ++n_after[from]] = to
		before[to]++
		before[from] += 0
	}
}

# The number of channels on cycles, or reached from cycles.  Channels on which no other channel
# depends are removed repeatedly, and the rest is counted (Kahn 1962).
function on_cycles(    c, n, i, left) {
	for (c in before) {
		left++
		if (!before[c])
			free[++n] = c
	}
	for (; n; left--) {
		c = free[n--]
		for (i = 1; i <= n_after[c]; i++)
			if (!--before[after[c, i]])
				free[++n] = after[c, i]
	}
	return left
}

END {
	for (s in switches)
		n_switches++
	if (n_tables != n_switches || !n_switches) {
		printf "%d tables of %d switches\n", n_tables, n_switches
		exit 2
	}
	for (s in switches)	# its own port 0
		if (switches[s] == manager) {
			home[manager] = s
			last[manager] = 0
		}
	for (lid in home) {
		delete said
		for (s in switches) {
			ok = arrives(s, lid)
			dumb += lid == manager && !ok
			if (lid in host_lid) {
				lost += ok ? 0 : hosts[s]
				pairs += hosts[s] - (s == home[lid])
			}
		}
		if (!loops || !(lid in host_lid))
			continue
		delete followed
		for (s in hosts)
			if (said[s])
				depend(s, lid)
	}
	if (!(manager in home))
		dumb = n_switches
	printf "%d pairs of host ports, %d unreachable; %d switches, %d do not reach LID %d\n", \
		pairs, lost, n_switches, dumb, manager
	cyclic = loops ? on_cycles() : 0
	if (loops)
		printf "%d channels on or behind a cycle of dependencies\n", cyclic
	exit lost || dumb || cyclic
}
