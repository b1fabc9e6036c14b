// A writer whose path gets another file while it writes: it never replaces that, its keys are in its
// own file wherever that is now, and where that is gone it says so.
#include "format/forged_headers.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "support/expect_error.hpp"

#include <optional>

namespace bloomery::test {
namespace {

namespace fs = std::filesystem;

// What the writer has done when its file is changed, and what it is. idle: it never writes.
enum class Writing {
  opened,
  idle,
  written,
  in_batch,
  synced,
  restarted,
  replacing,
  rebuilding,
  shared
};
// What becomes of its file. restored: another file is renamed over it; overwritten: `cp` writes into it.
enum class Fate { moved, directory_moved, removed, restored, overwritten };

constexpr Writing kWritings[] = {Writing::opened,    Writing::idle,       Writing::written,
                                 Writing::in_batch,  Writing::synced,     Writing::restarted,
                                 Writing::replacing, Writing::rebuilding, Writing::shared};
constexpr Fate kFates[] = {Fate::moved, Fate::directory_moved, Fate::removed, Fate::restored,
                           Fate::overwritten};

const char* text_of(Writing writing) {
  constexpr const char* kTexts[] = {"opened",    "idle",      "written",    "in_batch", "synced",
                                    "restarted", "replacing", "rebuilding", "shared"};
  return kTexts[static_cast<int>(writing)];
}
const char* text_of(Fate fate) {
  constexpr const char* kTexts[] = {"moved", "directory_moved", "removed", "restored",
                                    "overwritten"};
  return kTexts[static_cast<int>(fate)];
}

constexpr std::uint64_t kOthersKey = 1'000'000;  // in files that are not this writer's
constexpr std::uint64_t kSecondKey = 2'000'000;  // of the second writer

class MovedFile : public KindAndLevel {
 protected:
  [[nodiscard]] CreateOptions creating(bool shared = false) const {
    return {.hasher = Hasher(), .durability = durability(), .replace = true, .shared = shared};
  }
  [[nodiscard]] FilterFile create(const std::string& path, bool shared = false) const {
    return FilterFile::create(path, kind().plan, creating(shared));
  }
  // Only plain filters are shared, and their writers store into the file.
  [[nodiscard]] bool has(Writing writing) const {
    return writing != Writing::shared ||
           (std::holds_alternative<Plan>(kind().plan) && durability() == Durability::process);
  }

  // The writer, which has done what it is to have done.
  FilterFile begin(Writing writing) {
    if (writing == Writing::rebuilding || writing == Writing::replacing) {
      create(path_).close();
      FilterFile file =
          writing == Writing::rebuilding ? FilterFile::rebuild(path_, kind().plan) : create(path_);
      insert(file);
      return file;
    }
    FilterFile file = create(path_, writing == Writing::shared);
    if (writing == Writing::opened || writing == Writing::idle) return file;
    if (writing == Writing::in_batch) (void)file.begin_batch("monday");
    // Enough for a journal to be full: its room is at least that of 64 records.
    const int inserts = writing == Writing::restarted ? 200 : 1;
    for (int i = 0; i < inserts; ++i) insert(file);
    if (writing == Writing::synced) file.sync();
    return file;
  }
  void insert(FilterFile& file) {
    std::vector<std::uint64_t> keys(20);
    for (std::uint64_t& key : keys) key = last_++;
    file.insert_many(keys);
  }

  // Where the writer's file is then, if it is anywhere.
  std::string change(Fate fate) {
    const std::string other = scratch_ / "other";
    switch (fate) {
      case Fate::moved:
        fs::rename(path_, scratch_ / "d/old");
        return scratch_ / "d/old";
      case Fate::directory_moved:
        fs::rename(scratch_ / "d", scratch_ / "e");
        fs::create_directory(scratch_ / "d");
        return scratch_ / "e/f";
      case Fate::removed:
        fs::remove(path_);
        return {};
      case Fate::restored:
        make_other(other);
        fs::rename(other, path_);
        return {};
      case Fate::overwritten:
        make_other(other);
        fs::copy_file(other, path_, fs::copy_options::overwrite_existing);
        break;
    }
    return {};
  }
  void make_other(const std::string& path) const {
    FilterFile file = create(path);
    file.insert(kOthersKey);
    file.close();
  }
  // Another process adds a key to what is at the path, or to a new filter. Returns why it may not, if so.
  [[nodiscard]] std::optional<ErrorCode> write_second(bool shared = false) const {
    try {
      FilterFile file = FilterFile::open_or_create(path_, kind().plan, creating(shared));
      file.insert(kSecondKey);
      file.close();
      return std::nullopt;
    } catch (const Error& error) {
      return error.code();
    }
  }
  // Newest keys first: a window forgets the others.
  [[nodiscard]] bool has_last_key(const std::string& path) const {
    return FilterFile::open(path).may_contain(last_ - 1);
  }

  void check(Writing writing, Fate fate);

  Scratch scratch_{fast_place()};
  const std::string path_ = scratch_ / "d/f";
  std::uint64_t last_ = 0;
};
INSTANTIATE_TEST_SUITE_P(, MovedFile, at_every_level(all_kind_cases()), kNameOfBoth);

void MovedFile::check(Writing writing, Fate fate) {
  const bool rebuilds = writing == Writing::rebuilding, shares = writing == Writing::shared;
  const bool writes = writing != Writing::idle;
  std::optional<FilterFile> writer = begin(writing);
  const std::string now = change(fate);
  const bool is_free = fate == Fate::moved || fate == Fate::removed;
  // It is told to wait while the path is being replaced, and while the writer has the lock of the file that was
  // written over. A writer that shares it sees what it has become.
  std::optional<ErrorCode> second = write_second(shares);
  const ErrorCode refusal = shares ? ErrorCode::unclean : ErrorCode::locked;
  EXPECT_TRUE(!second || second == refusal);
  EXPECT_TRUE(rebuilds || !second == (fate != Fate::overwritten));

  std::optional<ErrorCode> error;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const Error& thrown) {
      if (!error) error = thrown.code();
    }
  };
  if (writes) attempt([&] { insert(*writer); });
  attempt([&] { writer->close(); });
  if (!writes) {
    EXPECT_FALSE(error) << "it has nothing to lose";
  } else if (rebuilds) {
    // It makes a new filter for the path, where nothing may be that has come since.
    EXPECT_EQ(!error, is_free);
    EXPECT_TRUE(!error || error == ErrorCode::exists || fate == Fate::directory_moved);
    EXPECT_TRUE(error || has_last_key(path_));
  } else if (now.empty()) {
    EXPECT_EQ(error, ErrorCode::missing);
  } else {
    EXPECT_FALSE(error);
    EXPECT_TRUE(has_last_key(now));
    EXPECT_EQ(writer->path(), now);
    EXPECT_TRUE(verify(now).ok());
  }

  // What bits a writer had stored into a file before it could see that it was overwritten are damage.
  const bool stored_into = writes && fate == Fate::overwritten &&
                           std::holds_alternative<Plan>(kind().plan) &&
                           durability() != Durability::none;
  // Nobody keeps a second writer waiting any more, and the first one's end takes nothing from it.
  if (second && !rebuilds) {
    second = write_second(shares);
    EXPECT_TRUE(!second || (second == ErrorCode::corrupt && stored_into));
  }
  writer.reset();
  const FilterFile others = FilterFile::open(path_);
  const bool has_other = fate == Fate::restored || fate == Fate::overwritten;
  EXPECT_TRUE(!has_other || others.may_contain(kOthersKey));
  EXPECT_TRUE(second || others.may_contain(kSecondKey));
  EXPECT_TRUE(stored_into || verify(path_).ok()) << verify(path_).detail;
}

TEST_P(MovedFile, ReplacesNothingAndLosesNothingSilently) {
  for (const Writing writing : kWritings)
    for (const Fate fate : kFates) {
      if (!has(writing)) continue;
      SCOPED_TRACE(std::string(text_of(writing)) + ", " + text_of(fate));
      fs::create_directory(scratch_ / "d");
      check(writing, fate);
      fs::remove_all(scratch_ / "d");
      fs::remove_all(scratch_ / "e");
    }
}

// A letter, a later format, or a header that is damaged: the writer's filter is gone, and what is there stays.
TEST_P(MovedFile, IsMissedWhateverIsWrittenOverItsHeader) {
  constexpr std::size_t kCopy = 4096;
  constexpr unsigned kNewer = 9,
                     kUnknown = 11;  // with right checksums: of the version, and of the kind
  for (const auto& [at, bytes] : {std::pair{0U, kCopy},
                                  {8U, std::size_t{1}},
                                  {100U, std::size_t{1}},
                                  {kNewer, std::size_t{0}},
                                  {kUnknown, std::size_t{0}}}) {
    const std::string path = scratch_ / "f";
    auto writer = FilterFile::create(path, kind().plan, {.durability = durability()});
    writer.insert(std::uint64_t{1});
    writer.sync();
    writer.insert(std::uint64_t{2});
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (const std::size_t copy : {std::size_t{0}, kCopy})
      file.seekp(static_cast<std::streamoff>(copy + at))
          .write(std::string(bytes, 'x').data(), static_cast<std::streamsize>(bytes));
    file.close();
    auto there = read_bytes(path);
    if (bytes == 0) {
      change_headers(there, [at = at](std::byte* page) { page[at] = std::byte{0x77}; });
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
          .write(reinterpret_cast<const char*>(there.data()), 2 * kCopy);
    }
    EXPECT_EQ(code_of([&] { writer.close(); }), ErrorCode::missing) << at;
    EXPECT_EQ(read_bytes(path), there) << at;
    fs::remove(path);
  }
}

TEST_P(MovedFile, IsMissedByAWriterThatAsks) {
  for (const Writing writing : {Writing::opened, Writing::written, Writing::shared})
    for (const Fate fate : kFates) {
      if (!has(writing)) continue;
      SCOPED_TRACE(std::string(text_of(writing)) + ", " + text_of(fate));
      fs::create_directory(scratch_ / "d");
      FilterFile writer = begin(writing);
      EXPECT_NO_THROW(writer.require_place());
      const std::string now = change(fate);
      if (now.empty()) {
        expect_error(ErrorCode::missing, {path_}, [&] { writer.require_place(); });
        expect_error(ErrorCode::poisoned, {path_}, [&] { insert(writer); });
      } else {
        EXPECT_NO_THROW(writer.require_place());
        insert(writer);
        writer.close();
        expect_error(ErrorCode::read_only, {"closed"}, [&] { writer.require_place(); });
        EXPECT_NO_THROW(FilterFile::open(now).require_place()) << "a reader has nothing to lose";
      }
      fs::remove_all(scratch_ / "d");
      fs::remove_all(scratch_ / "e");
    }
}
TEST_P(MovedFile, IsNotMissedByARebuild) {
  fs::create_directory(scratch_ / "d");
  FilterFile writer = begin(Writing::rebuilding);
  change(Fate::removed);
  EXPECT_NO_THROW(writer.require_place());
  writer.close();
  EXPECT_TRUE(has_last_key(path_));
}

// The file is complete then, and has no journal.
TEST_P(MovedFile, IsMissedAfterALoad) {
  for (const bool closes : {false, true})
    for (const Fate fate : kFates) {
      SCOPED_TRACE(std::string(closes ? "close, " : "sync, ") + text_of(fate));
      fs::create_directory(scratch_ / "d");
      FilterFile writer = create(path_);
      if (!writer.begin_load(1'000'000)) return;
      insert(writer);
      writer.end_load();
      const std::string now = change(fate);
      const auto work = [&] { closes ? writer.close() : writer.sync(); };
      if (now.empty()) {
        expect_error(ErrorCode::missing, {path_}, work);
      } else {
        EXPECT_NO_THROW(work());
        EXPECT_EQ(writer.path(), now);
        EXPECT_TRUE(has_last_key(now));
      }
      fs::remove_all(scratch_ / "d");
      fs::remove_all(scratch_ / "e");
    }
}

// A writer that changed nothing has nothing to say.
TEST(UnchangedFile, IsClosedWhereverItIs) {
  for (const KindCase& kind : all_kind_cases())
    for (const Durability durability : kDurabilities) {
      const Scratch scratch(fast_place());
      const std::string path = scratch / "f", other = scratch / "other";
      FilterFile::create(other, kind.plan).close();
      std::ofstream(other, std::ios::app) << std::string(5000, 'x');  // more than a clean file has
      const auto bytes = read_bytes(other);
      auto file = FilterFile::create(path, kind.plan, {.durability = durability});
      fs::copy_file(other, path, fs::copy_options::overwrite_existing);
      file.sync();
      file.close();
      EXPECT_EQ(read_bytes(path), bytes) << kind.name << ", " << name_of(durability);
    }
}

// The file goes to another directory, and a link to it comes to its path.
TEST(MovedBehindALink, GoesOnWhereItIs) {
  for (const KindCase& kind : all_kind_cases())
    for (const Durability durability : kDurabilities) {
      const Scratch scratch(fast_place());
      const std::string path = scratch / "f", now = scratch / "e/f";
      auto file = FilterFile::create(path, kind.plan, {.durability = durability});
      file.insert(std::uint64_t{1});
      fs::create_directory(scratch / "e");
      fs::rename(path, now);
      fs::create_symlink(now, path);
      file.insert(std::uint64_t{2});
      file.close();
      EXPECT_TRUE(fs::is_symlink(path)) << kind.name << ", " << name_of(durability);
      EXPECT_TRUE(FilterFile::open(now).may_contain(std::uint64_t{2}));
      EXPECT_TRUE(FilterFile::open(path).may_contain(std::uint64_t{2}));
    }
}

// Nothing is at its path then, and the directory of its path is not there either.
TEST(MovedWithItsDirectory, GoesOnWhereItIs) {
  for (const KindCase& kind : all_kind_cases())
    for (const Durability durability : kDurabilities) {
      SCOPED_TRACE(std::string(kind.name) + ", " + name_of(durability));
      const Scratch scratch(fast_place());
      const std::string now = scratch / "e/f";
      fs::create_directory(scratch / "d");
      auto file = FilterFile::create(scratch / "d/f", kind.plan, {.durability = durability});
      file.insert(std::uint64_t{1});
      fs::rename(scratch / "d", scratch / "e");
      file.insert(std::uint64_t{2});
      EXPECT_NO_THROW(file.close());
      EXPECT_EQ(file.path(), now);
      EXPECT_TRUE(FilterFile::open(now).may_contain(std::uint64_t{2}));
      EXPECT_FALSE(fs::exists(scratch / "d"));
    }
}

// Two rebuilds at one path, and one has moved away with its directory: their temporary files have one name.
TEST(RebuiltFile, LeavesTheTemporaryFileOfAnotherAlone) {
  const Plan plan = plan_of(Layout::blocked);
  for (const bool closes : {false, true}) {
    const Scratch scratch(fast_place());
    const std::string path = scratch / "d/f";
    fs::create_directory(scratch / "d");
    std::optional<FilterFile> moved = FilterFile::rebuild(path, plan);
    moved->insert(1);
    fs::rename(scratch / "d", scratch / "e");
    fs::create_directory(scratch / "d");
    auto other = FilterFile::rebuild(path, plan);
    other.insert(2);
    if (closes) {
      EXPECT_EQ(code_of([&] { moved->close(); }), ErrorCode::missing);
    }
    moved.reset();
    EXPECT_FALSE(fs::exists(path));
    other.insert(3);
    other.close();
    const auto there = FilterFile::open(path);
    EXPECT_TRUE(there.may_contain(2) && there.may_contain(3) && !there.may_contain(1));
  }
}

}  // namespace
}  // namespace bloomery::test
