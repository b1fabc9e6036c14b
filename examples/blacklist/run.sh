#!/usr/bin/env bash
# usage: run.sh PROGRAMS [ADDRESSES]     PROGRAMS: the directory that has the program
exec "$1/blacklist" "${@:2}"
