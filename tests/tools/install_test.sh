# usage: install_test.sh SOURCE_DIR
# `./dev install` needs root only where the user may not write, and programs find the shared library afterwards.
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
expect /opt/bloomery "root: cmake --install build/release --prefix /opt/bloomery"
expect /usr/local "root: cmake --install build/release --prefix /usr/local
root: /sbin/ldconfig"
