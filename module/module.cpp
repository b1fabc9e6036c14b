// The entry point: what a server calls when it loads bloomery.so.
#include <bloomery/version.hpp>

#include <exception>

#include "commands/command.hpp"
#include "commands/guess.hpp"
#include "commands/settings.hpp"
#include "cuckoo/command_table.hpp"
#include "cuckoo/key.hpp"
#include "server/api.hpp"
#include "types/statistics.hpp"
#include "types/type.hpp"
#include "values/kernels.hpp"

namespace {

using namespace bloomery::server;

// The name of RedisBloom and valkey-bloom: clients look for it.
constexpr const char* kName = "bf";
constexpr int kVersion =
    BLOOMERY_VERSION_MAJOR * 10000 + BLOOMERY_VERSION_MINOR * 100 + BLOOMERY_VERSION_PATCH;

bool refuse(Context* context, const char* reason) {
  api.Log(context, "warning", "bloomery: %s", reason);
  return false;
}

bool load(Context* context, String** arguments, int count) {
  bloomery::server::choose_kernels();
  if (!register_types(context) || !cuckoo::register_type(context))
    return refuse(context,
                  "the data type MBbloom--, MBbloomCF or bloomery- is taken; unload the module "
                  "that has it (RedisBloom)");
  if (!register_commands(context) || !cuckoo::register_commands(context))
    return refuse(context, "a command named BF.* or CF.* is taken; unload the module that has it");
  if (!register_statistics(context)) return refuse(context, "the server refuses the INFO section");
  if (!register_settings(context, arguments, count))
    return refuse(context, "the server refuses the settings");
  // The last that can fail: Redis 7.0 keeps the filter of a module that it does not load, and calls it.
  if (api.RegisterCommandFilter(context, guess, kFilterNotOwnCalls) == nullptr)
    return refuse(context, "the server refuses a command filter");
  // The server imports slots by commands that count as replicated, so no setting of this server refuses a filter.
  api.SetModuleOptions(context, kHandleIoErrors | kNoImplicitSignalModified | kHandleAsyncLoad |
                                    (api.is_valkey ? kHandleSlotMigration : 0));
  return true;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(Context* context,
                                                                 String** arguments,
                                                                 int count) noexcept {
  if (!load_api(context)) return kErr;
  if (api.IsModuleNameBusy(kName) != 0) return kErr;
  api.SetModuleAttribs(context, kName, kVersion, kApiVersion);
  try {
    return load(context, arguments, count) ? kOk : kErr;
  } catch (const std::exception& error) {
    refuse(context, error.what());
    return kErr;
  }
}
