// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the time per management packet, in microseconds.  Usage: time_mads [N [WINDOW]]
 *
 * Sends N Gets (default 2000) to the switch at the first port of this host, by directed route.
 * Each Get reads block 0 of the linear forwarding table.  First the program waits for each answer
 * before it sends the next Get.  Then it allows WINDOW (default 64) unanswered Gets.  Both loops
 * run TIMES times, and the least mean is printed, because other processes can only increase the
 * mean.  In ibsim, the writing of a block takes at least this time (tests/perf/ibsim_bound).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#define TIMES 20

static int port, agent;
static void *buf;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "time_mads: %s failed\n", what);
	exit(2);
}

static void send_get(unsigned int tid)
{
	ib_portid_t to = { .drpath = { .cnt = 1, .p = { 0, 1 },
				       .drslid = 0xffff, .drdlid = 0xffff } };
	ib_rpc_t rpc = {
		.mgtclass = IB_SMI_DIRECT_CLASS, .method = IB_MAD_METHOD_GET,
		.attr = { .id = IB_ATTR_LINEARFORWTBL }, .timeout = 1000,
		.datasz = IB_SMP_DATA_SIZE, .dataoffs = IB_SMP_DATA_OFFS, .trid = tid,
	};

	memset(buf, 0, umad_size() + IB_MAD_SIZE);
	must(mad_build_pkt(buf, &rpc, &to, NULL, NULL) >= 0, "mad_build_pkt");
	must(umad_send(port, agent, buf, IB_MAD_SIZE, 1000, 0) >= 0, "umad_send");
}

static double loop(unsigned int n, unsigned int window)
{
	unsigned int sent = 0;
	double t0 = now();

	for (unsigned int done = 0; done < n; done++) {
		int len = IB_MAD_SIZE;

		for (; sent < n && sent - done < window; sent++)
			send_get(sent + 1);
		must(umad_recv(port, buf, &len, 10000) >= 0, "umad_recv");
		must(!umad_status(buf), "a Get");
	}
	return (now() - t0) / n;
}

static void least(unsigned int n, unsigned int window)
{
	double best = loop(n, window);

	for (int i = 1; i < TIMES; i++) {
		double t = loop(n, window);

		if (t < best)
			best = t;
	}
	printf("%u packets, %u at a time: %.1f us each, least of %d\n", n, window, best,
	       TIMES);
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 2000;
	unsigned int window = argc > 2 ? (unsigned int)atoi(argv[2]) : 64;

	must(umad_init() >= 0, "umad_init");
	port = umad_open_port(NULL, 0);
	must(port >= 0, "umad_open_port");
	agent = umad_register(port, IB_SMI_DIRECT_CLASS, 1, 0, NULL);
	must(agent >= 0, "umad_register");
	buf = umad_alloc(1, umad_size() + IB_MAD_SIZE);
	must(buf != NULL, "umad_alloc");
	least(n, 1);
	least(n, window);
	umad_free(buf);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
