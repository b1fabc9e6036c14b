# How ./dev reads its arguments. `usage`, in ./dev, is the only list of commands: two spaces, the
# command, and what it does, in as many lines as that takes.

is_command() { [[ $1 =~ ^[a-z]+$ ]] && usage | grep "^  $1\( \|$\)" >/dev/null; }

# What `usage` says about one command.
usage_of() {
  echo "usage:"
  usage | awk -v command="$1" '
    /^  [a-z]/ {shown = $1 == command}
    /^[^ ]|^$/ {shown = 0}
    shown'
}

# fail WORDS...: a mistake of the caller.
fail() {
  echo "dev: $*" >&2
  exit 2
}

# takes COUNT ARG...: refuses more arguments than the command has a use for.
takes() {
  local most=$1
  shift
  [[ $# -le $most ]] || fail "'$command' does not take '${*: -1}'; ./dev $command --help"
}

# A path as the caller meant it: the caller's directory may be a different one.
from_caller() { [[ $1 == /* ]] && echo "$1" || echo "$caller/$1"; }
