// Module arguments and CONFIG parameters.
#include "settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

#include "pages.hpp"

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

int get_answer(const char*, void* answer) noexcept {
  return *static_cast<std::atomic<bool>*>(answer) ? 1 : 0;
}
int set_answer(const char*, int value, void* answer, String**) noexcept {
  *static_cast<std::atomic<bool>*>(answer) = value != 0;
  return kOk;
}

long long get_number(const char*, void* number) noexcept {
  return *static_cast<long long*>(number);
}
int set_number(const char*, long long value, void* number, String**) noexcept {
  *static_cast<long long*>(number) = value;
  return kOk;
}

// The fpr as text. The server borrows it when it asks for it.
String* shown_fpr = nullptr;

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
  if (api.StringToDouble(value, &fpr) == kOk && set_fpr(fpr)) return kOk;
  *error = new_text("error-rate must be a number above 0 and below 1");
  return kErr;
}

// ---- arguments ----------------------------------------------------------------------------------

// Those that take yes or no.
struct Answer {
  std::string_view word;
  std::atomic<bool>* answer;
};
const Answer yes_or_no[] = {{"keyed", &settings.keyed},
                            {"huge-pages", &huge_pages_wanted},
                            {"client-time", &settings.client_time}};

bool take_number(const String* value, long long min, long long max, long long& number) {
  long long parsed = 0;
  if (api.StringToLongLong(value, &parsed) != kOk || parsed < min || parsed > max) return false;
  number = parsed;
  return true;
}

struct Number {
  const char* word;  // as CONFIG has it
  long long* number;
  long long least;
  long long most;
};
const Number numbers[] = {{"initial-size", &settings.capacity, 1, kMaxRedisBloomCapacity},
                          {"expansion", &settings.expansion, 0, kMaxExpansion},
                          {"cf-initial-size", &settings.cuckoo.capacity, 2, kMaxCuckooCapacity},
                          {"cf-bucket-size", &settings.cuckoo.bucket_size, 1, 255},
                          {"cf-max-iterations", &settings.cuckoo.max_iterations, 1, 65535},
                          {"cf-expansion-factor", &settings.cuckoo.expansion, 0, kMaxExpansion},
                          {"cf-max-expansions", &settings.cuckoo.max_expansions, 1, 65536}};

// The name of an argument as CONFIG has it.
std::string config_name(const String* argument) {
  std::string name(text_of(argument));
  for (char& letter : name)
    letter = letter == '_'                    ? '-'
             : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32)
                                              : letter;
  if (name == "bf-expansion-factor" || name == "expansion-factor") return "expansion";
  return name.starts_with("bf-") ? name.substr(3) : name;
}

bool take_argument(const std::string& name, const String* value) {
  if (name == "layout") {
    settings.family = is_word(value, "native") ? Family::native : Family::redisbloom;
    return is_word(value, "native") || is_word(value, "redisbloom");
  }
  for (const auto& [word, answer] : yes_or_no)
    if (name == word) {
      *answer = is_word(value, "yes");
      return *answer || is_word(value, "no");
    }
  if (name == "error-rate") {
    double fpr = 0;
    return api.StringToDouble(value, &fpr) == kOk && set_fpr(fpr);
  }
  for (const auto& [word, number, least, most] : numbers)
    if (name == word) return take_number(value, least, most, *number);
  return false;
}

}  // namespace

bool register_settings(Context* context, String** arguments, int count) {
  set_fpr(settings.fpr);
  for (int i = 0; i < count; i += 2) {
    if (i + 1 < count && take_argument(config_name(arguments[i]), arguments[i + 1])) continue;
    api.Log(context, "warning",
            "bloomery: the module argument '%s' is unknown or its value is wrong; it takes "
            "layout native|redisbloom, error_rate RATE, initial_size ITEMS, expansion FACTOR, "
            "keyed yes|no, huge_pages yes|no, client_time yes|no, cf_initial_size ITEMS, "
            "cf_bucket_size SLOTS, cf_max_iterations N, cf_expansion_factor FACTOR, "
            "cf_max_expansions N",
            std::string(text_of(arguments[i])).c_str());
    return false;
  }
  const std::string fpr(text_of(shown_fpr));
  const bool registered =
      api.RegisterEnumConfig(context, "layout", static_cast<int>(settings.family), 0, layout_names,
                             layout_values, 2, get_layout, set_layout, nullptr, nullptr) == kOk &&
      api.RegisterEnumConfig(context, "keyed", settings.keyed ? 1 : 0, 0, answer_names,
                             answer_values, 2, get_answer, set_answer, nullptr,
                             &settings.keyed) == kOk &&
      api.RegisterEnumConfig(context, "huge-pages", huge_pages_wanted ? 1 : 0, 0, answer_names,
                             answer_values, 2, get_answer, set_answer, nullptr,
                             &huge_pages_wanted) == kOk &&
      api.RegisterEnumConfig(context, "client-time", settings.client_time ? 1 : 0, 0, answer_names,
                             answer_values, 2, get_answer, set_answer, nullptr,
                             &settings.client_time) == kOk &&
      api.RegisterStringConfig(context, "error-rate", fpr.c_str(), 0, get_fpr, set_fpr_text,
                               nullptr, nullptr) == kOk &&
      std::all_of(std::begin(numbers), std::end(numbers), [&](const Number& number) {
        return api.RegisterNumericConfig(context, number.word, *number.number, 0, number.least,
                                         number.most, get_number, set_number, nullptr,
                                         number.number) == kOk;
      });
  return registered && api.LoadConfigs(context) == kOk;
}

}  // namespace bloomery::server
