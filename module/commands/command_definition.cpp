// Creating a command, and replying what it throws.
#include "commands/command_definition.hpp"

#include <bloomery/error.hpp>

#include <array>
#include <new>
#include <string>

namespace bloomery::server {

namespace {

constexpr const char* kNoMemory = "ERR Insufficient memory to create filter";

KeySpec key_spec(std::uint64_t flags, int first, int last) {
  KeySpec spec;
  spec.flags = flags;
  spec.begin_search = 2;
  spec.begin.position = first;
  spec.find_keys = 2;
  spec.find = {last, 1, 0};
  return spec;
}

// `category`: our own, in addition to those of its access; empty: the server takes none.
bool create(Context* context, Described command, const char* category) {
  const bool has_sources = command.arguments.back().key_spec_index == 1;
  if (api.CreateCommand(context, command.name, command.function.called, command.access.flags, 1,
                        has_sources ? -1 : 1, 1) != kOk)
    return false;
  Command* const made = api.GetCommand(context, command.name);
  static const CommandInfoVersion version;
  std::array<KeySpec, 3> specs = {};
  specs[0] = key_spec(command.access.key_flags, 1, 0);
  if (has_sources) specs[1] = key_spec(kKeyReadOnly | kKeyAccess, 2, -1);
  command.arguments.push_back(kEnd);
  CommandInfo info;
  info.version = &version;
  info.summary = command.summary;
  info.complexity = command.complexity;
  info.since = command.since;
  info.tips = command.tips;
  std::array<CommandHistory, 2> history = {{{kOwnSince, command.changes}, {}}};
  if (history[0].changes != nullptr) info.history = history.data();
  info.arity = command.function.arity;
  info.key_specs = specs.data();
  info.arguments = command.arguments.data();
  if (made == nullptr || api.SetCommandInfo(made, &info) != kOk) return false;
  // Redis and Valkey 7.2 accept only their own categories, older servers none. With one unknown
  // category the command would get no category at all.
  if (api.SetCommandACLCategories == nullptr) return true;
  const std::string categories =
      std::string(command.access.categories) + (*category != 0 ? " " : "") + category;
  return api.SetCommandACLCategories(made, categories.c_str()) == kOk;
}

}  // namespace

void reply_exception(Context* context) noexcept {
  try {
    throw;
  } catch (const ErrorReply& error) {
    api.ReplyWithError(context, error.message);
  } catch (const WrongArity&) {
    api.WrongArity(context);
  } catch (const Error& error) {
    api.ReplyWithError(context, error.code() == ErrorCode::no_memory
                                    ? kNoMemory
                                    : ("ERR " + std::string(error.what())).c_str());
  } catch (const std::bad_alloc&) {
    api.ReplyWithError(context, kNoMemory);
  } catch (...) {
    api.ReplyWithError(context, "ERR the command failed");
  }
}

bool create_all(Context* context, std::vector<Described> commands, const char* category) {
  const bool taken = api.AddACLCategory != nullptr && api.AddACLCategory(context, category) == kOk;
  for (Described& command : commands)
    if (!create(context, std::move(command), taken ? category : "")) return false;
  return true;
}

}  // namespace bloomery::server
