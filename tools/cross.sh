# Tests for the same bits on other CPUs: aarch64 (NEON) and s390x (big-endian), with Debian's cross
# compilers and qemu-user.

cross_phases() {
  cross_phase aarch64 arm64
  cross_phase s390x s390x
}

cross_phase() {
  phase "$1 sysroot" sysroot "$1" "$2"
  # Builds without the tool, as the preset says: its libraries are not in the sysroot.
  phase "$1 build" build_tests "$1"
  try "$1" -LE long
}

# sysroot PROCESSOR DEBIAN_ARCH: our dependencies for that CPU, unpacked from their packages
# below build/. The machine's own apt and dpkg databases are only read.
sysroot() {
  local root=$PWD/build/sysroot-$1 arch=$2
  [[ -e $root/complete ]] && return
  rm -rf "$root"
  mkdir -p "$root"/apt/{lists,cache,debs}
  touch "$root/apt/status"
  local own=(-o APT::Architecture="$arch" -o APT::Architectures="$arch"
    -o Dir::State::lists="$root/apt/lists" -o Dir::State::status="$root/apt/status"
    -o Dir::Cache="$root/apt/cache" -o APT::Sandbox::User=root)
  apt-get "${own[@]}" -qq update || return
  (cd "$root/apt/debs" && apt-get "${own[@]}" -qq download \
    libsodium-dev libsodium23 libhiredis-dev libhiredis0.14 libssl-dev libssl3 libxxhash-dev libxxhash0 \
    libgtest-dev libgmock-dev librapidcheck-dev nlohmann-json3-dev) || return
  local deb
  for deb in "$root"/apt/debs/*.deb; do
    dpkg-deb -x "$deb" "$root" || return
  done
  touch "$root/complete"
}
