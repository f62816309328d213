// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The node of test_doctor.py: functions that replace those of libibumad and libibverbs.  Variables of
 * the environment set the faults of the adapter and its port; without them the node is sound.
 */
#include "config.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

static unsigned long long value(const char *variable, unsigned long long sound)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 0) : sound;
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	if (max)
		strcpy(cas[0], "mlx5_0");
	return (int)value("NODE_ADAPTERS", 1);
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	memset(ca, 0, sizeof(*ca));
	strcpy(ca->ca_name, name);
	strcpy(ca->ca_type, "MT4123");
	strcpy(ca->fw_ver, "20.1");
	ca->numports = 2;
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	return ca->numports == 2 ? 0 : -1;
}

int umad_get_port(const char *name, int portnum, umad_port_t *port)
{
	const char *layer = getenv("NODE_LAYER");

	(void)name;
	(void)portnum;
	*port = (umad_port_t){ .ca_name = "mlx5_0", .portnum = 1, .rate = 100, .base_lid = 7,
			       .sm_lid = 8 };
	port->state = (unsigned int)value("NODE_STATE", 4);
	port->gid_prefix = htobe64(value("NODE_PREFIX", 0xfe80000000000000));
	strcpy(port->link_layer, layer ? layer : "InfiniBand");
	return value("NODE_ADAPTERS", 1) ? 0 : -ENODEV;
}

int umad_release_port(umad_port_t *port)
{
	return port->sm_lid == 8 ? 0 : -1;
}

int umad_open_port(const char *name, int portnum)
{
	(void)name;
	(void)portnum;
	errno = (int)value("NODE_OPEN_ERROR", 0);
	return errno ? -errno : 3;
}

int umad_close_port(int port)
{
	return port == 3 ? 0 : -1;
}

#ifdef HAVE_IBVERBS

#include <infiniband/verbs.h>

#undef ibv_query_port

static struct ibv_device device;

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device *list[] = { &device, NULL };

	*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	(void)list;
}

const char *ibv_get_device_name(struct ibv_device *x)
{
	return x == &device ? "mlx5_0" : "another";
}

struct ibv_context *ibv_open_device(struct ibv_device *x)
{
	static struct ibv_context context;

	context.device = x;
	return &context;
}

int ibv_close_device(struct ibv_context *context)
{
	return context->device == &device ? 0 : -1;
}

int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	const struct ibv_port_attr a = { .max_mtu = IBV_MTU_4096, .link_layer = 1,
		.active_mtu = (enum ibv_mtu)value("NODE_MTU", IBV_MTU_4096) };

	/* programs that are compiled now have a longer structure than the function of old programs */
	memcpy(attr, &a, offsetof(struct ibv_port_attr, port_cap_flags2));
	return context->device == &device && port == 1 ? 0 : EINVAL;
}

#endif
