/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An MPI program that measures communication patterns: mpi PATTERN BYTES [K].  Rank 0 prints the time
 * of the pattern in seconds.  The patterns are those of "ibfattree collective", written for MPI.
 *
 *	shift		BYTES to rank i + K; 10 times
 *	pairwise	all-to-all: BYTES to rank i + 1, then to i + 2, ...
 *	ring		all-reduce of BYTES as 2 (n - 1) steps
 *	doubling	all-reduce of BYTES with rank i xor 2^k
 *	halo		BYTES / 6 to each neighbour in a periodic grid of three dimensions
 *	allreduce	MPI_Allreduce of BYTES
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpi.h>

static int rank, n;
static char *out, *in;

static void exchange(int to, int from, int bytes)
{
	MPI_Sendrecv(out, bytes, MPI_CHAR, to, 0, in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void shifts(int bytes, int first, int last, int times)
{
	for (int k = first; k <= last; k++)
		for (int i = 0; i < times; i++)
			exchange((rank + k) % n, (rank - k + n) % n, bytes);
}

static void doubling(int bytes)
{
	int power = 1, rest, id;

	while (2 * power <= n)
		power *= 2;
	rest = n - power;
	id = rank < 2 * rest ? (rank % 2 ? rank / 2 : -1) : rank - rest;
	if (id < 0)
		MPI_Send(out, bytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD);
	else if (rank < 2 * rest)
		MPI_Recv(in, bytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int k = 1; id >= 0 && k < power; k *= 2) {
		int other = id ^ k;

		other = other < rest ? 2 * other + 1 : other + rest;
		exchange(other, other, bytes);
	}
	if (id < 0)
		MPI_Recv(in, bytes, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (rank < 2 * rest)
		MPI_Send(out, bytes, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD);
}

static int divisor(int x, double limit)
{
	int d = (int)(limit + 1e-6);

	while (x % d)
		d--;
	return d;
}

static void halo(int bytes)
{
	MPI_Request r[12];
	int k[3], stride = n, count = 0;

	k[2] = divisor(n, cbrt(n));
	k[1] = divisor(n / k[2], sqrt(n / k[2]));
	k[0] = n / k[2] / k[1];
	for (int d = 0; d < 3; d++) {
		stride /= k[d];
		for (int side = 1; side >= -1; side -= 2) {
			int at = rank / stride % k[d];
			int next = rank + ((at + side + k[d]) % k[d] - at) * stride;
			int last = rank + ((at - side + k[d]) % k[d] - at) * stride;

			MPI_Irecv(in, bytes / 6, MPI_CHAR, last, 0, MPI_COMM_WORLD, &r[count++]);
			MPI_Isend(out, bytes / 6, MPI_CHAR, next, 0, MPI_COMM_WORLD, &r[count++]);
		}
	}
	MPI_Waitall(count, r, MPI_STATUSES_IGNORE);
}

/* All ranks begin at the same time; after MPI_Barrier they would be up to one latency apart. */
static double begin(void)
{
	double now = MPI_Wtime(), most, wait;

	MPI_Allreduce(&now, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	wait = most + 0.5 - MPI_Wtime();
	nanosleep(&(struct timespec){ .tv_nsec = (long)(wait * 1e9) }, NULL);
	return most + 0.5;
}

int main(int argc, char **argv)
{
	int bytes = argc > 2 ? atoi(argv[2]) : 0, k = argc > 3 ? atoi(argv[3]) : 1;
	const char *pattern = argc > 1 ? argv[1] : "";
	double time, most;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	out = malloc((size_t)bytes + 1);
	in = malloc((size_t)bytes + 1);
	time = begin();
	if (!strcmp(pattern, "shift"))
		shifts(bytes, k, k, 10);
	else if (!strcmp(pattern, "pairwise"))
		shifts(bytes, 1, n - 1, 1);
	else if (!strcmp(pattern, "ring"))
		shifts(bytes / n, 1, 1, 2 * (n - 1));
	else if (!strcmp(pattern, "doubling"))
		doubling(bytes);
	else if (!strcmp(pattern, "halo"))
		halo(bytes);
	else if (!strcmp(pattern, "allreduce"))
		MPI_Allreduce(out, in, bytes, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	time = MPI_Wtime() - time;
	MPI_Reduce(&time, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("%.9f\n", most);
	free(out);
	free(in);
	MPI_Finalize();
	return 0;
}
