# What must hold of the text itself: the layout, and clang-tidy's findings.

check_format() { sources | xargs -0 clang-format --dry-run -Werror; }

# Over what is shipped; tests and benches are held by the compiler's warnings.
check_tidy() {
  build clang -DBLOOMERY_TESTS=OFF || return
  sed -nE 's|^ *"file": "(.*/(src\|cli\|module)/.*\.cpp)",?$|\1|p' build/clang/compile_commands.json |
    xargs -P "$(jobs_that_fit)" -n 4 clang-tidy --quiet -p build/clang
}
