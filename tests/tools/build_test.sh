# usage: build_test.sh SOURCE_DIR
# What cmake says while a preset is configured is shown where it warns or fails, and not else.
set -euo pipefail
. "$1/tools/build.sh"
jobs_that_fit() { echo 1; }
command() { false; }  # no compiler cache

# Says and returns what the test wants of a configuration, and builds nothing.
cmake() {
  [[ $1 == --build ]] && return
  printf '%s\n' "$words"
  return "$status"
}

# expect STATUS WORDS SHOWN
expect() {
  local words=$2 status=$1 said got=0
  said=$(build any 2>&1) || got=$?
  [[ $got == "$1" && $said == "$3" ]] || {
    printf 'cmake said %s and returned %s; build showed %s and returned %s\n' "$2" "$1" "$said" "$got"
    exit 1
  }
}

calm='-- Configuring done'
warned='CMake Warning at cli/CMakeLists.txt:1 (message): no page'
expect 0 "$calm" ''
expect 0 "$warned" "$warned"
expect 1 "$calm" "$calm"
