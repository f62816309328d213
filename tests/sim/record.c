// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library that is preloaded into opensm.  It records every acknowledged Set of a forwarding table
 * or of a port state, by OpenSM or by the plugin, in the order of acknowledgement.  A record is one
 * line of the file $FTR_RECORD:
 *
 *	lft|port <host> <ports of the directed route> : <attribute modifier> <64 bytes of data> <ms>
 *
 * The host is the node of this opensm ($SIM_HOST).  The ports are hexadecimal, separated by dots; "-" is
 * the host.  The file is opened for appending, so several processes may use it, and a script may append
 * lines of its own (tests/sim/replay.c).
 *
 * For each Set of a table, one byte of the file $FTR_RECORD.end is removed.  The process that removes the
 * last one gets SIGTERM.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/umad.h>

#define METHOD_SET 0x02
#define METHOD_GET_RESP 0x81
#define CLASS_DIRECTED 0x81
#define ATTR_PORT_INFO 0x0015
#define ATTR_LFT 0x0019
/* offsets in a directed-route SMP (IBA 14.2.1.2) */
enum { CLASS = 1, METHOD = 3, STATUS = 4, HOPS = 7, TID = 12, ATTR = 16, MODIFIER = 20, DATA = 64,
	PATH = 128 };

typedef int (*send_fn)(int fd, int agentid, void *umad, int length, int timeout_ms, int retries);
typedef int (*recv_fn)(int fd, void *umad, int *length, int timeout_ms);

/* OpenSM numbers its requests one after the other; far fewer than this number are open at a time. */
#define OPEN_MAX 65536
static uint32_t set_tid[OPEN_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int out = -1;

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int is_table_or_port(const uint8_t *mad)
{
	unsigned int attr = (unsigned int)mad[ATTR] << 8 | mad[ATTR + 1];

	return mad[CLASS] == CLASS_DIRECTED && (attr == ATTR_LFT || attr == ATTR_PORT_INFO);
}

static void record(const uint8_t *mad)
{
	char line[512];
	struct timespec now;
	int table = mad[ATTR + 1] == ATTR_LFT;
	struct stat end;
	int n = snprintf(line, sizeof(line), "%s %.64s ", table ? "lft" : "port",
			 getenv("SIM_HOST"));

	if (!mad[HOPS])
		n += snprintf(line + n, sizeof(line) - (size_t)n, "-");
	for (unsigned int i = 1; i <= mad[HOPS] && i < 64; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s%x", i > 1 ? "." : "",
			      mad[PATH + i]);
	n += snprintf(line + n, sizeof(line) - (size_t)n, " : %u ", be32(mad + MODIFIER));
	for (unsigned int i = 0; i < 64; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%02x", mad[DATA + i]);
	clock_gettime(CLOCK_MONOTONIC, &now);
	n += snprintf(line + n, sizeof(line) - (size_t)n, " %.3f\n",
		      (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
	if (write(out, line, (size_t)n) != n)
		abort();
	snprintf(line, sizeof(line), "%s.end", getenv("FTR_RECORD"));
	if (!table || stat(line, &end) || !end.st_size)
		return;
	if (truncate(line, end.st_size - 1))
		abort();
	if (end.st_size == 1)
		kill(getpid(), SIGTERM);
}

int umad_send(int fd, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	static send_fn next;
	const uint8_t *mad = umad_get_mad(umad);

	if (!next)
		next = (send_fn)dlsym(RTLD_NEXT, "umad_send");
	if (is_table_or_port(mad)) {
		uint32_t tid = be32(mad + TID);

		pthread_mutex_lock(&mutex);
		set_tid[tid % OPEN_MAX] = mad[METHOD] == METHOD_SET ? tid : 0;
		pthread_mutex_unlock(&mutex);
	}
	return next(fd, agentid, umad, length, timeout_ms, retries);
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	static recv_fn next;
	const uint8_t *mad = umad_get_mad(umad);
	int got;

	if (!next)
		next = (recv_fn)dlsym(RTLD_NEXT, "umad_recv");
	got = next(fd, umad, length, timeout_ms);
	if (got < 0 || umad_status(umad) || !is_table_or_port(mad) ||
	    mad[METHOD] != METHOD_GET_RESP || (mad[STATUS] & 0x7f) || mad[STATUS + 1])
		return got;
	pthread_mutex_lock(&mutex);
	if (out < 0 && getenv("FTR_RECORD"))
		out = open(getenv("FTR_RECORD"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (out >= 0 && set_tid[be32(mad + TID) % OPEN_MAX] == be32(mad + TID))
		record(mad);
	pthread_mutex_unlock(&mutex);
	return got;
}
