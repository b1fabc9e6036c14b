#!/usr/bin/env bash
# usage: run.sh PROGRAMS [USERS [DAYS]]     PROGRAMS: the directory that has the program
set -euo pipefail
programs=$(cd "$1" && pwd)
. "$(dirname "${BASH_SOURCE[0]}")/../servers.sh"
start_redis --loadmodule "$programs/../bloomery.so" client_time yes
"$programs/news-feed" "$redis" "${@:2}"
