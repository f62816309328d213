# The plugin under every order of events.
if HAVE_CHECK
if HAVE_OPENSM
check_PROGRAMS += tests/order/test_order
tests_order_test_order_SOURCES = tests/order/main.c tests/order/explore.c tests/order/world.c \
	tests/order/helper.c tests/order/judge.c \
	tests/order/disk.c tests/order/order.h tests/fake/fiber.c \
	tests/fake/fiber.h tests/fake/dispatch.c
tests_order_test_order_CPPFLAGS = $(FAKE_CPPFLAGS)
tests_order_test_order_CFLAGS = $(CHECK_TEST_CFLAGS) -Wno-missing-prototypes
tests_order_test_order_LDFLAGS = -Wl,--wrap=fsync -Wl,--wrap=rename \
	-Wl,--wrap=ftr_file_replace -Wl,--wrap=ftr_file_append -Wl,--wrap=ftr_team_new \
	-Wl,--wrap=pthread_create -Wl,--wrap=pthread_join -Wl,--wrap=pthread_mutex_lock \
	-Wl,--wrap=pthread_mutex_unlock -Wl,--wrap=pthread_rwlock_rdlock \
	-Wl,--wrap=pthread_rwlock_wrlock -Wl,--wrap=pthread_rwlock_tryrdlock \
	-Wl,--wrap=pthread_rwlock_trywrlock -Wl,--wrap=pthread_rwlock_unlock \
	-Wl,--wrap=pthread_cond_timedwait -Wl,--wrap=pthread_cond_broadcast
tests_order_test_order_LDADD = libftrtest.a $(FAKE_LDADD)
endif
endif
