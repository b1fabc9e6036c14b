// Sets the owner first: a change of owner removes permissions.
#include "store/disk/rights.hpp"

#include <algorithm>
#include <cerrno>

namespace bloomery::detail {

namespace {

constexpr std::uint32_t kUser = 0700, kRead = 0044, kOthers = 0066;

// The value that all inputs have, or else the file's own value.
std::uint32_t common(std::span<const Os::Stat> inputs, std::uint32_t Os::Stat::*value,
                     std::uint32_t own) {
  const auto same = [&](const Os::Stat& each) { return each.*value == inputs.front().*value; };
  return !inputs.empty() && std::ranges::all_of(inputs, same) ? inputs.front().*value : own;
}

void take_owner(File& file, std::uint32_t user, std::uint32_t group) {
  const Os::Stat mine = file.stat();
  if (mine.user == user && mine.group == group) return;
  if (!file.try_own(user, group)) (void)file.try_own(std::nullopt, group);
}

// Whether one of them is denied to some user.
bool hides(std::span<const Os::Stat> keys) noexcept {
  return std::ranges::any_of(
      keys, [](const Os::Stat& each) { return each.has_acl || (each.mode & kRead) != kRead; });
}

// As Os::gives_acl: 1, 0, or another number if the system does not tell.
int gives_list(Os& os, const std::string& directory) {
  return uninterrupted([&] { return os.gives_acl(directory.c_str()); });
}

}  // namespace

std::uint32_t mode_from(const Os::Stat& from, std::uint32_t user, std::uint32_t group) noexcept {
  std::uint32_t mode = from.mode;
  if (from.user == user && from.group == group) return mode;
  mode &= 0777U;
  if (from.user != user) mode &= 0700U | ((mode >> 3) & 0070U) | ((mode >> 6) & 0007U);
  if (from.group != group) {
    const std::uint32_t both = (mode >> 3) & mode & 0007U;
    mode = (mode & 0700U) | both << 3 | both;
  }
  return mode;
}

std::vector<Os::Stat> rights_of(Os& os, std::span<const std::string> paths) {
  std::vector<Os::Stat> rights;
  for (const std::string& path : paths) {
    Os::Stat found;
    const int looked = uninterrupted([&] { return os.stat_path(path.c_str(), found); });
    // Nobody can open it by this path, or it is an address, which is a bad path anywhere.
    if (looked == -ENOENT || looked == -ENOTDIR || looked == -EACCES || looked == -ENAMETOOLONG)
      continue;
    if (looked < 0) throw os_error(-looked, path, "look at it");
    found.has_acl = uninterrupted([&] { return os.has_acl(path.c_str()); }) != 0;
    rights.push_back(found);
  }
  return rights;
}

void take_rights(File& file, const Os::Stat* replaced, std::span<const Os::Stat> inputs,
                 const File* old) {
  Os::Stat mine = file.stat();
  if (replaced != nullptr)
    take_owner(file, replaced->user, replaced->group);
  else
    take_owner(file, common(inputs, &Os::Stat::user, mine.user),
               common(inputs, &Os::Stat::group, mine.group));
  mine = file.stat();
  std::uint32_t mode = replaced != nullptr ? mode_from(*replaced, mine.user, mine.group)
                                           : 0666U & ~file.os().umask();
  for (const Os::Stat& input : inputs)
    mode &= input.has_acl ? kUser : mode_from(input, mine.user, mine.group);
  file.take_acl(nullptr);  // that of the directory
  if (replaced != nullptr && replaced->has_acl) {
    const bool is_same =
        mine.user == replaced->user && mine.group == replaced->group && mode == replaced->mode;
    if (is_same && old != nullptr) return file.take_acl(old);
    mode &= kUser;
  }
  file.set_mode(mode);
}

std::vector<Os::Stat> rights_of_keys(Os& os, std::span<const std::string> paths) {
  std::vector<Os::Stat> rights;
  for (const std::string& path : paths) {
    const std::vector<Os::Stat> found = rights_of(os, {&path, 1});
    if (found.empty() || found.front().regular)
      rights.push_back(found.empty() ? Os::Stat{} : found.front());
  }
  return rights;
}

std::uint32_t mode_to_create(Os& os, const std::string& directory, std::span<const Os::Stat> keys) {
  if (hides(keys)) return 0600;
  if (keys.empty() || gives_list(os, directory) == 1) return 0666;
  std::uint32_t mode = 0666;
  // Nobody knows yet which group the file will have: that of another one gets the least.
  for (const Os::Stat& each : keys) mode &= kUser | mode_from(each, each.user + 1, each.group + 1);
  return mode;
}

void take_rights_of_keys(File& file, const std::string& directory, std::span<const Os::Stat> keys) {
  if (keys.empty()) return;
  const Os::Stat mine = file.rights();
  const bool has_list = mine.has_acl || gives_list(file.os(), directory) != 0;
  if (has_list && !hides(keys)) return;  // the list decides
  // It would count as soon as somebody gives the group a right.
  if (mine.has_acl) file.take_acl(nullptr);
  std::uint32_t most = has_list ? 0600 : 0666;
  for (const Os::Stat& each : keys)
    most &= kUser | (each.has_acl ? 0U : mode_from(each, mine.user, mine.group));
  if ((mine.mode & kRead & ~most) != 0)  // its file system keeps no permissions
    throw Error(ErrorCode::io,
                file.path() +
                    ": cannot be denied to users who cannot read its keys; make it on "
                    "another file system, or let everybody read them");
  const std::uint32_t wanted = most & ~file.os().umask();
  if ((wanted & kOthers & ~mine.mode) == 0) return;
  try {
    file.set_mode(wanted);
  } catch (const Error&) {  // then the file is for fewer users
  }
}

}  // namespace bloomery::detail
