// The filter files of one operating system: what FilterFile's static functions do on the real one.
// Tests do the same on another.
#pragma once

#include <bloomery/filter_file.hpp>

#include "base/os.hpp"

#include <span>
#include <string>

namespace bloomery::detail {

class Contents;

class Files {
 public:
  // `keys_in_memory`: of a frozen filter that is built; the others wait in a file.
  explicit Files(Os& os, std::uint64_t keys_in_memory = kFrozenKeysInMemory) noexcept
      : os_(&os), keys_in_memory_(keys_in_memory) {}

  // As in FilterFile.
  FilterFile create(const std::string& path, const FilterPlan& plan,
                    const CreateOptions& options = {}) const;
  FilterFile open(const std::string& path, const OpenOptions& options = {}) const;
  FilterFile open_or_create(const std::string& path, const FilterPlan& plan,
                            const CreateOptions& options = {}) const;
  // `inputs`: files that it is made from; users whom they keep out cannot open it either.
  FilterFile rebuild(const std::string& path, const FilterPlan& plan,
                     const CreateOptions& options = {},
                     std::span<const Os::Stat> inputs = {}) const;

  // Writes a filter that encode() gave as a new file, all of it on the device; another filter file at the path is
  // replaced. `inputs` as of rebuild. Errors as of create.
  void save(const std::string& path, std::span<const std::byte> encoded,
            std::span<const Os::Stat> inputs = {}) const;

  // As the functions of the same name.
  VerifyReport verify(const std::string& path) const;
  SalvageReport salvage(const std::string& path, const std::string& out,
                        bool replace = false) const;

  // What a file has: its filter, whatever its kind.
  [[nodiscard]] static const Contents& contents(const FilterFile& file) noexcept;

 private:
  FilterFile create_once(const std::string& path, const FilterPlan& plan,
                         const CreateOptions& options) const;
  // A filter that appears, or takes the place of another, when it is closed.
  FilterFile build(const std::string& path, const FilterPlan& plan, const CreateOptions& options,
                   std::span<const Os::Stat> inputs, bool replace) const;

  Os* os_;
  std::uint64_t keys_in_memory_;
};

}  // namespace bloomery::detail
