# tests/perf
