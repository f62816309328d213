// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program ibfattree-helper, which fails at the result number AT (from 1):
 *
 *	bad_helper MODE AT VALUE KIND SECONDS
 *
 * All results before are correct, and so are those after it, if the program has not ended.  VALUE:
 * for the modes that change the result, the position of a byte.
 */
#include <signal.h>
#include <time.h>

#define main helper_main
#include "helper/main.c"
#undef main

static const char *mode;
static unsigned long at, value, results;

enum ftr_status __real_ftr_out_fd(struct ftr_out *o, int fd, const char *name, const char *magic,
				  struct ftr_err *err);
enum ftr_status __wrap_ftr_out_fd(struct ftr_out *o, int fd, const char *name, const char *magic,
				  struct ftr_err *err);

static bool is(const char *name)
{
	return !strcmp(mode, name);
}

/* Use memory or CPU time, until a limit ends this, or the limits are evidently missing. */
static void use_memory(void)
{
	bool more = true;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	for (unsigned int mb = 0; more && mb < 16 * 1024; mb++) {
		void *volatile block = malloc(1 << 20);	/* volatile: clang leaves out unused blocks */

		more = block;
	}
#else
	more = false;
#endif
	if (!more)
		abort();
}

static void use_cpu(void)
{
	while (clock() < 10 * CLOCKS_PER_SEC)
		;
}

static void fail_before(struct ftr_out *o)
{
	if (is("crash")) {
		signal(SIGSEGV, SIG_DFL);	/* without a report of AddressSanitizer */
		raise(SIGSEGV);
	} else if (is("exit")) {
		_exit((int)value);
	} else if (is("stop")) {
		raise(SIGSTOP);
	} else if (is("memory")) {
		use_memory();
	} else if (is("spin")) {
		use_cpu();
	}
	if (is("change") && o->n)	/* the checksum is correct */
		o->at[value % o->n] ^= 1;
	if (is("error")) {
		o->n = 0;
		ftr_put_text(o, "out of \x01 luck");
	}
}

static void fail_after(int fd)
{
	char c = 0;

	if (is("empty") || is("cut"))
		(void)!ftruncate(fd, is("cut") ? lseek(fd, 0, SEEK_END) - 1 : 0);
	if (is("flip") && pread(fd, &c, 1, lseek(fd, 0, SEEK_END) - 1) == 1) {
		c ^= 1;
		(void)!pwrite(fd, &c, 1, lseek(fd, 0, SEEK_END) - 1);
	}
}

enum ftr_status __wrap_ftr_out_fd(struct ftr_out *o, int fd, const char *name, const char *magic,
				  struct ftr_err *err)
{
	bool fails = ++results == at;
	enum ftr_status st;

	if (fails)
		fail_before(o);
	st = __real_ftr_out_fd(o, fd, name, magic, err);
	if (fails)
		fail_after(fd);
	return st;
}

int main(int argc, char **argv)
{
	if (argc != 6)
		return 2;
	mode = argv[1];
	at = strtoul(argv[2], NULL, 10);
	value = strtoul(argv[3], NULL, 10);
	argv[3] = argv[0];
	return helper_main(3, argv + 3);
}
