# Mutants: how well the tests detect broken code.

# run_mutants ARG...: the arguments of tools/mutate.py.
run_mutants() { tools/mutate.py --jobs "$(jobs_that_fit)" "$@"; }
