# The cases of examples/: each is a folder with a README.md, its sources, and a run.sh.

list_examples() {
  local readme name
  for readme in examples/*/README.md; do
    name=$(basename "$(dirname "$readme")")
    # The title, which is "# name: what it shows".
    printf '  %-18s %s\n' "$name" "$(sed -n '1s/^# [^:]*: //p' "$readme")"
  done
  echo "./dev example NAME runs one; what it shows: docs/cases.md"
}

# run_example NAME [ARG...]: the arguments are those of its program; its README.md names them.
run_example() {
  local name=$1
  shift
  if [[ ! -x examples/$name/run.sh ]]; then
    echo "dev: no example '$name'; there are:" >&2
    list_examples >&2
    return 2
  fi
  need build example
  only=$name build release -DBLOOMERY_TESTS=OFF -DBLOOMERY_EXAMPLES=ON >&2
  echo >&2
  "examples/$name/run.sh" build/release/examples "$@"
}
