# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# Checks that the last 1,000 faults of a campaign added no memory, threads or files:
#
#	awk -f flat.awk DIR/memory/N
#
# tests/soak/run describes the columns.  The first fifth of the faults is ignored.  The highest
# values in the last 1,000 faults are compared with the highest values in the earlier faults.
# Single rounds are not compared: their numbers of failed links differ, and with these the size of
# temporary data.
#
# The tolerance is 4 % of the memory (less than 1 kB for each fault), two threads and two file
# descriptors.  A campaign of fewer than 2,000 faults is not judged.
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
