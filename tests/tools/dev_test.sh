# usage: dev_test.sh SOURCE_DIR
# ./dev and its arguments: help does nothing else, and a mistake is refused before anything is done.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -r "$1/dev" "$1/tools" "$scratch"
cd "$scratch"
mkdir -p elsewhere examples
for file in packages build web; do
  for step in $(sed -nE 's/^([a-z_]+)\(\).*/\1/p' "tools/$file.sh"); do
    echo "$step() { echo \"did $step \$*\"; }"
  done >"$file"
  mv "$file" "tools/$file.sh"
done

fail() {
  printf '%s\nsaid was:\n%s\n' "$1" "$said"
  exit 1
}
# dev STATUS ARG...: runs ./dev from another directory.
dev() {
  local wanted=$1 status=0
  shift
  said=$(cd elsewhere && ../dev "$@" 2>&1) || status=$?
  [[ $status == "$wanted" ]] || fail "./dev $* returned $status"
}
says() { [[ $said == *"$1"* ]] || fail "nothing said of '$1'"; }
does_nothing() { [[ $said != *did* ]] || fail "something was done"; }

dev 0 help
does_nothing
mapfile -t commands < <(sed -nE 's/^  ([a-z]+).*/\1/p' <<<"$said" | sort -u)
[[ "${commands[*]}" == "$(sed -nE 's/^  ([a-z]+)\)$/\1/p' dev | sort | xargs)" ]] ||
  fail "./dev does others than ${commands[*]}"
all=$said
for how in '' -h --help; do
  dev 0 $how
  [[ $said == "$all" ]] || fail "./dev $how says something else than ./dev help"
done
for command in "${commands[@]}"; do
  for how in -h --help; do
    dev 0 "$command" $how
    does_nothing
    says "  $command"
    [[ $command == help ]] || [[ ${#said} -lt ${#all} ]] || fail "not about $command alone"
  done
  by_flag=$said
  dev 0 help "$command"
  [[ $said == "$by_flag" ]] || fail "help $command and $command --help differ"
done
dev 0 help test
says "quick" && says "PATTERN" && says "--nightly"

dev 2 tests
says "no command 'tests'"
dev 2 'hel.'
dev 2 help tests
for mistake in "install --prefix" "amalgamate --here" "amalgamate a b" "install /a /b" "build fast" "web x" "fuzz 3s" "fuzz 0" "bench slow" "bench quick x" \
  "test --night" "test a b" "lint x" "format x" "package x" "figures x" \
  "mutate cli many" "mutate cli 0" "mutate cli 3 x" "mutate --since" "mutate --count 3" "coverage src"; do
  dev 2 $mistake
  does_nothing
  says "dev: "
done

# Paths are the caller's.
dev 0 install there
says "did install_to $scratch/elsewhere/there"
dev 0 install
says "did install_to /usr/local"
