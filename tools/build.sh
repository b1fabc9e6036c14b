# Configures, builds and installs the presets of CMakePresets.json.

# One job per core, but no more than the memory allows: a compiler takes up to 1 GiB.
jobs_that_fit() {
  local cores gib
  cores=$(nproc)
  gib=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  echo $((gib < 1 ? 1 : gib < cores ? gib : cores))
}

# configure PRESET [CMAKE_ARG...]: shows what cmake says only if it warns or fails.
configure() {
  local preset=$1
  shift
  # Depend mode compares whole files. The other modes compare preprocessed files, and would take an old
  # precompiled header for a new one if only a comment differs; gcc would then not recognize the header as
  # the one that it has already read, and would read it twice.
  local ccache="env;CCACHE_DEPEND=1;CCACHE_NAMESPACE=bloomery;ccache"
  command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=$ccache CMAKE_C_COMPILER_LAUNCHER=$ccache
  local said
  said=$(cmake --preset "$preset" "$@" 2>&1) || { echo "$said" >&2; return 1; }
  [[ $said != *Warning* ]] || echo "$said" >&2
  # If a folder was made with another compiler, cmake starts again by itself, and forgets the other
  # settings of the preset.
  [[ $said != *"cache to be deleted"* ]] || cmake --preset "$preset" "$@" >/dev/null
}

# compile PRESET [TARGET...]: everything if no target is named.
compile() {
  local preset=$1
  shift
  [[ $# != 0 ]] || set -- all
  cmake --build --preset "$preset" -j "$(jobs_that_fit)" --target "$@"
}

# [only=TARGET] build PRESET [CMAKE_ARG...]
build() { configure "$@" && compile "$1" ${only:+"$only"}; }

# Builds the tool, the library and the module: no tests, and nothing that only tests need.
build_tool() { build release -DBLOOMERY_TESTS=OFF; }

install_to() {
  local prefix=$1
  if mkdir -p "$prefix" 2>/dev/null && [[ -w $prefix ]]; then
    cmake --install build/release --prefix "$prefix"
  else
    as_root cmake --install build/release --prefix "$prefix"
  fi
  # There the loader finds the shared library through its cache.
  if [[ $prefix == /usr/local || $prefix == /usr ]]; then
    as_root /sbin/ldconfig
    return
  fi
  # Elsewhere neither the loader nor Python looks by itself.
  local library package
  library=$(find "$prefix"/lib* -maxdepth 2 -name libbloomery.so.0 -print -quit 2>/dev/null) || true
  package=$(find "$prefix"/lib* -maxdepth 4 -path '*/bloomery/__init__.py' -print -quit 2>/dev/null) || true
  [[ -z $library ]] || echo "To use it in PHP, Python and C: export LD_LIBRARY_PATH=${library%/*}"
  [[ -z $package ]] || echo "To use it in Python: export PYTHONPATH=${package%/bloomery/__init__.py}"
}

# Every C++ file of the tree, each ended by NUL.
sources() {
  find include src c cli module web/wasm tests fuzz bench examples -name '*.[ch]pp' -print0
}
