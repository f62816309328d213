dist_check_SCRIPTS += tests/campaign/run
TESTS += tests/campaign/run
