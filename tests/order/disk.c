// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The files of the plugin.  The linker replaces (--wrap) the calls that make data durable.
 *
 * A power failure loses what was not flushed: of a file that was not flushed, the second half; and
 * a new name, if its directory was not flushed.  Both may also survive.
 *
 * Processes that were forked share the files.  So a process saves the files before it forks, and
 * restores them if the child has changed them.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "order/order.h"
#include <ftr/state.h>

#define FILES 16

struct blob {
	char name[256];
	char *data;
	size_t n;
};

/* ---- what is durable -------------------------------------------------------------- */

/* The last rename whose directory was not flushed, and the file that was flushed last. */
static struct {
	bool open;
	char from[256], to[256];
	bool flushed;		/* `from` was flushed before */
	struct blob old;	/* the file that had the name before; data NULL: none */
} renamed;
static char flushed[256];

static void read_file(const char *path, struct blob *b)
{
	FILE *in = fopen(path, "r");

	free(b->data);
	b->data = NULL;
	b->n = 0;
	if (!in)
		return;
	b->data = malloc(1 << 20);
	if (!b->data)
		abort();
	b->n = fread(b->data, 1, 1 << 20, in);
	fclose(in);
	b->data = realloc(b->data, b->n + 1);
}

static void write_file(const char *path, const struct blob *b, size_t n)
{
	FILE *out = fopen(path, "w");

	if (!out || fwrite(b->data, 1, n, out) != n || fclose(out))
		abort();
}

int __real_fsync(int fd);
int __wrap_fsync(int fd)
{
	char link[64], path[256];
	struct stat st;
	ssize_t n;

	world_syscall();
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || fstat(fd, &st))
		abort();
	path[n] = '\0';
	if (S_ISDIR(st.st_mode))
		renamed.open = false;
	else
		memcpy(flushed, path, sizeof(flushed));
	return 0;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
	int failed;

	world_syscall();
	read_file(to, &renamed.old);
	snprintf(renamed.from, sizeof(renamed.from), "%s", from);
	snprintf(renamed.to, sizeof(renamed.to), "%s", to);
	renamed.flushed = !strcmp(from, flushed);
	renamed.open = true;
	failed = __real_rename(from, to);
	world_syscall();
	return failed;
}

void disk_power_failure(void)
{
	struct blob now = { .data = NULL };

	if (!renamed.open)
		return;
	renamed.open = false;
	if (choose(2, 2, 0)) {
		say("the disk has the old name");
		if (renamed.old.data)
			write_file(renamed.to, &renamed.old, renamed.old.n);
		else
			unlink(renamed.to);
		return;
	}
	say("the disk has the new name");
	read_file(renamed.to, &now);
	if (!renamed.flushed)
		write_file(renamed.to, &now, now.n / 2);
	free(now.data);
}

/* ---- the directory ------------------------------------------------------------------ */

static uint64_t *generation;	/* shared: grows when a file changes */
static struct blob saved[FILES];
static unsigned int n_saved;
static uint64_t saved_at;

enum ftr_status __real_ftr_file_replace(const char *path, ftr_file_fill fill, const void *ctx,
					struct ftr_err *err);
enum ftr_status __wrap_ftr_file_replace(const char *path, ftr_file_fill fill, const void *ctx,
					struct ftr_err *err)
{
	enum ftr_status st;

	if (generation)
		++*generation;
	world_syscall();
	st = __real_ftr_file_replace(path, fill, ctx, err);
	if (generation)
		++*generation;
	if (!st && renamed.open)
		violated("%s was replaced, but a power failure can undo this", path);
	return st;
}

enum ftr_status __real_ftr_file_append(const char *path, const char *text, size_t len,
				       struct ftr_err *err);
enum ftr_status __wrap_ftr_file_append(const char *path, const char *text, size_t len,
				       struct ftr_err *err)
{
	(void)path;	/* events and metrics are not looked at */
	(void)text;
	(void)len;
	(void)err;
	return FTR_OK;
}

void disk_save(void)
{
	DIR *dir;
	struct dirent *e;

	if (!generation)
		generation = mmap(NULL, sizeof(*generation), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (n_saved && saved_at == *generation)
		return;
	saved_at = *generation;
	n_saved = 0;
	dir = opendir(world.h->dir);
	while (dir && (e = readdir(dir)) && n_saved < FILES) {
		struct blob *b = &saved[n_saved];
		char path[600];

		if (*e->d_name == '.')
			continue;
		snprintf(b->name, sizeof(b->name), "%s", e->d_name);
		snprintf(path, sizeof(path), "%s/%s", world.h->dir, e->d_name);
		read_file(path, b);
		n_saved++;
	}
	closedir(dir);
}

void disk_remove(const char *name)
{
	DIR *dir = opendir(name);
	struct dirent *e;
	char path[600];

	while (dir && (e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", name, e->d_name);
		if (*e->d_name != '.')
			unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(name);
}

static const struct blob *saved_file(const char *name)
{
	for (unsigned int i = 0; i < n_saved; i++)
		if (!strcmp(saved[i].name, name))
			return &saved[i];
	return NULL;
}

static char *path_of(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", world.h->dir, name) < 0)
		abort();
	return path;
}

/* Files that have not changed are left alone: this process may have opened them. */
void disk_restore(void)
{
	uint64_t now = *generation;
	struct blob b = { .data = NULL };
	struct dirent *e;
	DIR *dir;

	if (saved_at == now)
		return;
	dir = opendir(world.h->dir);
	while (dir && (e = readdir(dir))) {
		char *path = path_of(e->d_name);

		if (*e->d_name != '.' && !saved_file(e->d_name))
			unlink(path);
		free(path);
	}
	closedir(dir);
	for (unsigned int i = 0; i < n_saved; i++) {
		char *path = path_of(saved[i].name);

		read_file(path, &b);
		if (!b.data || b.n != saved[i].n || memcmp(b.data, saved[i].data, b.n))
			write_file(path, &saved[i], saved[i].n);
		free(path);
	}
	free(b.data);
	saved_at = now;
}

void disk_check(void)
{
	DIR *dir = opendir(world.h->dir);
	struct dirent *e;
	char path[600];
	struct ftr_state s;
	struct ftr_err err = { 0 };

	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "ibfattree-state-", 16) || strstr(e->d_name, ".tmp"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", world.h->dir, e->d_name);
		if (ftr_state_read(path, true, NULL, &s, &err))
			violated("a state file is not complete: %s", err.msg);
		ftr_state_clear(&s);
	}
	closedir(dir);
}
