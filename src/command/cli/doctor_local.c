// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: checks this node's adapters and ports (as libibumad and libibverbs report
 * them), the installed opensm and plugin, and opensm.conf.
 *
 * The versions of opensm and of the plugin are read from their files, without
 * running them.  OpenSM compares the same two strings when it loads a plugin.  Even with equal
 * versions, opensm and the plugin may have been compiled with different data structures.  Only the
 * plugin checks this, inside opensm.  If the structures differ, it refuses to load (IBF220).
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/doctor.h"

/* ---- adapter and port -------------------------------------------------- */

#ifdef HAVE_IBMAD

#include <infiniband/umad.h>

#define CAS_MAX 32

/* Counts only adapters that can be queried: without any adapter, libibumad may return a made-up
 * name. */
static int adapters(char names[CAS_MAX][UMAD_CA_NAME_LEN])
{
	int n = umad_get_cas_names(names, CAS_MAX), found = 0;

	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		umad_release_ca(&ca);
		if (found != i)
			memcpy(names[found], names[i], sizeof(names[i]));
		found++;
	}
	return found;
}

void doc_adapter(struct doctor *d, struct doc_result *r)
{
	char names[CAS_MAX][UMAD_CA_NAME_LEN];
	int n = adapters(names);
	bool found = !d->o.in.from.ca;

	if (n <= 0) {
		doc_say(r, DOC_FAILURE, "the kernel shows no InfiniBand adapter");
		doc_remedy(r, "check \"lspci\" and load the adapter's module (mlx5_ib, for instance); on a node without an adapter, give dumps: ibfattree doctor FABRIC --lfts FILE");
		return;
	}
	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		found = found || !strcmp(names[i], d->o.in.from.ca);
		if (umad_get_ca(names[i], &ca) < 0) {
			doc_detail(r, "%s", names[i]);
			continue;
		}
		doc_detail(r, "%s: type=%s firmware=%s ports=%d", names[i],
			   ca.ca_type, ca.fw_ver, ca.numports);
		umad_release_ca(&ca);
	}
	doc_say(r, found ? DOC_OK : DOC_FAILURE, "%d adapter%s%s%s", n,
		n == 1 ? "" : "s", found ? "" : ", none of them ", found ? "" : d->o.in.from.ca);
	if (!found)
		doc_remedy(r, "give the name of one of the listed adapters with --ca");
}

/* If this node has no adapter, sets the verdict "not checked" and returns true. */
static bool no_adapter(struct doc_result *r)
{
	char names[CAS_MAX][UMAD_CA_NAME_LEN];
	bool none = adapters(names) <= 0;

	if (none)
		doc_say(r, DOC_NOT_CHECKED, "there is no adapter");
	return none;
}

/* Opens the port in the same way as the commands that read the fabric.  Returns 0 or errno. */
static int try_open(const struct doctor *d)
{
	int port;

	errno = 0;
	port = umad_open_port(d->o.in.from.ca, (int)d->o.in.from.port);
	if (port < 0)
		return errno ? errno : -port;
	umad_close_port(port);
	return 0;
}

static bool denied(int error)
{
	return error == EACCES || error == EPERM;
}

void doc_module(struct doctor *d, struct doc_result *r)
{
	int error;

	if (no_adapter(r))
		return;
	error = try_open(d);
	if (!error || denied(error)) {
		doc_say(r, DOC_OK, "ib_umad is loaded");
		return;
	}
	doc_say(r, DOC_FAILURE, "cannot open a management port: %s", strerror(error));
	doc_remedy(r, "run \"modprobe ib_umad\"; if that does not help, see check \"port\"");
}

void doc_permission(struct doctor *d, struct doc_result *r)
{
	int error;

	if (no_adapter(r))
		return;
	error = try_open(d);
	if (!error) {
		doc_say(r, DOC_OK, "management datagrams can be sent");
	} else if (denied(error)) {
		doc_say(r, DOC_FAILURE, "/dev/infiniband/umad*: %s", strerror(error));
		doc_remedy(r, "run as root, or give the user read and write access to /dev/infiniband/umad*");
	} else {
		doc_say(r, DOC_NOT_CHECKED, "no management port can be opened: %s",
			strerror(error));
	}
}

static const char *const port_states[] = {
	"no change", "Down", "Initialize", "Armed", "Active",
};

void doc_local_port(struct doctor *d, struct doc_result *r)
{
	umad_port_t p;
	const char *state;

	if (no_adapter(r))
		return;
	if (umad_get_port(d->o.in.from.ca, (int)d->o.in.from.port, &p) < 0) {
		doc_say(r, DOC_FAILURE, "no usable port: %s:%u",
			d->o.in.from.ca ? d->o.in.from.ca : "(any adapter)", d->o.in.from.port);
		doc_remedy(r, "see \"adapter\"; choose a port with --ca and --port");
		return;
	}
	state = p.state < 5 ? port_states[p.state] : "unknown";
	doc_say(r, DOC_OK, "%s port %d: state=%s link_layer=%s rate=%u Gb/s lid=%u sm_lid=%u",
		p.ca_name, p.portnum, state, p.link_layer, p.rate, p.base_lid, p.sm_lid);
	if (!strcmp(p.link_layer, "Ethernet")) {
		r->verdict = DOC_FAILURE;
		doc_remedy(r, "choose an InfiniBand port with --ca and --port");
	} else if (p.state == 2 || p.state == 3) {
		r->verdict = DOC_WARNING;
		doc_remedy(r, "no subnet manager has activated the port: start opensm, or find out why it does not reach this node");
	} else if (p.state != 4) {
		r->verdict = DOC_FAILURE;
		doc_remedy(r, "the port has no link: check the cable and the far end");
	}
	umad_release_port(&p);
}

/* ---- known faults of kernels and OpenSM -------------------------------- */

/* opensm 3.3.23 cannot register with the kernel's ib_umad (linux-rdma/opensm, issue 37). */
static void known_kernel(const struct doctor *d, struct doc_result *r)
{
	if (!strncmp(d->kernel, "6.11.", 5))
		doc_detail(r, "kernel %s: opensm does not start on kernels 6.11; use another one",
			   d->kernel);
}

/* With mlx5 adapters, newer kernels ignore the prefix that OpenSM sets (issue 36). */
static void known_prefix(const struct doctor *d, struct doc_result *r)
{
	umad_port_t p;
	uint64_t prefix;

	if (!d->conf.prefix || umad_get_port(d->o.in.from.ca, (int)d->o.in.from.port, &p) < 0)
		return;
	prefix = be64toh(p.gid_prefix);
	if (p.state == 4 && prefix != d->conf.prefix)
		doc_detail(r, "%s: subnet_prefix 0x%016" PRIx64 ", but port %d of %s has 0x%016" PRIx64 ": with mlx5 adapters, kernels from 6.1 on ignore it",
			   d->conf.path, d->conf.prefix, p.portnum, p.ca_name, prefix);
	umad_release_port(&p);
}

/* Returns the number of virtual functions of this adapter that are in use. */
static unsigned int virtual_functions(const struct doctor *d, const char *ca)
{
	unsigned int n = 0;
	char *path = NULL;
	FILE *f;

	if (asprintf(&path, "%s/%s/device/sriov_numvfs", d->sysfs, ca) < 0)
		return 0;
	f = fopen(path, "re");
	free(path);
	if (!f)
		return 0;
	if (fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* OpenSM does not know the virtual ports of ConnectX-4 and later (issue 22). */
static void known_sriov(const struct doctor *d, struct doc_result *r)
{
	char names[CAS_MAX][UMAD_CA_NAME_LEN];
	int n = adapters(names);

	for (int i = 0; i < n; i++) {
		unsigned int vf = virtual_functions(d, names[i]);

		if (vf && !strncmp(names[i], "mlx5", 4))
			doc_detail(r, "%s has %u virtual function%s: their ports stay down, because OpenSM supports SR-IOV only up to ConnectX-3",
				   names[i], vf, vf == 1 ? "" : "s");
	}
}

void doc_known_faults(struct doctor *d, struct doc_result *r)
{
	known_kernel(d, r);
	known_prefix(d, r);
	known_sriov(d, r);
	if (doc_clean(r, "no known fault of OpenSM or the kernel concerns this node"))
		return;
	doc_say(r, DOC_WARNING, "%u known fault%s of OpenSM or the kernel", r->n_details,
		r->n_details == 1 ? "" : "s");
	doc_remedy(r, "for the kernel: boot another one; for subnet_prefix: keep the default; for virtual functions: use none, or the subnet manager of NVIDIA");
}

#endif

#if defined(HAVE_IBMAD) && defined(HAVE_IBVERBS)

#include <infiniband/verbs.h>

static void compare_mtu(struct ibv_context *ctx, int port, struct doc_result *r)
{
	struct ibv_port_attr a;
	const char *name = ibv_get_device_name(ctx->device);

	if (ibv_query_port(ctx, (uint8_t)port, &a)) {
		doc_say(r, DOC_NOT_CHECKED, "libibverbs cannot query %s port %d", name, port);
		return;
	}
	doc_say(r, a.active_mtu < a.max_mtu ? DOC_WARNING : DOC_OK,
		"%s port %d: MTU %d bytes, the adapter supports %d bytes", name,
		port, 128 << a.active_mtu, 128 << a.max_mtu);
	if (a.active_mtu < a.max_mtu)
		doc_remedy(r, "set mtu=5 (4096 bytes) for the partition in partitions.conf if all switches support it");
}

void doc_mtu(struct doctor *d, struct doc_result *r)
{
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *ctx = NULL;
	umad_port_t p;

	if (!list || !n ||
	    umad_get_port(d->o.in.from.ca, (int)d->o.in.from.port, &p) < 0) {
		doc_say(r, DOC_NOT_CHECKED, "libibverbs shows no device (is ib_uverbs loaded?)");
		if (list)
			ibv_free_device_list(list);
		return;
	}
	for (int i = 0; i < n && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), p.ca_name))
			ctx = ibv_open_device(list[i]);
	if (ctx) {
		compare_mtu(ctx, p.portnum, r);
		ibv_close_device(ctx);
	} else {
		doc_say(r, DOC_NOT_CHECKED, "libibverbs cannot open %s", p.ca_name);
	}
	umad_release_port(&p);
	ibv_free_device_list(list);
}

#endif

/* ---- opensm and the plugin --------------------------------------------- */

bool doc_file_version(const char *path, char version[DOC_VERSION_MAX])
{
	static const char head[] = "OpenSM ";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *map, *p, *end;
	bool found = false;
	struct stat st;

	errno = fd < 0 ? errno : 0;
	if (fd < 0)
		return false;
	map = fstat(fd, &st) || !st.st_size ? MAP_FAILED :
	      mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	errno = 0;
	end = map + st.st_size;
	for (p = map; !found && (p = memmem(p, (size_t)(end - p), head,
					    sizeof(head) - 1)); p++) {
		const char *v = p + sizeof(head) - 1;
		size_t n = 0;

		while (v + n < end && n < DOC_VERSION_MAX - 1 &&
		       (isdigit((unsigned char)v[n]) || v[n] == '.'))
			n++;
		if (!n || v + n == end || v[n])
			continue;
		memcpy(version, v, n);
		version[n] = '\0';
		found = true;
	}
	munmap((void *)(uintptr_t)map, (size_t)st.st_size);
	return found;
}

/* Searches the colon-separated directories; returns the path of the first match. */
static char *find_file(const char *dirs, const char *name)
{
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");
		char *path = NULL;

		if (n && asprintf(&path, "%.*s/%s", (int)n, dirs, name) > 0 && !access(path, R_OK))
			return path;
		free(path);
		dirs += n + (dirs[n] == ':');
	}
	return NULL;
}

/* Approximates the search path of the dynamic linker. */
static char *find_plugin(void)
{
	static const char name[] = "libibfattree.so";
	char *path = find_file(getenv("LD_LIBRARY_PATH"), name);

	return path ? path :
	       find_file(FTR_LIBDIR ":/usr/local/lib:/usr/lib64:/usr/lib:/usr/lib/"
			 FTR_MULTIARCH, name);
}

char *doc_find_opensm(void)
{
	char *path = find_file("/usr/sbin:/usr/local/sbin:/sbin", "opensm");

	return path ? path : find_file(getenv("PATH"), "opensm");
}

static bool versions(struct doc_result *r, const char *opensm,
		     const char *plugin, char a[DOC_VERSION_MAX], char b[DOC_VERSION_MAX])
{
	if (!doc_file_version(opensm, a)) {
		doc_say(r, DOC_NOT_CHECKED, "%s: %s", opensm, errno ?
			strerror(errno) : "the file contains no OpenSM version");
		return false;
	}
	if (!doc_file_version(plugin, b)) {
		doc_say(r, DOC_FAILURE, "%s: %s", plugin, errno ?
			strerror(errno) : "the file contains no OpenSM version");
		doc_remedy(r, "install the package opensm-plugin-ibfattree again");
		return false;
	}
	return true;
}

void doc_plugin(struct doctor *d, struct doc_result *r)
{
	char *opensm = d->o.opensm ? strdup(d->o.opensm) : doc_find_opensm();
	char *plugin = d->o.plugin ? strdup(d->o.plugin) : find_plugin();
	char a[DOC_VERSION_MAX], b[DOC_VERSION_MAX];

	if (!opensm) {
		doc_say(r, DOC_NOT_CHECKED, "opensm is not installed on this node");
		doc_remedy(r, "run ibfattree doctor on the node of the subnet manager, or give the path of opensm with --opensm");
	} else if (!plugin) {
		doc_say(r, DOC_FAILURE, "libibfattree.so is not installed; opensm cannot load it");
		doc_remedy(r, "install the package opensm-plugin-ibfattree");
	} else if (versions(r, opensm, plugin, a, b)) {
		doc_detail(r, "%s: OpenSM %s", opensm, a);
		doc_detail(r, "%s: for OpenSM %s", plugin, b);
		if (!strcmp(a, b)) {
			doc_say(r, DOC_OK, "opensm is OpenSM %s, and the plugin is built for it (the plugin also compares data structures when it is loaded)",
				a);
		} else {
			doc_say(r, DOC_FAILURE, "opensm is OpenSM %s, the plugin is built for OpenSM %s; opensm does not load the plugin",
				a, b);
			doc_remedy(r, "install the package opensm-plugin-ibfattree that is built for OpenSM %s",
				   a);
		}
	}
	free(opensm);
	free(plugin);
}

/* ---- opensm.conf ------------------------------------------------------- */

static bool is_true(const char *value)
{
	return !strcasecmp(value, "TRUE") || !strcmp(value, "1");
}

static void keep(char **at, const char *value)
{
	free(*at);
	*at = strcasecmp(value, "(null)") ? strdup(value) : NULL;
}

/* value contains the options of all plugins.  Finds the word "ibfattree:PATH" in it, as
 * ibf_options_path() does, and keeps PATH, the plugin's option file. */
static void keep_options(struct doc_conf *c, const char *value)
{
	static const char word[] = "ibfattree:";
	const size_t head = sizeof(word) - 1;

	free(c->options);
	c->options = NULL;
	while (*value && !c->options) {
		size_t len = strcspn(value, " \t,");

		if (len > head && !strncmp(value, word, head))
			c->options = strndup(value + head, len - head);
		value += len;
		value += strspn(value, " \t,");
	}
}

/* Handles one line "key value".  If a key is repeated, the last value is used, as in OpenSM. */
static void take_line(struct doc_conf *c, const char *key, const char *value)
{
	const struct { const char *key; char **value; } text[] = {
		{ "event_plugin_name", &c->plugins }, { "routing_engine", &c->engines },
		{ "root_guid_file", &c->roots }, { "cn_guid_file", &c->cn },
		{ "io_guid_file", &c->io },
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		if (!strcmp(key, text[i].key))
			keep(text[i].value, value);
	if (!strcmp(key, "event_plugin_options"))
		keep_options(c, value);
	else if (!strcmp(key, "use_ucast_cache"))
		c->ucast_cache = is_true(value);
	else if (!strcmp(key, "qos"))
		c->qos = is_true(value);
	else if (!strcmp(key, "subnet_prefix"))
		c->prefix = strtoull(value, NULL, 0);
	else if (!strcmp(key, "sweep_interval"))
		c->no_sweep = !strcmp(value, "0");
}

void doc_read_conf(struct doctor *d)
{
	static const char *const usual[] = {
		"/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf", NULL
	};
	const char *path = d->o.conf;
	char line[4096];
	FILE *f = NULL;

	for (int i = 0; !path && usual[i]; i++)
		if (!access(usual[i], R_OK))
			path = usual[i];
	if (path)
		f = fopen(path, "re");
	if (!f)
		return;
	d->conf.path = strdup(path);
	while (fgets(line, sizeof(line), f)) {
		char *save, *key = strtok_r(line, " \t\r\n", &save);
		char *value = key ? strtok_r(NULL, "\r\n", &save) : NULL;

		if (!value || key[0] == '#')
			continue;
		value += strspn(value, " \t");
		for (size_t n = strlen(value); n && isspace((unsigned char)value[n - 1]); n--)
			value[n - 1] = '\0';
		take_line(&d->conf, key, value);
	}
	fclose(f);
	/* options of this command take precedence over opensm.conf */
	if (!d->o.in.roots)
		d->o.in.roots = d->conf.roots;
	if (!d->o.in.cn)
		d->o.in.cn = d->conf.cn;
	if (!d->o.in.io)
		d->o.in.io = d->conf.io;
}

void doc_free_conf(struct doc_conf *c)
{
	free(c->path);
	free(c->plugins);
	free(c->engines);
	free(c->roots);
	free(c->cn);
	free(c->io);
	free(c->options);
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, ", \t");

		if (n == len && !memcmp(list, word, n))
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

/* Returns the name of the first engine of ibfattree that is in the list; NULL: none.  With
 * second_vl, only engines that use a second VL are considered. */
static const char *our_engine(const char *list, bool second_vl)
{
	const struct ftr_engine_ops *e;

	for (unsigned int i = 0; (e = ftr_engine_at(i)); i++)
		if (has_word(list, e->name) && (e->sl2vl || !second_vl))
			return e->name;
	return NULL;
}

void doc_config(struct doctor *d, struct doc_result *r)
{
	const struct doc_conf *c = &d->conf;
	bool plugin = has_word(c->plugins, "ibfattree");
	bool engine = our_engine(c->engines, false);
	const char *second_vl = our_engine(c->engines, true);

	if (!c->path) {
		if (d->o.conf)
			doc_say(r, DOC_NOT_CHECKED, "%s cannot be read; opensm uses its defaults",
				d->o.conf);
		else
			doc_say(r, DOC_NOT_CHECKED, "opensm.conf is not in /etc/opensm or /etc/rdma, or cannot be read; opensm uses its defaults");
		return;
	}
	doc_say(r, DOC_OK, "%s: event_plugin_name=%s routing_engine=%s",
		c->path, c->plugins ? c->plugins : "(none)", c->engines ? c->engines : "(default)");
	if (plugin != engine)
		doc_detail(r, "%s", plugin ? "the plugin is loaded, but routing_engine names none of its engines" :
			   "routing_engine names an engine of the plugin, but event_plugin_name does not load the plugin");
	if (engine && c->ucast_cache)
		doc_detail(r, "use_ucast_cache TRUE: OpenSM may keep old tables after changes at leaf switches");
	if (engine && c->no_sweep)
		doc_detail(r, "sweep_interval 0: a change is never noticed if its trap is lost");
	if (second_vl && !c->qos)
		doc_detail(r, "routing_engine %s without \"qos TRUE\": repairs use one VL only",
			   second_vl);
	if (!r->n_details)
		return;
	r->verdict = plugin != engine ? DOC_FAILURE : DOC_WARNING;
	doc_remedy(r, "change %s, see the recommended lines below", c->path);
}
