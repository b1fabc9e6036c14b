# The measurements of docs/benchmarks*.md: every bench in turn, tables on standard output, JSON in bench/out.

# run_bench [quick]: quick takes about two minutes. Its filters and counts are at most a fifth as large, and
# its ratios are rough.
run_bench() {
  local bin=build/bench/bench out=bench/out
  local filter=() urls=() logs=() loads=() billion=() fpr=() file=() threads=() kernels=() php=()
  local counting=() quotient=() c=() frozen=() scalable=() window=() module=() kind_files=()
  if [[ ${1:-} == quick ]]; then
    filter=(--keys 20000000 --repetitions 3 --sections blocked cached)
    urls=(--lines 2000000 --rounds 1)
    logs=(--lines 500000 --rounds 1)
    loads=(--lines 1000000 --addresses 1000000 --rounds 1 --piped 2000000)
    billion=(--keys 100000000)
    fpr=(--filters 8 --false-positives 100 --rates 0.01 0.001 0.0001)
    file=(--keys 5000000 --repetitions 1)
    kind_files=(--keys 500000 --repetitions 3)
    threads=(--keys 5000000 --repetitions 3)
    module=(--quick)
    kernels=(--keys 5000000 --repetitions 3)
    php=(--keys 500000)
    c=(--keys 100000 5000000 --repetitions 3)
    counting=(--keys 10000000 --repetitions 3)
    quotient=(--keys 250000 4000000 --growing 4000000 --repetitions 3 --without-churn)
    scalable=(--keys 10000000 1000000 --growth 2 8 --asked 1000000 --repetitions 3)
    window=(--keys 5000000 --repetitions 3)
    frozen=(--keys 5000000 --asked 1000000 --repetitions 3)
  elif [[ $# != 0 ]]; then
    fail "bench takes 'quick' or nothing, not '$1'"
  fi
  need build bench
  build bench
  mkdir -p "$out"
  "$bin/filter_bench_native" "${filter[@]}" --json "$out/filter_native.json"
  "$bin/filter_bench" "${filter[@]}" --json "$out/filter.json"
  bench/urls/dedup_bench.py build/bench "${urls[@]}" --directory "$out" --json "$out/dedup.json"
  bench/urls/logs_bench.py build/bench "${logs[@]}" --directory "$out" --json "$out/logs.json"
  bench/urls/load_bench.py build/bench "${loads[@]}" --directory "$out" --json "$out/load.json"
  "$bin/billion_bench" "${billion[@]}" --json "$out/billion.json"
  "$bin/fpr_bench" "${fpr[@]}" --json "$out/rates.json"
  "$bin/file_bench" "${file[@]}" --directory "$out" --json "$out/file.json"
  "$bin/kind_files_bench" "${kind_files[@]}" --directory "$out" --json "$out/kind_files.json"
  "$bin/concurrency_bench" "${threads[@]}" --json "$out/concurrency.json"
  "$bin/threads_bench" "${threads[@]}" --json "$out/threads.json"
  bench/redis/redis_bench.py build/bench/bloomery.so --floor build/bench/floor.so "${module[@]}" --json "$out/module.json"
  "$bin/c_bench" "${c[@]}" --json "$out/c.json"
  "$bin/kernels_bench" "${kernels[@]}" --json "$out/kernels.json"
  "$bin/highway_bench" --json "$out/highway.json"
  "$bin/counting_bench" "${counting[@]}" --json "$out/counting.json"
  "$bin/quotient_bench" "${quotient[@]}" --json "$out/quotient.json"
  "$bin/scalable_bench" "${scalable[@]}" --json "$out/scalable.json"
  "$bin/window_bench" "${window[@]}" --json "$out/window.json"
  "$bin/frozen_bench" "${frozen[@]}" --json "$out/frozen.json"
  . tools/run.sh
  make_urls "$out/index_urls"
  "$bin/redis_bench" --json "$out/redis.json"
  "$bin/cluster_bench" --module build/bench/bloomery.so --json "$out/cluster.json"
  "$bin/php_bench" --urls "$out/index_urls" "${php[@]}" --json "$out/php.json"
}
