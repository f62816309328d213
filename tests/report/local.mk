dist_check_SCRIPTS += tests/report/test_report.py
TESTS += tests/report/test_report.py
