# Runs every fuzz target on hostile bytes for some seconds, as many targets at once as there are cores.

# run_fuzz SECONDS: seeds come from fuzz/corpus/TARGET; what libFuzzer learns stays in
# build/fuzz/corpus, so that the next run starts where this one stopped.
run_fuzz() {
  local seconds=$1 failed=0 lanes lane lane_pids=()
  lanes=$(nproc)
  only=fuzz_targets build asan || return
  [[ -n $(fuzz_targets) ]] || { echo "fuzz: there are no targets in build/asan/fuzz" >&2; return 1; }
  for ((lane = 0; lane < lanes; ++lane)); do
    fuzz_lane "$lane" "$lanes" "$seconds" &
    lane_pids+=($!)
  done
  for lane in "${lane_pids[@]}"; do wait "$lane" || failed=1; done
  return $failed
}

# fuzz_lane I OF SECONDS: every OF-th target from the I-th on.
fuzz_lane() {
  local index=0 failed=0 target
  for target in $(fuzz_targets); do
    ((index++ % $2 != $1)) || fuzz_one "$target" "$3" || failed=1
  done
  return $failed
}

fuzz_targets() { find build/asan/fuzz -maxdepth 1 -type f -executable | sort; }

fuzz_one() {
  local target=$1 seconds=$2 name corpus log
  name=$(basename "$target")
  corpus=build/fuzz/corpus/$name log=build/fuzz/$name.log
  mkdir -p "$corpus" build/fuzz/findings
  local seeds=()
  [[ -d fuzz/corpus/$name ]] && seeds=("fuzz/corpus/$name")
  if ! "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "$corpus" "${seeds[@]}" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "fuzz: $name FAILED; its input is in build/fuzz/findings" >&2
    return 1
  fi
  awk -v name="$name" '/stat::number_of_executed_units/ {print name ": " $2 " inputs, none failed"}' "$log"
}
