#!/usr/bin/env bash
# usage: run.sh PROGRAMS [COMMENTS]     PROGRAMS: the directory that has the program
set -euo pipefail
programs=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../servers.sh"
start_redis
cd "$scratch"
"$programs/comments" "$redis" "$here/bucket.php" "${@:2}"
