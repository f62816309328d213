/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The node of test_doctor.c: functions that replace those of libibumad and libibverbs, and faults
 * of the adapter and its port.
 */
#ifndef TESTS_UNIT_DOCTOR_NODE_H
#define TESTS_UNIT_DOCTOR_NODE_H

#ifdef HAVE_IBMAD

#include <infiniband/umad.h>
#include <infiniband/verbs.h>

#undef ibv_query_port

/* The answers of the replaced functions of libibumad and libibverbs. */
static struct {
	int n_adapters;
	int open_error;		/* error of opening the management port; 0: none */
	umad_port_t port;
	bool verbs;		/* libibverbs knows the adapter */
	enum ibv_mtu mtu, max_mtu;
} node;

static struct ibv_device device;

static void sound_node(void)
{
	memset(&node, 0, sizeof(node));
	node.n_adapters = 1;
	node.port = (umad_port_t){ .ca_name = "mlx5_0", .portnum = 1,
				   .state = 4, .rate = 100, .base_lid = 1,
				   .link_layer = "InfiniBand" };
	node.verbs = true;
	node.mtu = node.max_mtu = IBV_MTU_4096;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	if (node.n_adapters && max)
		strcpy(cas[0], "mlx5_0");
	return node.n_adapters;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	(void)name;
	memset(ca, 0, sizeof(*ca));
	strcpy(ca->ca_type, "MT4123");
	ca->numports = 1;
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	(void)ca;
	return 0;
}

int umad_get_port(const char *name, int portnum, umad_port_t *port)
{
	(void)name;
	(void)portnum;
	*port = node.port;
	return node.n_adapters ? 0 : -ENODEV;
}

int umad_release_port(umad_port_t *port)
{
	(void)port;
	return 0;
}

int umad_open_port(const char *name, int portnum)
{
	(void)name;
	(void)portnum;
	errno = node.open_error;
	return node.open_error ? -node.open_error : 3;
}

int umad_close_port(int port)
{
	(void)port;
	return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device *list[] = { &device, NULL };

	*n = node.verbs;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *x)
{
	(void)x;
	return "mlx5_0";
}

struct ibv_context *ibv_open_device(struct ibv_device *x)
{
	/* without extended operations, ibv_query_port() calls the function below */
	static struct ibv_context ctx;

	ctx.device = x;
	return &ctx;
}

int ibv_close_device(struct ibv_context *ctx)
{
	(void)ctx;
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr a = { .active_mtu = node.mtu,
				   .max_mtu = node.max_mtu };

	(void)ctx;
	(void)port;
	memcpy(attr, &a, sizeof(a));
	return 0;
}

static void no_adapter(void)
{
	node.n_adapters = 0;
}

static void no_module(void)
{
	node.open_error = ENOENT;
}

static void no_permission(void)
{
	node.open_error = EACCES;
}

static void port_down(void)
{
	node.port.state = 1;
}

static void small_mtu(void)
{
	node.mtu = IBV_MTU_2048;
}

#else

static void sound_node(void)
{
}

#define no_adapter NULL
#define no_module NULL
#define no_permission NULL
#define port_down NULL
#define small_mtu NULL

#endif

#endif
