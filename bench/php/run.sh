#!/usr/bin/env bash
# Runs php_bench.php with the extension and the module of a build, by default build/release: run.sh [BUILD]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(realpath "${1-$here/../../build/release}")
scratch=$(mktemp -d)
redis-server --port 0 --unixsocket "$scratch/redis.sock" --save '' --loadmodule "$build/bloomery.so" >/dev/null &
server=$!
trap 'kill $server; rm -rf "$scratch"' EXIT
until redis-cli -s "$scratch/redis.sock" ping >/dev/null 2>&1; do sleep 0.1; done
php -n -d extension=igbinary -d extension=redis -d extension=apcu -d apc.enable_cli=1 -d apc.shm_size=256M \
  -d memory_limit=-1 -d "extension=$build/php/bloomery.so" "$here/php_bench.php" "$scratch" "$scratch/redis.sock"
