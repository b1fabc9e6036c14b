// The journal of a file: reads its records, distinguishes its end from damage, and appends records.
#pragma once

#include "format/journal.hpp"
#include "store/disk/opened.hpp"

#include <functional>
#include <span>

namespace bloomery::detail {

// The position where the records end.
struct JournalEnd {
  std::uint32_t sectors = 0;  // the number of records before the end
  bool damaged = false;  // at the end there is a sector that is neither zeros nor a stale record
};

// In a quiet journal only records at the end can be missing, because they were never acknowledged. While the writer
// of a live journal runs, a sector that is not a record may become one.
enum class JournalIs : std::uint8_t { quiet, live };

// Calls visit(record) for each record of the header's epoch, from sector `from` on. Error{corrupt}: a record of a
// quiet journal that was on the device is damaged or missing.
[[nodiscard]] JournalEnd read_journal(const File& file, const Header& header, std::uint32_t from,
                                      JournalIs is,
                                      const std::function<void(const JournalRecord&)>& visit);
[[noreturn]] void refuse_journal(const File& file, std::uint32_t sector);

// Writes records at the end of the journal. After an Error none of them is in the journal, or the file is poisoned;
// `records` then holds zeros.
void write_records(Opened& opened, std::span<std::byte> records, std::uint64_t at);

}  // namespace bloomery::detail
