#!/usr/bin/env bash
# usage: run.sh PROGRAMS [PAGES]     PROGRAMS: the directory that has the program
set -euo pipefail
programs=$(cd "$1" && pwd)
pages=${2:-2000000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"  # the database of way 1 is made here
"$programs/make_links" $((pages * 2)) 50 | "$programs/crawler" "$pages"
