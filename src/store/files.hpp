// The filter files of one operating system: this class does what FilterFile's static functions do on the real one.
// Tests use it with another one.
#pragma once

#include <bloomery/filter_file.hpp>

#include "base/os.hpp"

#include <span>
#include <string>

namespace bloomery::detail {

class Contents;

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
                     const CreateOptions& options = {},
                     std::span<const Os::Stat> inputs = {}) const;

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

 private:
  FilterFile create_once(const std::string& path, const FilterPlan& plan,
                         const CreateOptions& options) const;
  // A filter that gets its path when it is closed, and replaces the file there if there is one.
  FilterFile build(const std::string& path, const FilterPlan& plan, const CreateOptions& options,
                   std::span<const Os::Stat> inputs, bool replace) const;

  Os* os_;
  std::uint64_t keys_in_memory_;
};

}  // namespace bloomery::detail
