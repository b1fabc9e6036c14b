// What dedup has seen, in a file that outlives the run.
#pragma once

#include "batch.hpp"
#include "options.hpp"
#include "seen.hpp"

#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

// The filter that --filter names, opened for writing, created if absent. Error: it is absent
// and -n is not given; it exists and the flags contradict it.
[[nodiscard]] FilterFile open_or_create(const Options& options);

// What -n, -p and --layout said when a filter was made.
struct Asked {
  std::uint64_t items;
  double fpr;
  std::optional<Layout> layout;
};
// Error{mismatch}: the flags say something else.
void check_asked(const Options& options, const std::string& path, const Asked& asked,
                 const Hasher& hasher);

// A line is new if neither the file nor the batch has it. The batch goes to the file after
// its lines were written, so that a crash repeats lines and loses none.
class SeenInFile : public Seen {
 public:
  SeenInFile(FilterFile file, Durability durability);
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override;
  void settle(const std::function<void()>& drain) override;
  void finish(const std::function<void()>& drain) override;
  [[nodiscard]] const Hasher& hasher() const noexcept override { return file_.hasher(); }
  [[nodiscard]] FilterState state() const override { return FilterState(file_); }
  void close() override { file_.close(); }

 private:
  void remember(const std::function<void()>& drain);

  FilterFile file_;
  bool sync_output_;
  Batch batch_;
};

}  // namespace bloomery::cli
