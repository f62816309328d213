# The processes of the plugin: the side of the plugin, and the program.
noinst_LIBRARIES += libhelper.a
libhelper_a_SOURCES = src/plugin/helper/helper.c src/plugin/helper/helper.h \
	src/plugin/helper/job.c src/plugin/helper/job.h src/plugin/helper/plan_job.c
libhelper_a_CPPFLAGS = $(AM_CPPFLAGS) -DHELPER_PROGRAM='"$(libexecdir)/ibfattree-helper"'
libhelper_a_CFLAGS = $(AM_CFLAGS) -fPIC -O2

if HAVE_OPENSM
libexec_PROGRAMS = ibfattree-helper
ibfattree_helper_SOURCES = src/plugin/helper/main.c
ibfattree_helper_LDADD = libhelper.a libftrcore.a
endif
