# usage: install_test.sh SOURCE_DIR
# The loader is told of the shared library when it is put where the loader looks, by root.
set -euo pipefail
. "$1/tools/packages.sh"
. "$1/tools/build.sh"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Says what would be done.
cmake() { echo "cmake $*"; }
as_root() { echo "root: $*"; }

expect() {
  local said
  said=$(install_to "$1")
  [[ $said == "$2" ]] || { printf 'install_to %s did:\n%s\nand not:\n%s\n' "$1" "$said" "$2"; exit 1; }
}

expect "$scratch/own" "cmake --install build/release --prefix $scratch/own"
mkdir() { false; }  # as where one may not write
for prefix in /usr /usr/local; do
  expect "$prefix" "root: cmake --install build/release --prefix $prefix
root: ldconfig"
done
expect /opt/bloomery "root: cmake --install build/release --prefix /opt/bloomery"
