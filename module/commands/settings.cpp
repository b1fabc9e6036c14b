// Module arguments and CONFIG parameters.
#include "commands/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "server/pages.hpp"

namespace bloomery::server {

Settings settings;

namespace {

String* new_text(std::string_view text) noexcept {
  return api.CreateString(nullptr, text.data(), text.size());
}

// ---- CONFIG -------------------------------------------------------------------------------------

const char* layout_names[] = {"native", "redisbloom"};
const int layout_values[] = {static_cast<int>(Family::native),
                             static_cast<int>(Family::redisbloom)};

int get_layout(const char*, void*) noexcept { return static_cast<int>(settings.family); }
int set_layout(const char*, int value, void*, String**) noexcept {
  settings.family = static_cast<Family>(value);
  return kOk;
}

const char* answer_names[] = {"no", "yes"};
const int answer_values[] = {0, 1};

// A setting has up to three names. A server that loads its configuration sets each name to its value,
// or else to the default. A default must not undo what another name has set: while the server loads, a
// value that equals `before`, the one before loading, is ignored. CONFIG REWRITE writes every name, so
// a person who edits the file may leave different values there: then the server does not start.
bool configuring = false;

template <class Value>
struct Loaded {
  Value before = {};
  bool by_other_name = false;  // a name has set it
};

// Whether a value is to be set. Nothing: it contradicts that of another name.
template <class Value>
std::optional<bool> is_to_be_set(Loaded<Value>& loaded, Value value, Value now, String** error) {
  if (!configuring) return true;
  if (value == loaded.before) return false;
  if (loaded.by_other_name && value != now) {
    *error = new_text("another name of this setting has another value; remove one of the two");
    return std::nullopt;
  }
  loaded.by_other_name = true;
  return true;
}

struct Names {
  const char* ours;
  const char* of_valkey_bloom;  // null: it has no such setting
  const char* of_redisbloom;    // without a prefix; null: it has no such setting
};

struct Answer {
  Names names;
  std::atomic<bool>* answer;
  Loaded<bool> loaded = {};
};
Answer answer_settings[] = {{{"keyed", "bloom-use-random-seed", nullptr}, &settings.keyed},
                            {{"huge-pages", nullptr, nullptr}, &huge_pages_wanted},
                            {{"client-time", nullptr, nullptr}, &settings.client_time}};

int get_answer(const char*, void* answer) noexcept {
  return *static_cast<Answer*>(answer)->answer ? 1 : 0;
}
int set_answer(const char*, int value, void* data, String** error) noexcept {
  Answer& answer = *static_cast<Answer*>(data);
  const auto is_set = is_to_be_set(answer.loaded, value != 0, answer.answer->load(), error);
  if (is_set.value_or(false)) *answer.answer = value != 0;
  return is_set ? kOk : kErr;
}

struct Number {
  Names names;
  long long* number;
  long long least;
  long long most;
  unsigned flags = 0;
  Loaded<long long> loaded = {};
};
Number number_settings[] = {
    {{"initial-size", "bloom-capacity", "bf-initial-size"},
     &settings.capacity,
     1,
     kMaxRedisBloomCapacity},
    {{"expansion", "bloom-expansion", "bf-expansion-factor"},
     &settings.expansion,
     0,
     kMaxExpansion},
    {{"bloom-memory-usage-limit", nullptr, nullptr},
     &settings.memory_limit,
     0,
     INT64_MAX,
     kConfigMemory},
    {{"cf-initial-size", nullptr, "cf-initial-size"},
     &settings.cuckoo.capacity,
     2,
     kMaxCuckooCapacity},
    {{"cf-bucket-size", nullptr, "cf-bucket-size"}, &settings.cuckoo.bucket_size, 1, 255},
    {{"cf-max-iterations", nullptr, "cf-max-iterations"},
     &settings.cuckoo.max_iterations,
     1,
     65535},
    {{"cf-expansion-factor", nullptr, "cf-expansion-factor"},
     &settings.cuckoo.expansion,
     0,
     kMaxExpansion},
    {{"cf-max-expansions", nullptr, "cf-max-expansions"},
     &settings.cuckoo.max_expansions,
     1,
     65536}};

long long get_number(const char*, void* number) noexcept {
  return *static_cast<Number*>(number)->number;
}
int set_number(const char*, long long value, void* data, String** error) noexcept {
  Number& number = *static_cast<Number*>(data);
  const auto is_set = is_to_be_set(number.loaded, value, *number.number, error);
  if (is_set.value_or(false)) *number.number = value;
  return is_set ? kOk : kErr;
}

// The fpr as text. The server borrows the text when it asks for the setting.
String* shown_fpr = nullptr;
constexpr Names kFprNames = {"error-rate", "bloom-fp-rate", "bf-error-rate"};
Loaded<double> loaded_fpr;

bool set_fpr(double fpr) {
  if (!(fpr > 0 && fpr < 1)) return false;
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), fpr, std::chars_format::general).ptr;
  settings.fpr = fpr;
  if (shown_fpr != nullptr) api.FreeString(nullptr, shown_fpr);
  shown_fpr = new_text({text.begin(), end});
  return true;
}

String* get_fpr(const char*, void*) noexcept { return shown_fpr; }
int set_fpr_text(const char*, String* value, void*, String** error) noexcept {
  double fpr = 0;
  if (api.StringToDouble(value, &fpr) != kOk || !(fpr > 0 && fpr < 1)) {
    *error = new_text("error-rate must be a number above 0 and below 1");
    return kErr;
  }
  const auto is_set = is_to_be_set(loaded_fpr, fpr, settings.fpr, error);
  if (is_set.value_or(false)) set_fpr(fpr);
  return is_set ? kOk : kErr;
}

// ---- arguments ----------------------------------------------------------------------------------

bool take_number(const String* value, long long min, long long max, long long& number) {
  long long parsed = 0;
  if (api.StringToLongLong(value, &parsed) != kOk || parsed < min || parsed > max) return false;
  number = parsed;
  return true;
}

// The name of an argument in the form of CONFIG.
std::string config_name(const String* argument) {
  std::string name(text_of(argument));
  for (char& letter : name)
    letter = letter == '_'                    ? '-'
             : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32)
                                              : letter;
  return name;
}

// Bytes with a unit, as CONFIG has them: 64mb.
bool take_bytes(const String* value, long long& number) {
  constexpr std::pair<std::string_view, long long> kUnits[] = {
      {"kb", 1LL << 10}, {"mb", 1LL << 20},    {"gb", 1LL << 30}, {"k", 1'000},
      {"m", 1'000'000},  {"g", 1'000'000'000}, {"b", 1},          {"", 1}};
  const std::string text = config_name(value);
  const auto unit =
      std::ranges::find_if(kUnits, [&](const auto& each) { return text.ends_with(each.first); });
  const char* const end = text.data() + text.size() - unit->first.size();
  long long parsed = 0;
  const auto read = std::from_chars(text.data(), end, parsed);
  if (read.ec != std::errc() || read.ptr != end || parsed < 0 || parsed > INT64_MAX / unit->second)
    return false;
  number = parsed * unit->second;
  return true;
}

// Whether an argument is a setting by any of its names, or by RedisBloom's without `bf-`.
bool is_named(std::string_view argument, const Names& names) {
  const auto is = [&](const char* name) { return name != nullptr && argument == name; };
  return is(names.ours) || is(names.of_valkey_bloom) || is(names.of_redisbloom) ||
         (names.of_redisbloom != nullptr && "bf-" + std::string(argument) == names.of_redisbloom);
}

bool take_argument(const std::string& name, const String* value) {
  if (name == "layout") {
    settings.family = is_word(value, "native") ? Family::native : Family::redisbloom;
    return is_word(value, "native") || is_word(value, "redisbloom");
  }
  for (const Answer& one : answer_settings)
    if (is_named(name, one.names)) {
      *one.answer = is_word(value, "yes");
      return *one.answer || is_word(value, "no");
    }
  if (is_named(name, kFprNames)) {
    double fpr = 0;
    return api.StringToDouble(value, &fpr) == kOk && set_fpr(fpr);
  }
  for (const Number& one : number_settings)
    if (is_named(name, one.names))
      return one.flags == kConfigMemory ? take_bytes(value, *one.number)
                                        : take_number(value, one.least, one.most, *one.number);
  return false;
}

// ---- registering --------------------------------------------------------------------------------

// Redis 8 takes names without a prefix, and introduced this function.
constexpr unsigned kUnprefixed = 1U << 9;
bool takes_unprefixed() noexcept { return api.LoadDefaultConfigs != nullptr; }

// Calls add(name, flags) for each name of a setting. The server may refuse a name without a prefix:
// the setting has other names.
template <class Add>
bool add_names(Context* context, const Names& names, Add add) {
  if (!add(names.ours, 0U)) return false;
  if (names.of_valkey_bloom != nullptr && !add(names.of_valkey_bloom, 0U)) return false;
  if (names.of_redisbloom != nullptr && takes_unprefixed() &&
      !add(names.of_redisbloom, kUnprefixed))
    api.Log(context, "notice", "bloomery: the server does not take the setting %s; use bf.%s",
            names.of_redisbloom, names.ours);
  return true;
}

bool add_answer(Context* context, Answer& one) {
  one.loaded = {.before = *one.answer};
  return add_names(context, one.names, [&](const char* name, unsigned flags) {
    return api.RegisterEnumConfig(context, name, one.loaded.before ? 1 : 0, flags, answer_names,
                                  answer_values, 2, get_answer, set_answer, nullptr, &one) == kOk;
  });
}

bool add_number(Context* context, Number& one) {
  one.loaded = {.before = *one.number};
  return add_names(context, one.names, [&](const char* name, unsigned flags) {
    return api.RegisterNumericConfig(context, name, one.loaded.before, one.flags | flags, one.least,
                                     one.most, get_number, set_number, nullptr, &one) == kOk;
  });
}

bool add_fpr(Context* context) {
  loaded_fpr = {.before = settings.fpr};
  const std::string shown(text_of(shown_fpr));
  return add_names(context, kFprNames, [&](const char* name, unsigned flags) {
    return api.RegisterStringConfig(context, name, shown.c_str(), flags, get_fpr, set_fpr_text,
                                    nullptr, nullptr) == kOk;
  });
}

bool load(Context* context) noexcept {
  configuring = true;
  const bool loaded = api.LoadConfigs(context) == kOk;
  configuring = false;
  return loaded;
}

}  // namespace

bool register_settings(Context* context, String** arguments, int count) {
  set_fpr(settings.fpr);
  for (int i = 0; i < count; i += 2) {
    if (i + 1 < count && take_argument(config_name(arguments[i]), arguments[i + 1])) continue;
    api.Log(context, "warning",
            "bloomery: the module argument '%s' is unknown or its value is wrong; it takes "
            "layout native|redisbloom, error_rate RATE, initial_size ITEMS, expansion FACTOR, "
            "keyed yes|no, huge_pages yes|no, client_time yes|no, "
            "bloom_memory_usage_limit BYTES, cf_initial_size ITEMS, "
            "cf_bucket_size ENTRIES, cf_max_iterations N, cf_expansion_factor FACTOR, "
            "cf_max_expansions N",
            std::string(text_of(arguments[i])).c_str());
    return false;
  }
  return api.RegisterEnumConfig(context, "layout", static_cast<int>(settings.family), 0,
                                layout_names, layout_values, 2, get_layout, set_layout, nullptr,
                                nullptr) == kOk &&
         std::all_of(std::begin(answer_settings), std::end(answer_settings),
                     [&](Answer& one) { return add_answer(context, one); }) &&
         add_fpr(context) &&
         std::all_of(std::begin(number_settings), std::end(number_settings),
                     [&](Number& one) { return add_number(context, one); }) &&
         load(context);
}

}  // namespace bloomery::server
