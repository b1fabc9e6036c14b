// The journal of a file: reading its records, telling their end from damage, adding more.
#pragma once

#include "format/journal.hpp"
#include "store/opened.hpp"

#include <functional>
#include <span>

namespace bloomery::detail {

// Where the records end.
struct JournalEnd {
  std::uint32_t sectors = 0;  // the records before it
  bool damaged = false;       // by something that is neither zeros nor a stale record
};

// A record may only be missing from the end, where it was never acknowledged. While the writer
// is alive, whatever is no record may yet become one.
enum class JournalIs : std::uint8_t { quiet, live };

// Calls visit(record) for each record of the header's epoch, from sector `from` on. Error{
// corrupt}: a record of a quiet journal that was on the device is damaged or gone.
[[nodiscard]] JournalEnd read_journal(const File& file, const Header& header, std::uint32_t from,
                                      JournalIs is,
                                      const std::function<void(const JournalRecord&)>& visit);
[[noreturn]] void refuse_journal(const File& file, std::uint32_t sector);

// Writes records where the journal ended. After an Error none of them is there, or the file is
// poisoned; and `records` holds zeros.
void write_records(Opened& opened, std::span<std::byte> records, std::uint64_t at);

}  // namespace bloomery::detail
