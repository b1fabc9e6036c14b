# The main job on real input: removes the repeats from a long stream of lines.

# run_main_job [FILE...]: reads the user's files as they are, or else a stream of URLs from this
# machine's own package index.
run_main_job() {
  build_tool >&2
  local work out
  work=build/run
  mkdir -p "$work"
  if [[ $# == 0 ]]; then
    make_stream "$work/stream"
    set -- "$work/stream"
  fi
  local files=()
  spool "$work" "$@"
  set -- "${files[@]}"
  out=$work/once
  echo
  echo "\$ build/release/bloomery dedup $* > $out"
  local status=0
  /usr/bin/time -q -o "$work/time" -f '%e %M' build/release/bloomery dedup "$@" >"$out" || status=$?
  [[ $status -le 1 ]] || return $status  # 1: no line came out
  echo "... and the exact answer, for comparison: sort -u"
  local seconds kib lines bytes distinct kept
  read -r seconds kib <"$work/time"
  read -r lines bytes < <(cat -- "$@" | wc -lc)
  distinct=$(cat -- "$@" | LC_ALL=C sort -u -S 25% | wc -l)
  kept=$(wc -l <"$out")
  awk -v seconds="$seconds" -v kib="$kib" -v lines="$lines" -v bytes="$bytes" \
    -v distinct="$distinct" -v kept="$kept" 'BEGIN {
      lost = distinct - kept
      printf "\nin          %12.0f lines, %.1f MB\n", lines, bytes / 1e6
      printf "out         %12.0f lines, each the first time it came\n", kept
      printf "distinct    %12.0f by sort -u; %.0f of them (%.4f%%) taken for repeats\n",
             distinct, lost, distinct ? 100 * lost / distinct : 0
      printf "time        %12.2f s, %.1f million lines a second\n",
             seconds, seconds ? lines / seconds / 1e6 : 0
      printf "peak memory %12.1f MiB\n", kib / 1024
    }'
}

# spool DIRECTORY FILE...: sets `files` to files that can be read twice. A pipe cannot, so its
# content is kept in the directory.
spool() {
  local work=$1 file
  shift
  for file in "$@"; do
    if [[ $file == - || -p $file || -c $file ]]; then
      cat -- "$file" >"$work/input-${#files[@]}"
      file=$work/input-${#files[@]}
    fi
    files+=("$file")
  done
}

# make_stream FILE: four million lines, drawn at random from the machine's URLs. The same
# machine gives the same stream.
make_stream() {
  [[ -s $1 ]] && return
  make_urls "$1.urls"
  # Compressed numbers are a source of bytes that are uniform enough, and the same every time.
  shuf --repeat --head-count=4000000 --random-source=<(seq 8000000 | gzip -1) \
    --output="$1.part" "$1.urls"
  mv "$1.part" "$1"
}

# make_urls FILE: the distinct URLs of this machine's package index.
make_urls() {
  echo "collecting URLs from this machine's package index" >&2
  urls_of_package_index | LC_ALL=C sort -u >"$1"
  if [[ ! -s $1 ]]; then
    as_root apt-get update -qq >&2 || true
    urls_of_package_index | LC_ALL=C sort -u >"$1"
  fi
  if [[ ! -s $1 ]]; then
    echo "no package index; taking the names of files instead" >&2
    find / -xdev -type f 2>/dev/null | sed 's|^|file://|' | LC_ALL=C sort -u >"$1" || true
  fi
}

# The URL of each package, and that of its homepage.
urls_of_package_index() {
  local file archive
  apt-get indextargets --format '$(FILENAME) $(REPO_URI)' 'Created-By: Packages' |
    while read -r file archive; do
      /usr/lib/apt/apt-helper cat-file "$file" |
        awk -v archive="$archive" '/^Filename: / {print archive $2} /^Homepage: / {print $2}'
    done
}
