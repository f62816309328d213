# The programs that the outputs are for; not part of make check, for they are
# large: scripts/test consumers.
dist_noinst_SCRIPTS = tests/consumers/run
EXTRA_DIST += tests/consumers/report.sh tests/consumers/report.py \
	tests/consumers/slurm.sh tests/consumers/ranks.sh tests/consumers/metrics.sh
