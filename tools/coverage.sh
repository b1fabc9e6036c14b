# Coverage: which lines and conditions of the code no test takes.

# run_coverage [FOLDER]: all tests but the long ones, or those of a folder (FOLDERS of mutate.py).
run_coverage() {
  local profiles=$PWD/build/coverage/profiles tests=(-LE long) targets=(all) pattern
  if [[ $# != 0 ]]; then
    { read -r pattern; read -ra targets; } < <(tools/mutate.py --tests "$1")
    tests=(-R "$pattern")
  fi
  fetch_packages tests/module
  configure coverage -DBLOOMERY_TESTS=ON
  LLVM_PROFILE_FILE=/dev/null compile coverage "${targets[@]}"  # what the build runs is no test
  rm -rf "$profiles"
  # Profiles are written while a program runs, so that one that is killed counts too. Some tests fail: those of the
  # binaries themselves, and of their memory.
  BLOOMERY_NODE_MODULES=$PWD/tests/module LLVM_PROFILE_FILE=$profiles/%c%8m.profraw \
    ctest --test-dir build/coverage -j "$(($(nproc) + 1))" "${tests[@]}" --timeout 1200 \
    >build/coverage/tests.log 2>&1 ||
    echo "some tests failed: build/coverage/tests.log" >&2
  tools/coverage.py . build/coverage "$@"
}
