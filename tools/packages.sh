# Lists the packages of Debian 12 and of npm that each task needs, and fetches the missing ones.

declare -A packages=(
  [build]="ccache g++ cmake ninja-build pkg-config libsodium-dev libhiredis-dev libssl-dev libxxhash-dev python3-dev php8.2-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev libsimdjson-dev"
  [run]="time"
  [test]="bzip2 git gzip locales xz-utils zstd clang lld libclang-rt-14-dev llvm-14 clang-format libgtest-dev libgmock-dev librapidcheck-dev php-cli php-parser php-redis php8.2-fpm php8.2-sqlite3 libfcgi-bin valgrind python3 time dpkg-dev file openssl zsh fish redis-server redis-tools python3-redis python3-cffi abigail-tools python3-numpy python3-scrapy python3-setuptools python3-wheel mypy openjdk-17-jdk-headless libjna-java"
  [web]="clang lld wasi-libc libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32"
  [node]="nodejs npm"
  [browser]="chromium-headless-shell"
  [redis]="redis-server"
  [example]="libhiredis-dev libpq-dev libsqlite3-dev libssl-dev php-cli php-redis postgresql redis-server redis-tools"
  [lint]="clang-tidy"
  [bench]="bzip2 gzip xz-utils zstd libhwy-dev mawk php-apcu php-cli php-redis python3 redis-server redis-tools"
  [package]="dpkg-dev file"
  [amalgamate]="python3"
  [nightly]="clang-tidy g++-aarch64-linux-gnu g++-s390x-linux-gnu qemu-user-static"
)

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "dev: '$*' needs root; run it yourself as root, or install sudo" >&2
    return 1
  fi
}

# need TASK...: installs every missing package of these tasks. If none is missing, it uses neither
# apt nor the network.
need() {
  local task package missing=()
  for task in "$@"; do
    for package in ${packages[$task]}; do
      [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] ||
        missing+=("$package")
    done
  done
  [[ ${#missing[@]} == 0 ]] && return
  echo "installing ${missing[*]}" >&2
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends)
  # The first try fails if the package lists are absent or older than the archive. The standard
  # input belongs to the user and may contain lines.
  as_root "${install[@]}" "${missing[@]}" >/dev/null 2>&1 </dev/null ||
    { as_root apt-get update -qq && as_root "${install[@]}" "${missing[@]}" >/dev/null; } </dev/null
}

# Installs Debian's node and npm if there are no others: a node from elsewhere often has its own
# npm, and Debian's npm conflicts with it.
need_node() { { command -v node && command -v npm; } >/dev/null || need node; }

# fetch_packages DIRECTORY: fetches the npm packages of its lock file, unless they are there.
fetch_packages() {
  cmp -s "$1/package-lock.json" "$1/node_modules/.fetched" ||
    { (cd "$1" && npm ci --ignore-scripts >&2) && cp "$1/package-lock.json" "$1/node_modules/.fetched"; }
}
