# usage: run_test.sh SOURCE_DIR TOOL
# `./dev run` reads its input twice, to compare with sort -u: a pipe as well as a file.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p build/release
ln -s "$2" build/release/bloomery
. "$1/tools/run.sh"
build_tool() { :; }

expect() {
  local said
  said=$(tr -s ' ')
  [[ $said == *"in $1 lines"*"distinct $2 by"* ]] || { printf '%s\n' "$said"; exit 1; }
}

printf 'a\nb\na\n' >file
mkfifo pipe
run_main_job file | expect 3 2
run_main_job - <file | expect 3 2
run_main_job <(cat file) | expect 3 2
cat file >pipe & run_main_job pipe | expect 3 2
run_main_job file - <(echo c) < <(echo d) | expect 5 4
if run_main_job missing 2>complaint; then exit 1; fi
grep -q "missing" complaint
