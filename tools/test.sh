# Everything that is tried before a change is believed, phase after phase; builds run beside them by day.
#
# A failed phase does not keep the others from running. The logs are in build/logs. The last
# line sums all phases in ctest's own words.
. tools/lint.sh
. tools/fuzz.sh
. tools/cross.sh
. tools/web.sh

tests=0 failures=0 report=()
seconds_a_test=1200  # after these it is taken to hang
declare -A begun=()

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
  if [[ -z $nightly ]]; then
    # Tests wait for servers, for a browser and for each other: what is tried next is built beside them.
    # A sanitizer makes everything 5 to 20 times as slow, its compiler too: what is long only because
    # it draws many samples or starts many processes is left to the night.
    phase "release build" build_tests release
    begin "asan build" build_tests asan -DBLOOMERY_LONG_TESTS=OFF
    try release
    phase page test_page
    finish "asan build"
    begin "tsan build" build_threads
    try asan
    phase "fuzz, 3 s each" run_fuzz 3
    finish "tsan build"
    try tsan -L threads
  else
    export BLOOMERY_NIGHTLY=1
    seconds_a_test=14400
    suite release
    phase page test_page
    suite asan
    suite tsan
    suite clang
    phase "fuzz, 600 s each" run_fuzz 600
    phase clang-tidy check_tidy
    cross_phases
  fi
  summary
}

# suite PRESET [CTEST_ARG...]: builds all tests of the preset, and runs them.
suite() {
  phase "$1 build" build_tests "$1" -DBLOOMERY_LONG_TESTS=ON -DBLOOMERY_TOOL=ON -DBLOOMERY_REDIS=ON \
    -DBLOOMERY_MODULE=ON
  try "$@"
}

# [only=TARGET] build_tests PRESET [CMAKE_ARG...]
build_tests() { build "$@" -DBLOOMERY_TESTS=ON $(fixed_addresses "$1"); }

# What ThreadSanitizer tries by day, and no more: the library's threads.
build_threads() {
  only=tests_with_threads build_tests tsan -DBLOOMERY_LONG_TESTS=OFF -DBLOOMERY_TOOL=OFF \
    -DBLOOMERY_REDIS=OFF -DBLOOMERY_MODULE=OFF
}

# try PRESET [CTEST_ARG...]: runs the tests of a preset that has been built.
try() {
  local preset=$1 start=$SECONDS log=build/logs/$1.log line status=0
  shift
  # One more than there are cores: many wait for a server.
  ctest --test-dir "build/$preset" -j "$(($(nproc) + 1))" --output-on-failure --no-tests=error \
    --timeout "$seconds_a_test" "$@" >"$log" 2>&1 || status=$?
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of' "$log") ||
    line="0% tests passed, 1 tests failed out of 1"
  [[ $line =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]
  failures=$((failures + BASH_REMATCH[1])) tests=$((tests + BASH_REMATCH[2]))
  [[ $status == 0 ]] || show_failures "$log"
  note "$preset" $((SECONDS - start)) "$line"
}

# phase NAME COMMAND...: one test, which passes when the command does.
phase() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" >"$(log_of "$name")" 2>&1 || status=$?
  judge "$name" $((SECONDS - start)) $status
}

# begin NAME COMMAND...: the same beside what follows, until `finish NAME`, whose seconds are those
# that were waited for it then.
begin() {
  local name=$1
  shift
  set -m  # a process group of its own, which ends with this program
  "$@" >"$(log_of "$name")" 2>&1 </dev/null &
  set +m
  begun[$name]=$!
  trap 'kill -- "${begun[@]/#/-}" 2>/dev/null || true' EXIT
}

finish() {
  local name=$1 start=$SECONDS status=0
  wait "${begun[$name]}" || status=$?
  unset "begun[$name]"
  judge "$name" $((SECONDS - start)) $status
}

log_of() { echo "build/logs/${1// /-}.log"; }

# judge NAME SECONDS STATUS
judge() {
  local result=passed
  tests=$((tests + 1))
  if [[ $3 != 0 ]]; then
    failures=$((failures + 1)) result="FAILED, all of it in $(log_of "$1")"
    tail -n 50 "$(log_of "$1")"
  fi
  note "$1" "$2" "$result"
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
