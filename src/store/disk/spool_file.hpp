// A spool of keys in a file without a name, on the same device as the filter that is built.
#pragma once

#include <string>
#include <utility>

#include "base/file.hpp"
#include "filter/frozen_keys.hpp"

namespace bloomery::detail {

class SpoolFile final : public KeySpool {
 public:
  // The file is created by the first write. It disappears when the process ends, however that happens. Not every file
  // system has files without names (NFS has none).
  SpoolFile(Os& os, std::string directory) : os_(&os), directory_(std::move(directory)) {}

  void write(std::span<const std::byte> bytes, std::uint64_t offset) override {
    if (!file_.is_open()) file_ = File(*os_, directory_, Os::Open::nameless);
    file_.write(bytes, offset);
  }
  void read(std::span<std::byte> bytes, std::uint64_t offset) const override {
    file_.read(bytes, offset);
  }

 private:
  Os* os_;
  std::string directory_;
  File file_;
};

}  // namespace bloomery::detail
