// The filter files of one operating system: this class does what FilterFile's static functions do on the real one.
// Tests use it with another one.
#pragma once

#include <bloomery/filter_file.hpp>

#include "base/file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bloomery::detail {

class Contents;

// When a new file gets room on the device: all of it before the first key, or what each key needs. Then the rest are
// holes. as_replaced: at once, unless the file that it replaces consists mostly of holes.
enum class Room : std::uint8_t { at_once, as_needed, as_replaced };

class Files {
 public:
  // `keys_in_memory`: the most keys of a frozen filter that are in memory before it is built; the others are in a
  // spool file.
  explicit Files(Os& os, std::uint64_t keys_in_memory = kFrozenKeysInMemory) noexcept
      : os_(&os), keys_in_memory_(keys_in_memory) {}

  // These are the same as in FilterFile.
  FilterFile create(const std::string& path, const FilterPlan& plan,
                    const CreateOptions& options = {}) const;
  FilterFile open(const std::string& path, const OpenOptions& options = {}) const;
  FilterFile open_or_create(const std::string& path, const FilterPlan& plan,
                            const CreateOptions& options = {}) const;
  // `inputs`: the files that it is made from; a user who has no access to one of them has no access to the new file.
  FilterFile rebuild(const std::string& path, const FilterPlan& plan,
                     const CreateOptions& options = {}, std::span<const Os::Stat> inputs = {},
                     Room room = Room::as_replaced) const;

  // Writes a filter that encode() returned as a new file and puts all of it on the device. It replaces another filter
  // file at the path. `inputs` as for rebuild. Errors as for create.
  void save(const std::string& path, std::span<const std::byte> encoded,
            std::span<const Os::Stat> inputs = {}) const;

  // These are the same as the free functions of these names.
  VerifyReport verify(const std::string& path) const;
  SalvageReport salvage(const std::string& path, const std::string& out,
                        bool replace = false) const;

  // The filter in a file, whatever its kind is.
  [[nodiscard]] static const Contents& contents(const FilterFile& file) noexcept;
  // The bytes of its bits that may not be zeros, as ranges: those that are not holes of the file.
  [[nodiscard]] static std::vector<File::Range> data(const FilterFile& file);
  // The ones of a plain filter; holes are not read.
  [[nodiscard]] static std::uint64_t count_ones(const FilterFile& file);
  // Error{corrupt}: as far as the file's sums tell, its bits are damaged. Called before they are copied.
  static void require_undamaged(const FilterFile& file);
  // Who has access to it, at whatever path it is now. nullopt: it is closed.
  [[nodiscard]] static std::optional<Os::Stat> rights(const FilterFile& file);
  // Whether most of its bits are holes.
  [[nodiscard]] static bool is_sparse(const FilterFile& file);

 private:
  // The files of keys that a new file's permissions come from.
  [[nodiscard]] std::vector<Os::Stat> keys_for(const File& replaced,
                                               const CreateOptions& options) const;
  FilterFile create_once(const std::string& path, const FilterPlan& plan,
                         const CreateOptions& options) const;
  // A filter that gets its path when it is closed, and replaces the file there if there is one.
  FilterFile build(const std::string& path, const FilterPlan& plan, const CreateOptions& options,
                   std::span<const Os::Stat> inputs, bool replace, Room room) const;

  Os* os_;
  std::uint64_t keys_in_memory_;
};

}  // namespace bloomery::detail
