# The measurements of docs/benchmarks.md: every bench in turn, tables on stdout, JSON in bench/out.

# run_bench [quick]: quick takes under two minutes, with filters and counts a fifth as large or
# smaller; its ratios are rough.
run_bench() {
  local bin=build/bench/bench out=bench/out
  local filter=() kernels=() rates=() billion=() threads=()
  if [[ ${1:-} == quick ]]; then
    filter=(--keys 20000000 --repetitions 3 --sections line cached)
    kernels=(--keys 5000000 --repetitions 3)
    rates=(--filters 8 --false-positives 100 --rates 0.01 0.001 0.0001)
    billion=(--keys 100000000)
    threads=(--keys 5000000 --repetitions 3)
  elif [[ $# != 0 ]]; then
    echo "dev bench: '$1' is not known; ./dev bench or ./dev bench quick" >&2
    return 2
  fi
  "$bin/filter_bench" "${filter[@]}" --json "$out/filter.json"
  "$bin/filter_bench_native" "${filter[@]}" --json "$out/filter_native.json"
  "$bin/kernels_bench" "${kernels[@]}" --json "$out/kernels.json"
  "$bin/rates_bench" "${rates[@]}" --json "$out/rates.json"
  "$bin/concurrency_bench" "${threads[@]}" --json "$out/concurrency.json"
  "$bin/billion_bench" "${billion[@]}" --json "$out/billion.json"
}
