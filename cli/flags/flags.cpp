// The rows of the table of flags.
#include "flags/flags.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

namespace {

template <class... Verbs>
constexpr VerbSet of(Verbs... verbs) {
  return (verb_bit(verbs) | ...);
}

constexpr VerbSet kAll = (VerbSet{1} << (static_cast<unsigned>(Verb::convert) + 1)) - 1;
constexpr VerbSet kSizing = of(Verb::plan, Verb::create, Verb::dedup, Verb::rebuild);
constexpr VerbSet kSchemes =
    of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::info, Verb::rotate, Verb::convert);
constexpr VerbSet kStreams =
    of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::rebuild, Verb::remove);
constexpr VerbSet kPrinting = of(Verb::check, Verb::dedup);
constexpr VerbSet kMaking = of(Verb::create, Verb::dedup, Verb::rebuild);

constexpr Flag kFlags[] = {
    {FlagId::items, 'n', kSizing | kSchemes, "items", "N", "",
     "how many different keys to make room for",
     "Counts take K, M, G and T (powers of 1000): 100M, 1.5G, 1e6; or write 1,000,000 or 2.5 "
     "billion. For a scalable filter it is the first size. dedup without -n chooses the size "
     "itself, for files from a sample of their lines, and grows if that was too small."},
    {FlagId::fpr, 'p', kSizing, "fpr", "P", "",
     "the false-positive rate: 0.001, 0.1%, 1/1000 or 1e-3",
     "The share of lines never added that the filter answers with \"probably seen\". dedup uses "
     "1e-6 by default: each false positive silently drops a new line."},
    {FlagId::bits, 0, of(Verb::plan, Verb::rebuild) | kSchemes, "bits", "M", "",
     "the size of the filter: bits (8G), bytes (1GiB) or bits per key (16/key)",
     "A bare count is bits. B, KB, MB and GB are bytes, powers of 1000; KiB, MiB, GiB and TiB are "
     "powers of 1024. With -n it gives the false-positive rate, with -p the number of keys. With "
     "--scheme php-crc32-mt it is the m of the PHP class."},
    {FlagId::hashes, 0, of(Verb::plan, Verb::create, Verb::rebuild), "hashes", "K", "",
     "how many bits each key sets (by default the best number)",
     "blocked allows up to 16, blocked2 even numbers up to 32, standard up to 64. With -n alone it "
     "gives the size for which this number is the best, with --bits alone the number of keys."},
    {FlagId::layout, 0, kSizing, "layout", "LAYOUT", "blocked|blocked2|standard",
     "where a key's bits are: blocked, blocked2 or standard",
     "blocked: in one cache line; the fastest, and the default for false-positive rates from "
     "1e-4 up. blocked2: in two cache lines, the default from 1e-10 up. standard: anywhere; the "
     "smallest and the slowest, the default below 1e-10."},
    {FlagId::kind, 0, kSizing, "kind", "KIND", "plain|counting|scalable|window|frozen",
     "the kind of the filter: plain, counting, scalable, window or frozen",
     "counting: lines can be removed again (four times the memory). scalable: grows beyond -n, at "
     "the same false-positive rate. window: forgets lines older than --window. dedup accepts these "
     "with --filter. frozen: the smallest, for a set that is known as a whole; create and rebuild "
     "build it from all lines."},
    {FlagId::counter_bits, 0, of(Verb::plan, Verb::create, Verb::rebuild), "counter-bits", "BITS",
     "4|8", "counting: the bits of a counter (by default 4)",
     "A counter of 4 bits counts to 15, one of 8 bits to 255. Then it is saturated and never "
     "changes again, and a line whose counters are all saturated can no longer be removed."},
    {FlagId::growth, 0, kSizing, "growth", "G", "",
     "scalable: how much larger each sub-filter is than the one before (by default 2)",
     "A larger factor means fewer sub-filters to ask, and more memory that may stay unused."},
    {FlagId::window, 0, kSizing, "window", "W", "",
     "window: how long a line is remembered: 7d, 12h, 30min, 90s, 2w, or 10M lines",
     "A line is found for that long after it was added, and for up to one slice longer. The window "
     "is rounded up to whole slices of whole seconds. With a time, -n is the number of different "
     "lines within the window, spread evenly over its slices: multiply the lines of the busiest "
     "slice by the number of slices. With a number of lines, -n is that number; in dedup only new "
     "lines count."},
    {FlagId::slices, 0, kSizing, "slices", "N", "",
     "window: in how many steps it forgets, 1 to 64 (by default 8)",
     "More slices forget more exactly and make every look-up slower."},
    {FlagId::delta, 0, of(Verb::plan, Verb::create, Verb::rebuild), "delta", "N", "",
     "frozen: how many lines may be added before it is rebuilt",
     "They go into a small plain filter in the same file, the delta, which check asks too; its "
     "share of -p is a sixteenth. Without a delta a frozen filter accepts no lines after it is "
     "built."},
    {FlagId::on, 0, of(Verb::create, Verb::add, Verb::check, Verb::dedup, Verb::info), "rotating",
     "", "", "in Redis: two generations; rotate drops the older one",
     "-n is for one generation, -p for both together. Only create needs the flag; with --scheme "
     "the older generation of a bucket is looked up too.",
     &Options::rotating},
    {FlagId::scheme, 0, kSchemes, "scheme", "SCHEME", "",
     "the bits are those of a PHP class: php-crc32-mt, or php-hashes=BKDR,SDBM,JS",
     "The bits have no header; they are in a file (the reply of GET) or in Redis. php-crc32-mt "
     "needs m and n of the class as --bits and -n; php-hashes needs the names of its hashes, from "
     "JS, PJW, ELF, BKDR, SDBM, DJB, DEK and FNV. The bits do not tell whether these are right: a "
     "wrong scheme gives wrong answers."},
    {FlagId::on, 0, of(Verb::plan), "table", "", "",
     "the false-positive rates over bits per key (2 to 32) and hashes (1 to 8)",
     "By the textbook's formula, or for the layout that --layout names.", &Options::table},
    {FlagId::on, 0, of(Verb::plan), "web", "", "",
     "write the planner, a page for a browser, to FILE (by default planner.html)",
     "The page is one file and needs no server and no network. It shows every number, kind and "
     "layout, the false-positive rate over keys, memory and hashes, and the formulas.",
     &Options::web},
    {FlagId::hash, 0, kMaking, "hash", "FAMILY", "xxh3|siphash",
     "the hash: xxh3 (fast), siphash (keys chosen by an adversary)",
     "siphash draws a secret random seed unless --seed is given. The file stores the hash and the "
     "seed: an adversary must not read it."},
    {FlagId::seed, 0, kMaking, "seed", "SEED", "",
     "the seed of the hash: a number, 0x and hexadecimal digits, or random",
     "Filters merge only if their seeds are equal. xxh3 has a seed of 64 bits, siphash of 128. The "
     "default with xxh3 is 0, which everybody knows: use random for lines of strangers, and "
     "siphash if they see answers. dedup without --filter draws a seed for each run."},
    {FlagId::on, 0, of(Verb::plan, Verb::create, Verb::merge, Verb::salvage, Verb::convert),
     "force", "", "", "replace a filter (plan --web: a page) that exists",
     "Anything that is not a filter (or a page) is never replaced, in a file or on a server.",
     &Options::force},
    {FlagId::filter, 0, of(Verb::dedup), "filter", "FILE", "",
     "remember lines across runs in FILE (-n creates it if absent)",
     "A line is remembered when it has been written to the output, so a crash repeats lines and "
     "loses none. All lines are remembered, with -c and -v too. If FILE exists, -n, -p, "
     "--layout, --hash and --seed must agree with it or be left out."},
    {FlagId::durability, 0, of(Verb::add, Verb::dedup, Verb::remove), "durability", "LEVEL",
     "none|process|sync",
     "what added and removed lines survive: none, process or sync (the default)",
     "sync: a power loss; a small batch costs a synced journal write, a large list is loaded "
     "without the journal. process: a kill of this program; after a power loss the file is "
     "refused. none: nothing until the end of the run, when the file is replaced whole."},
    {FlagId::batch, 0, of(Verb::add, Verb::remove), "batch", "NAME", "",
     "a name for the input: after a crash, repeat the command to finish it",
     "The file knows how many lines of its latest batch are done, and skips them. Repeat a batch "
     "before you begin another one. If the input is not the same from its first line on, that is "
     "an error. The flag is for filters that count, grow or forget; adding lines again to a plain "
     "filter changes nothing."},
    {FlagId::on, 'v', of(Verb::check, Verb::dedup), "invert", "", "",
     "check: print the lines that are certainly new; dedup: only the repeats", "",
     &Options::invert},
    {FlagId::on, 'c', of(Verb::check, Verb::dedup), "count", "", "",
     "print the number of lines instead of the lines", "", &Options::count},
    {FlagId::on, 'q', kAll, "quiet", "", "",
     "no statistics, no progress, no remarks; check: no lines, only the exit code",
     "check -q stops at the first line that decides the exit code.", &Options::quiet},
    {FlagId::null, '0', kStreams, "null", "", "",
     "lines end with NUL instead of newline, in input and output",
     "For the output of find -print0 and similar programs."},
    {FlagId::key, 'k', kStreams, "key", "N", "",
     "field N of a line is the key (the first is 1), or several: 2,5",
     "The whole line is printed. A line with fewer fields has the empty key. Several fields are "
     "one key, in the given order and with the delimiter between them: a and bc differ from ab and "
     "c."},
    {FlagId::delimiter, 'd', kStreams, "delimiter", "C", "",
     "the byte between fields, with -k (by default a tab)", "One byte, or \\t."},
    {FlagId::whitespace, 0, kStreams, "whitespace", "", "",
     "fields are separated by runs of spaces and tabs, with -k",
     "Runs before the first field and after the last one do not count. If a key has several "
     "fields, one space is between them."},
    {FlagId::json_key, 0, kStreams, "json-key", "FIELD", "",
     "lines are JSON objects: the value of FIELD is the key",
     "FIELD is a name at the top level, exactly as it is written there, or a path such as "
     "/request/url or /tags/0. The key of a string is its text, the key of any other value is "
     "its JSON. A line without the field has the empty key. It is an error, and the lines before "
     "it are done, if a line does not begin with { and end with }, ends within a string, or is "
     "not UTF-8; if the names and punctuation before FIELD are not JSON; or if the value of "
     "FIELD is not JSON and is not an object or array. To be fast, nothing else is checked: not "
     "the other values before FIELD, not what is in an object or array that is the key, and not "
     "what comes after FIELD."},
    {FlagId::ignore_case, 0, kStreams, "ignore-case", "", "",
     "keys ignore the case of the letters A to Z", "Other letters stay different."},
    {FlagId::on, 0, kStreams, "raw", "", "",
     "read inputs as they are, even if they look compressed",
     "Without it, inputs in the formats gzip, zstd, xz and bzip2 are decompressed, and an "
     "input that begins like a filter is an error.",
     &Options::raw},
    {FlagId::compress, 'Z', kPrinting, "compress", "FORMAT", "gzip|zstd|xz|bzip2",
     "compress the lines that are printed: gzip, zstd, xz or bzip2",
     "Like the program of that name by default. With --filter the output is a sequence of "
     "compressed parts, and a line is remembered when its part has been written."},
    {FlagId::out, 'o', kPrinting, "output", "OUT", "",
     "print lines to the file OUT, which changes when the run is done",
     "OUT may be one of the inputs. It gets all new lines at once; after an error or a signal it "
     "is unchanged. With dedup --filter OUT is written as the lines come, so that every remembered "
     "line is in it, and it must not be an input. Lines are compressed with -Z alone, whatever the "
     "name of OUT is."},
    {FlagId::threads, 'j', kStreams, "threads", "N", "",
     "N threads find lines and hash keys (by default one for each processor)",
     "Further threads read and write, and as many as N build a frozen filter. The output is the "
     "same with any number, byte for byte. Small inputs use fewer threads."},
    {FlagId::on, 0, of(Verb::plan, Verb::add, Verb::remove, Verb::check, Verb::dedup, Verb::info),
     "json", "", "", "JSON instead of text",
     "dedup writes its statistics as one JSON object to stderr, and with -c to stdout; check "
     "accepts the flag with -c. add and remove write one line to stderr each second with the "
     "number of lines that are safe, and their statistics at the end. Infinite numbers are null.",
     &Options::json},
    {FlagId::format, 0, of(Verb::info), "format", "FORMAT", "json|prometheus",
     "json (the same as --json), or prometheus: metrics of all FILEs",
     "prometheus is for the textfile collector of the node exporter, from cron. A filter that "
     "cannot be read is a metric too, and the others are still printed; the exit status is then 2. "
     "redis+module://host?match=PATTERN means all filters of a module on a server whose keys "
     "match."},
    {FlagId::on, 0, of(Verb::plan, Verb::info), "plot", "", "",
     "draw: plan, the false-positive rate as the filter fills; info, where its ones are",
     "For terminals that show UTF-8. plan draws the default layout or the one of --layout; info "
     "draws files.",
     &Options::plot},
    {FlagId::on, 0, of(Verb::info), "exact", "", "",
     "count all of the bits, not a sample of a large filter",
     "A sample has 65,536 blocks, at most 4 MiB, of each filter, sub-filter or window that is "
     "larger. On a server it is always a sample.",
     &Options::exact},
    {FlagId::no_progress, 0, kStreams, "no-progress", "", "",
     "no progress bar (there is one when stderr is a terminal)", ""},
    {FlagId::help_short, 'h', kAll, "", "", "", "the short help", ""},
    {FlagId::help_long, 0, kAll, "help", "", "", "the long help, with examples", ""},
};

}  // namespace

std::span<const Flag> all_flags() noexcept { return kFlags; }

std::string flag_name(const Flag& flag) {
  return flag.long_name.empty() ? fmt::format("-{}", flag.short_name)
                                : fmt::format("--{}", flag.long_name);
}

std::string verbs_of(const Flag& flag) {
  std::string names;
  for (const VerbInfo& verb : all_verbs())
    if (has(verb, flag)) names += fmt::format("{}{}", names.empty() ? "" : ", ", verb.name);
  return names;
}

std::string_view flag_of(PlanField field) {
  switch (field) {
    case PlanField::kind:
      return "--kind";
    case PlanField::capacity:
      return "-n";
    case PlanField::fpr:
      return "-p";
    case PlanField::bits:
      return "--bits";
    case PlanField::hashes:
      return "--hashes";
    case PlanField::layout:
      return "--layout";
    case PlanField::counter_bits:
      return "--counter-bits";
    case PlanField::growth:
      return "--growth";
    case PlanField::tightening:
      break;
    case PlanField::window:
      return "--window";
    case PlanField::slices:
      return "--slices";
    case PlanField::delta:
      return "--delta";
  }
  return "tightening";
}

}  // namespace bloomery::cli
