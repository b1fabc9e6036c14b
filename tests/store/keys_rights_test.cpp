// The permissions of a new file of keys: as narrow as those of the files that the keys come from, from its first moment.
#include "store/disk/rights.hpp"

#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "store/fake_os.hpp"
#include "store/files.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

using namespace detail;

// A file of keys, and what a new file of user 1 and group 1 permits then if the umask denies nothing.
struct Keys {
  std::uint32_t group, mode;
  bool has_acl;
  std::uint32_t wanted;
  [[nodiscard]] bool is_for_all() const { return (mode & 044) == 044 && !has_acl; }
};
constexpr Keys kFilesOfKeys[] = {
    {1, 0666, false, 0666}, {1, 0644, false, 0644}, {1, 0444, false, 0644}, {1, 0664, false, 0664},
    {2, 0664, false, 0644}, {2, 0604, false, 0600}, {1, 0640, false, 0640}, {1, 0660, false, 0660},
    {2, 0640, false, 0600}, {1, 0600, false, 0600}, {1, 0644, true, 0600}};
const CreateOptions kFromKeys{.sources = {"/dir/keys"}};

// A system with these keys, whose directory has a list for new files, or none.
std::unique_ptr<FakeOs> with_keys(const Keys& keys, bool has_list) {
  auto os = std::make_unique<FakeOs>();
  Files(*os).create("/dir/keys", plan_of(Layout::blocked)).close();
  os->give("/dir/keys", 1, keys.group, keys.mode, keys.has_acl);
  os->list_new_files(has_list);
  return os;
}

// Keys narrow what is new, by each way to make it, but not what replaces a file.
TEST(RightsOfKeys, NarrowANewFile) {
  for (const Keys& keys : kFilesOfKeys)
    for (const std::uint32_t umask : {0U, 0022U, 0077U})
      for (const bool has_list : {false, true})
        for (const std::string way : {"create", "open_or_create", "rebuild", "frozen"}) {
          SCOPED_TRACE(std::to_string(keys.mode) + " " + std::to_string(umask) +
                       (has_list ? " list " : " ") + way);
          const auto os = with_keys(keys, has_list);
          os->set_umask(umask);
          const Files files(*os);
          const auto make = [&](const CreateOptions& options) {
            if (way == "frozen") files.create("/dir/f", frozen_plan(10, 0.01), options).close();
            const Plan plan = plan_of(Layout::blocked);
            if (way == "create") files.create("/dir/f", plan, options).close();
            if (way == "open_or_create") files.open_or_create("/dir/f", plan, options).close();
            if (way == "rebuild") files.rebuild("/dir/f", plan, options).close();
          };
          make(kFromKeys);
          Os::Stat made;
          ASSERT_EQ(os->stat_path("/dir/f", made), 0);
          const std::uint32_t usual = 0666 & ~umask;
          EXPECT_EQ(made.mode, !has_list           ? keys.wanted & usual
                               : keys.is_for_all() ? usual
                                                   : 0600U)
              << std::oct << made.mode;
          EXPECT_EQ(made.group, 1U);
          // A list that gives nothing now would count after a chmod.
          EXPECT_EQ(os->has_acl("/dir/f"), has_list && keys.is_for_all() ? 1 : 0);
          os->give("/dir/f", 1, 1, 0664);
          make({.replace = true, .sources = kFromKeys.sources});
          ASSERT_EQ(os->stat_path("/dir/f", made), 0);
          EXPECT_EQ(made.mode, 0664U) << std::oct << made.mode;
        }
}

// A user who opens it then keeps what they have.
TEST(RightsOfKeys, AreNeverWiderBeforeTheFileHasThem) {
  for (const Keys& keys : kFilesOfKeys)
    for (const bool has_list : {false, true})
      for (std::uint64_t call = 1;; ++call) {
        const auto os = with_keys(keys, false)->after_kill();
        os->list_new_files(has_list);
        os->set_umask(0);
        os->stop_before(call);
        try {
          Files(*os).create("/dir/f", plan_of(Layout::blocked), kFromKeys);
        } catch (const Error&) {
        }
        if (!os->stopped()) break;
        const auto after = os->after_kill();
        for (const char* path : {"/dir/.f.new", "/dir/f"}) {
          Os::Stat there;
          if (after->stat_path(path, there) != 0 || (has_list && keys.is_for_all())) continue;
          EXPECT_EQ(there.mode & ~keys.wanted, 0U) << std::oct << keys.mode << " call " << call;
          if (after->has_acl(path) == 1) {
            EXPECT_EQ(there.mode, 0600U);
          }
        }
      }
}

// Nobody knows from the file what such a list denies.
TEST(RightsOfKeys, CloseAFileWhoseDirectoryHasAListWithoutNames) {
  const auto os = with_keys({.group = 1, .mode = 0640, .has_acl = false, .wanted = 0}, false);
  os->list_new_files(true, false);
  Files(*os).create("/dir/f", plan_of(Layout::blocked), kFromKeys).close();
  Os::Stat made;
  ASSERT_EQ(os->stat_path("/dir/f", made), 0);
  EXPECT_EQ(made.mode, 0600U);
}

TEST(RightsOfKeys, ThatAreGoneAdmitNobody) {
  FakeOs os;
  Files(os).create("/dir/f", plan_of(Layout::blocked), {.sources = {"/dir/gone"}}).close();
  Os::Stat made;
  ASSERT_EQ(os.stat_path("/dir/f", made), 0);
  EXPECT_EQ(made.mode, 0600U);
}

// On a file system of another kind all files have one mode. It counts what others may do with the new file.
TEST(RightsOfKeys, CannotBeKeptWhereFilesHaveNone) {
  for (const std::uint32_t mode : {0700U, 0755U, 0777U})
    for (const Keys& keys : kFilesOfKeys) {
      const auto os = with_keys(keys, false);
      os->fix_modes(mode);
      const auto make = [&] {
        Files(*os).create("/dir/f", plan_of(Layout::blocked), kFromKeys).close();
      };
      if ((mode & 0044 & ~keys.wanted) == 0)
        make();
      else
        expect_error(ErrorCode::io, {"/dir/f", "cannot be denied", "another file system"}, make);
    }
}

}  // namespace
}  // namespace bloomery::test
