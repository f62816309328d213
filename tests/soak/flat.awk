# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Did the last thousand faults of a campaign add nothing?  awk -f flat.awk DIR/memory/N
# (run has the columns).
#
# Compares the rounds of the last 1,000 faults with those after the first fifth and before
# them.  The number of links that are down, and with it the size of some temporary data,
# differs from round to round, so the highest values are compared, with a tolerance of 4 %
# (less than 1 kB for each fault).  Two threads and two files may exist for a moment.  A campaign
# of fewer than 2,000 faults is not judged.
{ n++; faults[n] = $1; live[n] = $3; threads[n] = $5; fds[n] = $6 }
function most(of, from, to,    i, m) {
	for (i = 1; i <= n; i++)
		if (faults[i] > from && faults[i] <= to && of[i] > m)
			m = of[i]
	return m + 0
}
END {
	end = faults[n]
	if (end < 2000) {
		print "not judged:", end, "faults"
		exit
	}
	from = end / 5
	till = end - 1000
	b = most(live, from, till)
	e = most(live, till, end)
	bt = most(threads, from, till)
	et = most(threads, till, end)
	bf = most(fds, from, till)
	ef = most(fds, till, end)
	printf "faults %d to %d: at most %d bytes allocated, %d threads, %d file descriptors; last 1,000: %d, %d, %d\n", \
		from, till, b, bt, bf, e, et, ef
	exit e > 1.04 * b || et > bt + 2 || ef > bf + 2
}
