# The measurements of docs/benchmarks.md.

run_bench() { build/bench/bench/bloomery_bench "$@"; }
