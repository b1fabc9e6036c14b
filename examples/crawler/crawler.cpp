// A crawler's "have I been there?", answered in five ways, with their costs and errors.
//
// usage: crawler PAGES < LINKS
//
// LINKS are the links that the crawler finds, one per line, to about PAGES different pages. Each way gets
// all of them, in a process of its own, so that its memory can be measured.
// "Skipped" are new pages that it took for known. The exit status is 1 if a way that must be exact was not,
// or if another one made more errors than theory predicts.
#include <malloc.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bloomery/bloomery.hpp>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace {

constexpr double kFpr = 0.001;

// ---- the five ways: visit() is true if the page has to be fetched -------------------------------

// One row per page. The database is a file; the index is the table itself.
class DatabaseRows {
 public:
  DatabaseRows() {
    std::filesystem::remove(kPath);
    sqlite3_open(kPath, &database_);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = OFF");  // the fastest it can be; a crash may lose the file
    run("CREATE TABLE pages (url TEXT PRIMARY KEY) WITHOUT ROWID");
    run("BEGIN");
    sqlite3_prepare_v2(database_, "INSERT OR IGNORE INTO pages VALUES (?)", -1, &insert_, nullptr);
  }
  ~DatabaseRows() {
    run("COMMIT");
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
    bytes_on_disk = std::filesystem::file_size(kPath);
    std::filesystem::remove(kPath);
  }
  bool visit(std::string_view url) {
    if (++asked_ % 10'000 == 0) run("COMMIT; BEGIN");
    sqlite3_bind_text(insert_, 1, url.data(), static_cast<int>(url.size()), SQLITE_STATIC);
    if (sqlite3_step(insert_) != SQLITE_DONE) std::abort();
    const bool fresh = sqlite3_changes(database_) == 1;
    sqlite3_reset(insert_);
    return fresh;
  }
  static inline std::uint64_t bytes_on_disk = 0;

 private:
  static constexpr const char* kPath = "pages.sqlite";
  void run(const char* sql) {
    if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
    std::fprintf(stderr, "crawler: %s: %s\n", sql, sqlite3_errmsg(database_));
    std::abort();
  }
  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
  std::uint64_t asked_ = 0;
};

class SetOfUrls {
 public:
  bool visit(std::string_view url) { return seen_.emplace(url).second; }

 private:
  std::unordered_set<std::string> seen_;
};

class SetOfMd5s {
 public:
  bool visit(std::string_view url) {
    Digest digest;
    EVP_DigestInit_ex(context_.get(), md5_.get(), nullptr);
    EVP_DigestUpdate(context_.get(), url.data(), url.size());
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return seen_.insert(digest).second;
  }

 private:
  using Digest = std::array<unsigned char, 16>;
  struct FirstBytes {  // a digest needs no further hash
    std::size_t operator()(const Digest& digest) const noexcept {
      std::size_t hash = 0;
      std::memcpy(&hash, digest.data(), sizeof hash);
      return hash;
    }
  };
  struct Free {
    void operator()(EVP_MD* md5) const noexcept { EVP_MD_free(md5); }
    void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  };
  // Looked up once: OpenSSL 3 takes longer for that than for a digest.
  std::unique_ptr<EVP_MD, Free> md5_{EVP_MD_fetch(nullptr, "MD5", nullptr)};
  std::unique_ptr<EVP_MD_CTX, Free> context_{EVP_MD_CTX_new()};
  std::unordered_set<Digest, FirstBytes> seen_;
};

// One hash, one bit.
class BitMap {
 public:
  explicit BitMap(std::uint64_t bits) : bits_(bits) {}
  bool visit(std::string_view url) {
    const std::size_t bit = std::hash<std::string_view>()(url) % bits_.size();
    if (bits_[bit]) return false;
    return bits_[bit] = true;
  }

 private:
  std::vector<bool> bits_;
};

class Bloom {
 public:
  explicit Bloom(std::uint64_t pages) : seen_(pages, kFpr) {}
  bool visit(std::string_view url) { return seen_.insert(url); }

 private:
  bloomery::Filter seen_;
};

// ---- the comparison -------------------------------------------------------------------------------

struct Result {
  double seconds = 0;
  std::uint64_t memory = 0;
  std::uint64_t disk = 0;
  std::uint64_t pages = 0;  // to fetch
};

// The anonymous memory of this process.
std::uint64_t own_memory() {
  std::ifstream sums("/proc/self/smaps_rollup");
  for (std::string word; sums >> word;)
    if (word == "Anonymous:") {
      std::uint64_t kib = 0;
      sums >> kib;
      return kib * 1024;
    }
  return 0;
}

template <class Make>
Result crawl(const std::vector<std::string_view>& links, Make make) {
  auto* result = static_cast<Result*>(
      mmap(nullptr, sizeof(Result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  malloc_trim(0);  // otherwise memory that was freed before would not be counted
  if (const pid_t child = fork(); child != 0) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) std::abort();
    return *result;
  }
  const std::uint64_t before = own_memory();
  const auto start = std::chrono::steady_clock::now();
  {
    auto way = make();
    for (const std::string_view link : links) result->pages += way.visit(link);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    result->seconds = took.count();
    result->memory = own_memory() - before;
  }
  result->disk = DatabaseRows::bytes_on_disk;
  _exit(0);
}

// How many of these new pages are taken for known, while they fill the filter.
double expected_skips(const bloomery::Plan& plan, std::uint64_t pages) {
  constexpr int kSteps = 1'000;
  double sum = 0;
  for (int i = 0; i < kSteps; ++i)
    sum += predicted_fpr(plan, (i + 0.5) / kSteps * static_cast<double>(pages));
  return sum / kSteps * static_cast<double>(pages);
}

struct Table {
  std::uint64_t links;
  std::uint64_t pages;
  bool as_stated = true;

  void row(const char* name, const Result& result, double expected) {
    const auto skipped = static_cast<double>(pages) - static_cast<double>(result.pages);
    const std::string disk =
        result.disk ? " + " + std::to_string(result.disk / 1'000'000) + " on disk" : "";
    std::printf("%-32s %8.2f s %9.0f ns %10.1f MB %-15s %9.0f %12.1f\n", name, result.seconds,
                result.seconds / static_cast<double>(links) * 1e9,
                static_cast<double>(result.memory) / 1e6, disk.c_str(), skipped, expected);
    // Six standard deviations of the count; zero for an exact way.
    as_stated &= skipped >= 0 && skipped <= expected * 1.01 + 6 * std::sqrt(expected);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  const std::uint64_t planned = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (planned == 0) {
    std::fprintf(stderr, "usage: crawler PAGES < LINKS\n");
    return 2;
  }
  std::ios::sync_with_stdio(false);
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  std::vector<std::string_view> links;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != text.npos; start = end + 1)
    links.emplace_back(text.data() + start, end - start);

  const bloomery::Plan plan = bloomery::plan(planned, kFpr);
  const Result exact = crawl(links, [] { return SetOfUrls(); });
  Table table{links.size(), exact.pages};
  std::printf("%zu links, %.1f MB, to %llu pages; filter for %llu at 0.1 %%\n\n", links.size(),
              static_cast<double>(text.size()) / 1e6, static_cast<unsigned long long>(exact.pages),
              static_cast<unsigned long long>(planned));
  std::printf("%-32s %10s %12s %13s %-15s %9s %12s\n", "", "time", "per link", "memory", "",
              "skipped", "expected");
  table.row("1  rows in a database", crawl(links, [] { return DatabaseRows(); }), 0);
  table.row("2  hash set of URLs", exact, 0);
  table.row("3  hash set of MD5s", crawl(links, [] { return SetOfMd5s(); }), 0);
  const auto pages = static_cast<double>(exact.pages);
  const auto bit_map = [&](const char* name, std::uint64_t bits) {
    table.row(name, crawl(links, [&] { return BitMap(bits); }),
              pages * pages / 2 / static_cast<double>(bits));
  };
  bit_map("4  bit map, as large as 5", plan.bits);
  bit_map("   bit map, as good when full", static_cast<std::uint64_t>(pages / kFpr));
  table.row("5  Bloom filter", crawl(links, [&] { return Bloom(planned); }),
            expected_skips(plan, exact.pages));
  std::printf("\n%s\n",
              table.as_stated ? "no way skipped more pages than expected" : "NOT as expected");
  return table.as_stated ? 0 : 1;
} catch (const bloomery::Error& error) {
  std::fprintf(stderr, "crawler: %s\n", error.what());
  return 2;
}
