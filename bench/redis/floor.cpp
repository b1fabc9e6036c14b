// Commands that do next to nothing: the time that a server takes for any command of any module.
//
// It is loaded together with bloomery.so, so that the keys that it opens are filters. FLOOR.REPLY key
// item replies 1. FLOOR.READ and FLOOR.WRITE open the key as a look-up and an insert must, get its
// value, close it and reply. No module that answers from a key can be faster.
#include "server/api.hpp"

namespace {

using namespace bloomery::server;

int reply(Context* context, String**, int) noexcept { return api.ReplyWithLongLong(context, 1); }

template <int kMode>
int open_and_reply(Context* context, String** words, int count) noexcept {
  if (count != 3) return api.WrongArity(context);
  Key* key = api.OpenKey(context, words[1], kMode);
  const bool found = key != nullptr && api.ModuleTypeGetValue(key) != nullptr;
  if (key != nullptr) api.CloseKey(key);
  return api.ReplyWithLongLong(context, found ? 1 : 0);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int RedisModule_OnLoad(Context* context, String**,
                                                                 int) noexcept {
  if (!load_api(context)) return kErr;
  api.SetModuleAttribs(context, "floor", 1, kApiVersion);
  api.SetModuleOptions(context, kNoImplicitSignalModified);
  const auto create = [&](const char* name, CommandFunction function, const char* flags) {
    return api.CreateCommand(context, name, function, flags, 1, 1, 1) == kOk;
  };
  const bool created = create("floor.reply", reply, "readonly fast") &&
                       create("floor.read", open_and_reply<kRead>, "readonly fast") &&
                       create("floor.write", open_and_reply<kRead | kWrite>, "write fast deny-oom");
  return created ? kOk : kErr;
}
