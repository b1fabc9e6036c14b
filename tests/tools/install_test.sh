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
command mkdir -p "$scratch/own/lib/triplet" "$scratch/own/lib/python3.11/dist-packages/bloomery"
touch "$scratch/own/lib/triplet/libbloomery.so.0" "$scratch/own/lib/python3.11/dist-packages/bloomery/__init__.py"
expect "$scratch/own" "cmake --install build/release --prefix $scratch/own
To use it in PHP, Python and C: export LD_LIBRARY_PATH=$scratch/own/lib/triplet
To use it in Python: export PYTHONPATH=$scratch/own/lib/python3.11/dist-packages"
mkdir() { false; }  # as where one may not write
expect /opt/bloomery "root: cmake --install build/release --prefix /opt/bloomery"
expect /usr/local "root: cmake --install build/release --prefix /usr/local
root: /sbin/ldconfig"
