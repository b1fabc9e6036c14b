# Checks of the text itself: its format, and clang-tidy.

check_format() { sources | xargs -0 -P "$(nproc)" -n 100 clang-format --dry-run -Werror; }

# Checks only what is shipped; for tests and benches the compiler's warnings are enough.
check_tidy() {
  build clang -DBLOOMERY_TESTS=OFF || return
  sed -nE 's|^ *"file": "(.*/(src\|c\|cli\|module)/.*\.cpp)",?$|\1|p' build/clang/compile_commands.json |
    xargs -P "$(jobs_that_fit)" -n 4 clang-tidy --quiet -p build/clang
}
