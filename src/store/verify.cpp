// verify: reads a whole file and reports what is wrong with it, without changing anything.
#include "format/kinds.hpp"
#include "store/files.hpp"
#include "store/journal/journal_file.hpp"
#include "store/journal/recover.hpp"

namespace bloomery::detail {

using FileState = VerifyReport::State;

namespace {

void check_bits(const Opened& opened, VerifyReport& report) {
  const ChunkCheck check = check_chunks(opened.file, opened.header);
  report.damaged_chunks = check.damaged;
  if (!check.damaged.empty())
    report.detail =
        std::to_string(check.damaged.size()) + " of " + std::to_string(report.chunks) +
        (report.chunks == 1 ? " chunk" : " chunks") + " of the bits " +
        (check.damaged.size() == 1 ? "is damaged, number " : "are damaged, the first is number ") +
        std::to_string(check.damaged.front()) + "; " +
        (is_built_once(opened.header.kind()) ? "rebuild it from its keys" : "salvage it");
  if (check.sums_damaged) {
    report.spare_damaged = true;
    report.detail = "the sums of the bits are damaged, the bits are not; salvage writes them again";
  }
}

void replay_in_memory(const Opened& opened, VerifyReport& report) {
  report.state = FileState::recoverable;
  report.detail = "its writer did not close it; opening it for writing repairs it";
  try {
    // Bits that are stored in place are newer than their sums; the journal has their total.
    if (!is_stored_in_place(opened.header.plan)) check_bits(opened, report);
    JournalPosition end;
    Holes holes(opened.file, opened.header);
    if (report.damaged_chunks.empty())
      (void)replayed_contents(opened, end, holes);
    else
      (void)read_journal(opened.file, opened.header, 0, JournalIs::quiet, [](const auto&) {});
    return;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    report.detail = error.what();
  }
  report.state = FileState::unclean;
}

void check_unsummed(const Opened& opened, VerifyReport& report) {
  report.state = FileState::recoverable;
  report.detail =
      "its writer did not close it; opening it for writing repairs it, but no sums vouch for what "
      "that writer changed";
  try {
    require_list(opened);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt) throw;
    report.state = FileState::unclean;
    report.detail = error.what();
  }
}

// A snapshot's writer puts another file at the path. A file that was removed is still the one that was opened.
bool is_replaced(const Opened& opened, const std::string& path) {
  Os::Stat there;
  const int looked = uninterrupted([&] { return opened.file.os().stat_path(path.c_str(), there); });
  return looked == 0 && !is_same_file(there, opened.file.stat());
}

VerifyReport verify_once(const Opened& opened) {
  const Header& header = opened.header;
  VerifyReport report;
  report.chunks = layout_of(header).chunks;
  if (header.state == State::clean) {
    check_bits(opened, report);
    return report;
  }
  if (opened.file.locked()) {
    report.state = FileState::in_use;
    report.detail = "a writer has it open; its bits can be checked once it is closed";
    return report;
  }
  if (is_lost(header, opened.file.os(), opened.file.path())) {
    report.state = FileState::unclean;
    report.detail = unclean_error(header, opened.file.path()).what();
    return report;
  }
  if (has_records(header.state)) {
    replay_in_memory(opened, report);
    return report;
  }
  check_unsummed(opened, report);
  return report;
}

}  // namespace

VerifyReport Files::verify(const std::string& path) const {
  return at_edge(path, [&] {
    constexpr int kTries = 10;
    for (int i = 1;; ++i) {
      const Opened opened = open_for_reading(*os_, path);
      VerifyReport report = verify_once(opened);
      const FoundHeader after = read_headers(opened.file);
      // If a writer has changed the file in between, the bytes that were read are useless.
      const bool changed =
          after.header.generation != opened.header.generation || is_replaced(opened, path);
      if (changed && i < kTries) continue;
      if (changed) {
        report = {.state = FileState::in_use,
                  .chunks = report.chunks,
                  .damaged_chunks = {},
                  .detail = "writers keep changing it; try again"};
      }
      if (after.undamaged != 2 && report.state != FileState::in_use) {
        report.spare_damaged = true;
        if (report.detail.empty())
          report.detail = "one copy of the header is damaged; the other one is not";
      }
      return report;
    }
  });
}

}  // namespace bloomery::detail

namespace bloomery {

void VerifyReport::require_ok(const std::string& name) const {
  if (ok()) return;
  const bool is_named = detail.starts_with(name);  // it is the text of an Error
  throw Error(ErrorCode::corrupt, is_named ? detail : name + ": " + detail);
}

VerifyReport verify(const std::string& path) { return detail::Files(real_os()).verify(path); }

}  // namespace bloomery
