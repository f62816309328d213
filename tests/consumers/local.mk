# Tests with the programs that read our outputs.  make check does not run them, because
# these programs are large; scripts/test outputs does.
dist_noinst_SCRIPTS = tests/consumers/run
EXTRA_DIST += tests/consumers/report.sh tests/consumers/report.py \
	tests/consumers/dashboard.py tests/consumers/topology.py \
	tests/consumers/slurm.sh tests/consumers/ranks.sh tests/consumers/metrics.sh tests/consumers/topo.sh \
	tests/consumers/exports.sh tests/consumers/exports.py tests/consumers/smpi.sh tests/consumers/mpi.c
