# Mutants: how well the tests see a break.

# run_mutants ARG...: those of tools/mutate.py.
run_mutants() { tools/mutate.py --jobs "$(jobs_that_fit)" "$@"; }
