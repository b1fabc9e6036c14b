# usage: example_test.sh SOURCE_DIR
# `./dev example` names every case with its title, refuses others, and docs/cases.md has them all.
set -euo pipefail
cd "$1"
. tools/example.sh
listed=$(list_examples)
for script in examples/*/run.sh; do
  name=$(basename "$(dirname "$script")")
  grep -Eq "^  $name +[^ ]" <<<"$listed" || { echo "no title of $name in: $listed"; exit 1; }
  grep -q "dev example $name" docs/cases.md || { echo "docs/cases.md does not show $name"; exit 1; }
done
for wrong in '' .. documents nothing; do
  status=0
  complaint=$(run_example "$wrong" 2>&1) || status=$?
  [[ $status == 2 && $complaint == *"no example '$wrong'"* ]] || { echo "'$wrong': $complaint"; exit 1; }
done
