# Hostile bytes for every fuzz target, for some seconds each.

# run_fuzz SECONDS: seeds come from fuzz/corpus/TARGET; what libFuzzer learns stays in
# build/fuzz/corpus, so that the next run starts where this one stopped.
run_fuzz() {
  local seconds=$1 target name failed=0
  build fuzz || return
  for target in $(fuzz_targets); do
    name=$(basename "$target")
    fuzz_one "$target" "$seconds" || { echo "fuzz: $name FAILED; its input is in build/fuzz/findings" >&2; failed=1; }
  done
  return $failed
}

fuzz_targets() { find build/fuzz/fuzz -maxdepth 1 -type f -executable | sort; }

fuzz_one() {
  local target=$1 seconds=$2 name corpus
  name=$(basename "$target")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus" build/fuzz/findings
  local seeds=()
  [[ -d fuzz/corpus/$name ]] && seeds=("fuzz/corpus/$name")
  "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "$corpus" "${seeds[@]}" \
    >"build/fuzz/$name.log" 2>&1 || { tail -n 40 "build/fuzz/$name.log" >&2; return 1; }
  awk -v name="$name" '/stat::number_of_executed_units/ {print name ": " $2 " inputs, none failed"}' \
    "build/fuzz/$name.log"
}
