#!/usr/bin/env bash
# usage: run.sh PROGRAMS [ROWS [SECONDS]]     PROGRAMS: the directory that has the program
set -euo pipefail
programs=$(cd "$1" && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/../servers.sh"
start_redis
start_postgres
cd "$scratch"  # the filter file is made here
"$programs/cache-penetration" "$postgres" "$redis" "${@:2}"
