# Everything that is tried before a change is believed, phase after phase.
#
# A failed phase does not keep the others from running. The logs are in build/logs. The last
# line sums all phases in ctest's own words.
. tools/lint.sh
. tools/fuzz.sh
. tools/cross.sh
. tools/web.sh

tests=0 failures=0 report=()

run_tests() {
  local nightly=
  [[ ${1-} == --nightly ]] && nightly=1
  [[ $# == 0 || $nightly ]] || { echo "dev: test takes --nightly or nothing" >&2; return 2; }
  need build test example web browser ${nightly:+nightly}
  need_node
  mkdir -p build/logs
  phase layout check_format
  phase "page build" build_and_check_page
  phase "node-redis" fetch_packages tests/module
  export BLOOMERY_NODE_MODULES=$PWD/tests/module
  suite release
  phase page test_page
  if [[ -z $nightly ]]; then
    # A sanitizer makes everything 5 to 20 times as slow: what is long only because it draws
    # many samples stays out; what touches memory or threads stays in.
    suite asan -LE long
    phase "fuzz, 5 s each" run_fuzz 5
    only=tests_with_threads suite tsan -L threads
  else
    export BLOOMERY_NIGHTLY=1
    suite release
    suite asan
    suite tsan
    suite clang
    phase "fuzz, 600 s each" run_fuzz 600
    phase clang-tidy check_tidy
    cross_phases
  fi
  summary
}

# [only=TARGET] suite PRESET [CTEST_ARG...]: builds the preset, or that target of it, which is one
# test, and runs its tests.
suite() {
  local preset=$1 start log line status=0
  shift
  phase "$preset build" build "$preset" -DBLOOMERY_TESTS=ON $(fixed_addresses "$preset")
  start=$SECONDS log=build/logs/$preset.log
  ctest --test-dir "build/$preset" -j "$(nproc)" --output-on-failure --no-tests=error "$@" \
    >"$log" 2>&1 || status=$?
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of' "$log") ||
    line="0% tests passed, 1 tests failed out of 1"
  [[ $line =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]
  failures=$((failures + BASH_REMATCH[1])) tests=$((tests + BASH_REMATCH[2]))
  [[ $status == 0 ]] || show_failures "$log"
  note "$preset" $((SECONDS - start)) "$line"
}

# phase NAME COMMAND...: one test, which passes when the command does.
phase() {
  local name=$1 start=$SECONDS log=build/logs/${1// /-}.log result=passed
  shift
  tests=$((tests + 1))
  if ! "$@" >"$log" 2>&1; then
    failures=$((failures + 1)) result="FAILED, all of it in $log"
    tail -n 50 "$log"
  fi
  note "$name" $((SECONDS - start)) "$result"
}

build_and_check_page() { build_page && check_page; }

note() {
  report+=("$(printf '%-24s %5d s  %s' "$1" "$2" "$3")")
  echo "${report[-1]}"
}

# What ctest printed of the tests that failed, without the hundreds that passed.
show_failures() { grep -vE '^ *(Start|[0-9]+/[0-9]+ Test.* Passed)' "$1" | tail -n 200; }

# ThreadSanitizer's memory map does not fit every random layout of the address space.
fixed_addresses() {
  if [[ $1 == tsan ]] && setarch -R true 2>/dev/null; then
    echo "-DCMAKE_CROSSCOMPILING_EMULATOR=setarch;-R"
  fi
}

summary() {
  echo
  printf '%s\n' "${report[@]}"
  echo
  echo "$(((tests - failures) * 100 / tests))% tests passed, $failures tests failed out of $tests"
  [[ $failures == 0 ]]
}
