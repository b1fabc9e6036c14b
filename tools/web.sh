# The planner page: compiles the library's planner to WebAssembly, then puts everything into one file.

page=build/web/planner.html

# Whether the page is at least as new as the files that it is made from.
page_is_new() {
  [[ -s $page ]] && [[ -z $(find web include/bloomery src/plan cli/flags/numbers.[ch]pp tools/web.sh -newer "$page" \
    -type f -not -path 'web/node_modules/*' -print -quit) ]]
}

# Debian's C++ library for WebAssembly cannot unwind: web/wasm/refusal.cpp explains the replacement.
build_wasm() {
  mkdir -p build/web
  clang++ --target=wasm32-wasi -mexec-model=reactor -std=c++20 -Oz -flto -fexceptions -fno-rtti \
    -fno-threadsafe-statics -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -Isrc -Icli \
    -Wl,--strip-all web/wasm/*.cpp src/plan/*.cpp cli/flags/numbers.cpp -o build/web/planner.wasm
}

build_page() {
  page_is_new || { build_wasm && fetch_packages web && (cd web && node_modules/.bin/vite build --logLevel warn) &&
    touch "$page"; } && size_is_small
}

size_is_small() {
  [[ $(stat -c %s "$page") -lt 310000 ]] || { echo "dev: $page has over 310,000 bytes" >&2; return 1; }
}

# The tool works without the page, so it can be built where npm has no network.
try_page() {
  { need web && need_node && build_page; } ||
    echo "dev: the planner page could not be built; the tool is built without (plan --web)" >&2
}

check_page() { fetch_packages web && (cd web && node_modules/.bin/tsc); }
