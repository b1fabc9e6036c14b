# Runs the tests, phase after phase. In a whole run, the next build runs beside the tests of the previous one.
#
# A failed phase does not stop the others. The logs are in build/logs. The last line sums up all phases in
# ctest's own words.
. tools/lint.sh
. tools/fuzz.sh
. tools/cross.sh
. tools/web.sh
. tools/mutate.sh

tests=0 failures=0 report=()
seconds_a_test=1200  # a test that takes longer counts as hanging

run_tests() {
  case ${1-} in
    '' | quick | --nightly) ;;
    -*) fail "test takes 'quick', a pattern, --nightly or nothing, and not '$1'" ;;
  esac
  need build test example
  mkdir -p build/logs
  case ${1-} in
    '') test_everything ;;
    quick) test_quickly ;;
    --nightly) test_by_night ;;
    *) test_matching "$1" ;;
  esac
  summary
}

# The optimized build, and tests that finish in two minutes.
test_quickly() {
  phase "release build" build_tests release
  local chosen
  read -ra chosen <<<"$(tests_within build/release 120)"
  try release "${chosen[@]}"
}

# tests_within FOLDER SECONDS: the arguments with which ctest runs as many tests as take each core that long, the
# fastest first, by the times of their last runs. A test that never ran counts as an average one; if there is no room
# for all of these, they are some of every program.
tests_within() {
  echo -I "0,0,0$(ctest --test-dir "$1" -LE long -N | sed -nE 's/^ *Test +#([0-9]+): /\1 /p' |
    awk -v costs="$1/Testing/Temporary/CTestCostData.txt" '
      BEGIN {while ((getline <costs) > 0 && $0 != "---") cost[$1] = $3}
      # 0.04 is what ctest itself takes for a test.
      {print 0.04 + ($2 in cost ? cost[$2] : 0.25), $1 * 7919 % 10007, $1}' |
    sort -k1,1n -k2,2n | awk -v left="$(($2 * $(nproc)))" '(left -= $1) >= 0 {printf ",%s", $3}')"
}

# test_matching PATTERN: the tests whose names match, in the optimized build.
test_matching() {
  phase configuration configure release -DBLOOMERY_TESTS=ON
  local targets
  mapfile -t targets < <(targets_of_tests build/release "$1")
  phase "release build" compile release "${targets[@]}"
  try release -R "$1"
}

# targets_of_tests FOLDER PATTERN: what ninja has to make for the tests that match; nothing means
# everything. The names of cases come from the last build, so a pattern that begins with the name of a
# program means all of its cases; with any other pattern, programs that were never built are made too.
targets_of_tests() {
  local folder=$PWD/$1 names wanted words
  names=$(ctest --test-dir "$folder" -N | sed -nE 's/^ *Test +#[0-9]+: //p')
  if grep -Eq "^(${2%%/*})" <<<"$names"; then
    wanted="($2)|^(${2%%/*})"
  elif grep -Eq "$2" <<<"$names"; then
    wanted="($2)|_NOT_BUILT\$"
  else
    return
  fi
  # ctest names no command if the program does not exist.
  words=$(ctest --test-dir "$folder" -N -V -R "$wanted" | awk '
      sub(/^[0-9]+: Test command: /, "") {command = $0}
      sub(/^ *Test +#[0-9]+: /, "") {print sub(/_NOT_BUILT$/, "") ? $0 : command == "" ? "all" : command}' |
    grep -oE "^[a-z0-9_]+\$|$folder[^\" ]*" | sed "s|^$folder/||" | sort -u)
  # A test that is given a whole folder may need anything in it.
  [[ $(comm -23 <(echo "$words") <(ninja -C "$folder" -t targets all | sed -n 's/: [^:]*$//p' | sort -u)) ]] ||
    echo "$words"
}

# Tests wait for servers, for a browser and for each other, so two chains of phases run side by side. A
# sanitizer makes everything 5 to 20 times as slow, its compiler too: tests that take long only because
# they draw many samples or start many processes run only in the nightly run.
test_everything() {
  chain sanitized
  prepare_whole
  phase "release build" build_tests release
  try release
  join sanitized
}

sanitized() {
  phase "asan build" build_tests asan -DBLOOMERY_LONG_TESTS=OFF
  phase "tsan build" build_threads
  try tsan -L threads
  try asan
  phase "fuzz, 2 s each" run_fuzz 2
}

test_by_night() {
  need nightly
  export BLOOMERY_NIGHTLY=1
  seconds_a_test=14400
  prepare_whole
  suite release
  on_other_servers
  suite asan
  suite tsan
  unset BLOOMERY_NIGHTLY  # more samples of what follows would take hours, and they are no other code
  suite clang
  phase "without-redis build" build_tests without-redis
  try without-redis
  phase "fuzz, 600 s each" run_fuzz 600
  phase "benches, quick" bench_quickly
  phase clang-tidy check_tidy
  phase "mutants, 10 a folder" run_mutants --count 10 --seed "$(date +%Y%m%d)"
  cross_phases
}

# The phases before the first build of both chains.
prepare_whole() {
  need web browser
  need_node
  phase layout check_format
  phase "page build" build_and_check_page
  phase "node-redis" fetch_packages tests/module
  export BLOOMERY_NODE_MODULES=$PWD/tests/module
}

# A program of its own, which ends at the first bench that fails.
bench_quickly() { ./dev bench quick; }

# suite PRESET [CTEST_ARG...]: builds all tests of the preset and runs them.
suite() {
  phase "$1 build" build_tests "$1" -DBLOOMERY_LONG_TESTS=ON -DBLOOMERY_TOOL=ON -DBLOOMERY_REDIS=ON \
    -DBLOOMERY_MODULE=ON
  try "$@"
}

# Runs every test of a server on each redis-server and valkey-server (7.0 or later) in the folder that BLOOMERY_SERVERS
# names; the user has built them.
on_other_servers() {
  local server servers
  [[ ${BLOOMERY_SERVERS-} ]] || return 0
  mapfile -t servers < <(
    find "$BLOOMERY_SERVERS" -type f -executable \( -name redis-server -o -name valkey-server \) | sort)
  for server in "${servers[@]}"; do
    BLOOMERY_REDIS_SERVER=$server named="on ${server#"$BLOOMERY_SERVERS"/}" \
      try release -R '^(redis_test|cli_redis_test|handle_server_test)/|^(redis|cli)/cluster|^module/'
  done
  [[ ${#servers[@]} != 0 ]] || phase "other servers" no_other_server
}

no_other_server() {
  echo "there is no redis-server and no valkey-server in $BLOOMERY_SERVERS"
  return 1
}

# [only=TARGET] build_tests PRESET [CMAKE_ARG...]
build_tests() { build "$@" -DBLOOMERY_TESTS=ON $(fixed_addresses "$1"); }

# Outside the nightly run, ThreadSanitizer tests only the threads of the library.
build_threads() {
  only=tests_with_threads build_tests tsan -DBLOOMERY_LONG_TESTS=OFF -DBLOOMERY_TOOL=OFF \
    -DBLOOMERY_REDIS=OFF -DBLOOMERY_MODULE=OFF
}

# [named=NAME] try PRESET [CTEST_ARG...]: runs the tests of a preset that has been built.
try() {
  local preset=$1 start=$SECONDS name=${named:-$1} log line status=0
  log=$(log_of "${name//\//-}")
  shift
  # Two jobs more than there are cores: many tests wait for a server.
  ctest --test-dir "build/$preset" -j "$(($(nproc) + 2))" --output-on-failure --no-tests=error \
    --timeout "$seconds_a_test" "$@" >"$log" 2>&1 || status=$?
  # The last of them: a test that fails may have printed one.
  line=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of' "$log" | tail -n 1) && [[ $line ]] ||
    line="0% tests passed, 1 tests failed out of 1"
  [[ $line =~ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]
  local failed=${BASH_REMATCH[1]}
  [[ $status == 0 || $failed != 0 ]] || failed=1  # ctest itself failed
  failures=$((failures + failed)) tests=$((tests + BASH_REMATCH[2]))
  [[ $status == 0 ]] || show_failures "$log"
  note "$name" $((SECONDS - start)) "$line"
}

# phase NAME COMMAND...: one test, which passes if the command does.
phase() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" >"$(log_of "$name")" 2>&1 || status=$?
  judge "$name" $((SECONDS - start)) $status
}

# chain NAME: runs the phases of the function NAME in the background. `join NAME` waits for them, and prints
# their output.
chain() {
  rm -f "build/logs/$1.result"
  set -m  # a process group of its own, which ends with this program
  { tests=0 failures=0 report=(); "$1"; declare -p tests failures report | sed 's/^declare/& -g/' >"build/logs/$1.result"; } \
    >"$(log_of "$1")" 2>&1 </dev/null &
  set +m
  chained=$!
  trap 'kill -- "-$chained" 2>/dev/null || true' EXIT
}

join() {
  wait "$chained" || true
  trap - EXIT
  cat "$(log_of "$1")"
  local ours=("$tests" "$failures" "${report[@]}")
  tests=1 failures=1 report=("$1: ended before its last phase")
  # shellcheck source=/dev/null
  ! [[ -s build/logs/$1.result ]] || . "build/logs/$1.result"
  tests=$((tests + ours[0])) failures=$((failures + ours[1]))
  report=("${ours[@]:2}" "${report[@]}")
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

# What ctest printed about the failed tests, without the hundreds that passed.
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
