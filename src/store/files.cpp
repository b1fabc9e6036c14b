// Creates, opens and rebuilds filter files on any operating system; FilterFile does so on the real one.
#include "store/files.hpp"

#include "format/kinds.hpp"
#include "store/disk/rights.hpp"
#include "store/disk/spool_file.hpp"
#include "store/sessions/session.hpp"

#include <chrono>
#include <thread>

namespace bloomery::detail {

namespace {

// Writes the file of an empty filter and puts all of it on the device.
Opened write_empty(NewFile& fresh, Header header) {
  const FileLayout layout = layout_of(header);
  const Sums sums = sums_of_zeros(layout);
  header.total = total_of(sums);
  write_first_header(fresh.file(), header);
  fresh.file().write(encode_sums(sums), layout.sums_at);
  fresh.file().sync();
  return {fresh.take(), header, 0};
}

bool is_mostly_holes(const File& file) {
  const Os::Stat there = file.stat();
  return there.allocated < there.size / 2;
}

void require_keys_taken(const Header& header, const std::string& path) {
  if (is_built_once(header.kind()) && !has_delta(header.plan))
    throw Error(
        ErrorCode::wrong_kind,
        path +
            ": is a frozen filter, whose keys stay as they are; rebuild it from all of them, "
            "with a delta if more keys will come before the next rebuild");
}

// Error{invalid_argument}: all writers that share a file use durability `process`.
void require_level(bool shared, Durability durability, const std::string& path) {
  if (shared && durability != Durability::process)
    throw Error(ErrorCode::invalid_argument,
                path + ": writers that share a file have durability `process`; ask for it");
}

std::unique_ptr<Session> write_opened(Opened opened, Durability durability) {
  if (durability != Durability::none) make_name_last(opened.file);
  return write_file(std::move(opened), durability);
}

}  // namespace

FilterFile Files::create(const std::string& path, const FilterPlan& plan,
                         const CreateOptions& options) const {
  if (is_built_once(kind_of(plan))) {
    if (options.shared)
      throw Error(
          ErrorCode::wrong_kind,
          path + ": only plain filters are shared by writers; a frozen one has one builder");
    return build(path, plan, options, {}, options.replace, Room::at_once);
  }
  require_level(options.shared, options.durability, path);
  // Workers may start at the same time: workers that share a file wait for the worker that makes it.
  constexpr int kTries = 12'000;
  for (int i = 1;; ++i) try {
      return create_once(path, plan, options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::locked || !options.shared || options.replace || i == kTries)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

std::vector<Os::Stat> Files::keys_for(const File& replaced, const CreateOptions& options) const {
  return replaced.is_open() ? std::vector<Os::Stat>() : rights_of_keys(*os_, options.sources);
}

FilterFile Files::create_once(const std::string& path, const FilterPlan& plan,
                              const CreateOptions& options) const {
  return at_edge(path, [&] {
    Header header = header_of(plan, options.hasher);
    const std::string target = resolved_or_new(*os_, path);
    // The lock of the old file is held until the new file, which is locked too, has its place.
    const File old = lock_replaced(*os_, target, options.replace);
    header.identity = random_id(*os_, path);
    std::unique_ptr<Session> session;  // destroyed after the new file's name
    NewFile fresh(*os_, target, layout_of(header).clean_bytes, old, {}, keys_for(old, options));
    // Everything that the writer needs is ready before another process can see the file.
    Opened opened = write_empty(fresh, header);
    session = options.shared ? share_locked(std::move(opened))
                             : write_file(std::move(opened), options.durability);
    fresh.publish(old);
    return FilterFile(std::move(session));
  });
}

FilterFile Files::open(const std::string& path, const OpenOptions& options) const {
  return at_edge(path, [&] {
    if (options.access == Access::read) return FilterFile(read_file(*os_, path));
    require_level(options.shared, options.durability, path);
    if (options.shared) return FilterFile(share_file(*os_, path, [](const Header&) {}));
    Opened opened = open_for_writing(*os_, path);
    require_keys_taken(opened.header, path);
    return FilterFile(write_opened(std::move(opened), options.durability));
  });
}

FilterFile Files::open_or_create(const std::string& path, const FilterPlan& plan,
                                 const CreateOptions& options) const {
  // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): it is read below
  const CreateOptions creating{.hasher = options.hasher,
                               .durability = options.durability,
                               .shared = options.shared,
                               .sources = options.sources};
  require_level(options.shared, options.durability, path);
  constexpr int kTries = 100;
  for (int i = 1;; ++i) {
    // Another process may create the file after this process has not found it, and may remove it after this process
    // could not create it.
    try {
      return at_edge(path, [&] {
        const auto check = [&](const Header& there) {
          require_created_from(plan, options.hasher, there, path);
        };
        if (options.shared) return FilterFile(share_file(*os_, path, check));
        Opened opened = open_for_writing(*os_, path);
        require_keys_taken(opened.header, path);
        check(opened.header);
        return FilterFile(write_opened(std::move(opened), options.durability));
      });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::missing) throw;
    }
    try {
      return create(path, plan, creating);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::exists || i == kTries) throw;
    }
  }
}

FilterFile Files::rebuild(const std::string& path, const FilterPlan& plan,
                          const CreateOptions& options, std::span<const Os::Stat> inputs,
                          Room room) const {
  return build(path, plan, options, inputs, true, room);
}

FilterFile Files::build(const std::string& path, const FilterPlan& plan,
                        const CreateOptions& options, std::span<const Os::Stat> inputs,
                        bool replace, Room room) const {
  return at_edge(path, [&] {
    Header header = header_of(plan, options.hasher);
    const std::string target = resolved_or_new(*os_, path);
    File old = lock_replaced(*os_, target, replace);
    header.identity = random_id(*os_, path);
    // The plan of a rebuild is mostly that of the old file. If that has no room on the device itself, it may be forged.
    const bool as_needed = room == Room::as_needed ||
                           (room == Room::as_replaced && old.is_open() && is_mostly_holes(old));
    const std::uint64_t reserved = as_needed ? 0 : layout_of(header).clean_bytes;
    auto fresh =
        std::make_unique<NewFile>(*os_, target, reserved, old, inputs, keys_for(old, options));
    Opened opened = write_empty(*fresh, header);
    auto session = rebuild_file(std::move(old), std::move(fresh), std::move(opened));
    if (const auto* frozen = std::get_if<FrozenPlan>(&plan)) {
      session->contents().build_as(*frozen);
      session->contents().spool_to(std::make_unique<SpoolFile>(*os_, directory_of(target)),
                                   keys_in_memory_);
    }
    return FilterFile(std::move(session));
  });
}

void Files::save(const std::string& path, std::span<const std::byte> encoded,
                 std::span<const Os::Stat> inputs) const {
  at_edge(path, [&] {
    const std::string target = resolved_or_new(*os_, path);
    const File old = lock_replaced(*os_, target, true);
    NewFile fresh(*os_, target, encoded.size(), old, inputs);
    fresh.file().write(encoded, 0);
    fresh.file().sync();
    fresh.publish(old);
  });
}

const Contents& Files::contents(const FilterFile& file) noexcept {
  return file.session_->contents();
}

std::vector<File::Range> Files::data(const FilterFile& file) { return file.session_->data(); }

std::uint64_t Files::count_ones(const FilterFile& file) { return file.session_->count_ones(); }

void Files::require_undamaged(const FilterFile& file) { file.session_->require_undamaged(); }

std::optional<Os::Stat> Files::rights(const FilterFile& file) {
  const File& there = file.session_->opened().file;
  return there.is_open() ? std::optional(there.rights()) : std::nullopt;
}

bool Files::is_sparse(const FilterFile& file) {
  std::uint64_t bytes = 0;
  for (const auto [from, to] : data(file)) bytes += to - from;
  return bytes < payload_bytes(file.session_->opened().header) / 2;
}

}  // namespace bloomery::detail

namespace bloomery {

using detail::Files;

FilterFile FilterFile::create(const std::string& path, const FilterPlan& plan,
                              const CreateOptions& options) {
  return Files(real_os()).create(path, plan, options);
}

FilterFile FilterFile::open(const std::string& path, const OpenOptions& options) {
  return Files(real_os()).open(path, options);
}

FilterFile FilterFile::open_or_create(const std::string& path, const FilterPlan& plan,
                                      const CreateOptions& options) {
  return Files(real_os()).open_or_create(path, plan, options);
}

FilterFile FilterFile::rebuild(const std::string& path, const FilterPlan& plan,
                               const CreateOptions& options) {
  return Files(real_os()).rebuild(path, plan, options);
}

}  // namespace bloomery
