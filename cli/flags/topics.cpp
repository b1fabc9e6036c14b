// The paragraphs of the long help that hold for every verb.
#include "flags/flags.hpp"

namespace bloomery::cli {

namespace {

constexpr Topic kTopics[] = {
    {"Lines",
     "INPUT is files, or - for the standard input, which is also read if there is no INPUT. A line "
     "is bytes of any length and value, ended by a newline, or by NUL with -0. The end is not part "
     "of the key, but a carriage return is: lines that end with CR LF and with LF are different "
     "keys. A last line without an end counts, and is printed with one."},
    {"Compressed input",
     "An input that begins as gzip, zstd, xz or bzip2 does is decompressed, from files and pipes "
     "alike; several that stand one behind the other are one. --raw takes it for text. Where it is "
     "damaged or ends too early, the lines before are taken, and the error names the byte. What "
     "takes a window of more than 128 MiB is refused, and so is a line of more than 1 GiB."},
    {"Filters on a Redis server",
     "FILE may be redis://host:port/db?key=name, a plain filter in a string of a Redis server that "
     "needs no module; redis+unix:///path?key=name is the same over a unix socket, and valkey:// "
     "the same as redis://. create, add, check, dedup --filter, info, merge, rebuild, convert and "
     "verify take it, and rotate one that create --rotating has made. redis+cluster:// is one in "
     "shards over the nodes of a Redis Cluster, which rotates too; redis+module:// and "
     "redis+module+cluster:// are filters of a module, which rebuild and rotate do not take, and "
     "merge only in shards. --force replaces a filter of the same kind; create replaces none of a "
     "module: UNLINK it first. A user and password stand before the host, as in user:password@, or "
     "the password is in BLOOMERY_REDIS_PASSWORD, where other users of the machine do not see it. "
     "redis+sentinel://s1,s2?key=name&master=NAME asks sentinels for the master; rediss:// and "
     "valkeys:// speak TLS, with cacert=FILE, cert=FILE, certkey=FILE and sni=NAME behind the key "
     "where they are needed. What has a meaning in an address is written as %XX."},
    {"Output",
     "Lines and results go to the standard output, all else to stderr: progress, statistics, "
     "warnings, errors. A filter filled beyond its capacity is reported with its current fpr."},
    {"Exit status",
     "0: done, or lines were printed. 1: no line was printed (check, dedup). 2: an error, told in "
     "one line. 129, 130 and 143: a SIGHUP, an interrupt or SIGTERM came, and the filter file is "
     "whole: reading stops, and what has begun is finished. A second signal stops at once."},
    {"Environment",
     "BLOOMERY_REDIS_PASSWORD is the password for addresses that have none, or else the first line "
     "of the file that BLOOMERY_REDIS_PASSWORD_FILE names. BLOOMERY_KERNEL names the instruction "
     "set to use (scalar, avx2, avx512, neon); by default it is the best that the CPU has. The "
     "bits and answers are the same with each. TMPDIR is where dedup of a pipe keeps the hashes of "
     "more than 65,536 lines, 16 bytes each, in a file without a name; by default /var/tmp. Where "
     "that is memory, or full, dedup grows by sub-filters, in up to nine times the memory."},
};

}  // namespace

const std::string_view kTagline = "Bloom filters: have I seen this line before?";

std::span<const Topic> all_topics() noexcept { return kTopics; }

}  // namespace bloomery::cli
