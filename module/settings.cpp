// Module arguments and CONFIG parameters.
#include "settings.hpp"

#include <strings.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "pages.hpp"

namespace bloomery::server {

Settings settings;

namespace {

std::string text_of(const String* value) {
  std::size_t size = 0;
  const char* bytes = api.StringPtrLen(value, &size);
  return {bytes, size};
}

String* new_text(const std::string& text) noexcept {
  return api.CreateString(nullptr, text.data(), text.size());
}

// ---- CONFIG -----------------------------------------------------------------------------------------

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

int get_keyed(const char*, void*) noexcept { return settings.keyed ? 1 : 0; }
int set_keyed(const char*, int value, void*, String**) noexcept {
  settings.keyed = value != 0;
  return kOk;
}

int get_huge_pages(const char*, void*) noexcept { return huge_pages_wanted ? 1 : 0; }
int set_huge_pages(const char*, int value, void*, String**) noexcept {
  huge_pages_wanted = value != 0;
  return kOk;
}

long long get_number(const char*, void* number) noexcept {
  return *static_cast<long long*>(number);
}
int set_number(const char*, long long value, void* number, String**) noexcept {
  *static_cast<long long*>(number) = value;
  return kOk;
}

// The server asks for the text of a rate and keeps it until it asks again.
String* shown_fpr = nullptr;

bool set_fpr(double fpr) {
  if (!(fpr > 0 && fpr < 1)) return false;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.17g", fpr);
  // The shortest text that means the same number.
  for (int digits = 1; digits < 17; ++digits) {
    std::array<char, 32> shorter;
    std::snprintf(shorter.data(), shorter.size(), "%.*g", digits, fpr);
    if (std::strtod(shorter.data(), nullptr) == fpr) {
      text = shorter;
      break;
    }
  }
  settings.fpr = fpr;
  if (shown_fpr != nullptr) api.FreeString(nullptr, shown_fpr);
  shown_fpr = new_text(text.data());
  return true;
}

String* get_fpr(const char*, void*) noexcept { return shown_fpr; }
int set_fpr_text(const char*, String* value, void*, String** error) noexcept {
  double fpr = 0;
  if (api.StringToDouble(value, &fpr) == kOk && set_fpr(fpr)) return kOk;
  *error = new_text("error-rate must be a number above 0 and below 1");
  return kErr;
}

// ---- arguments --------------------------------------------------------------------------------------

bool take_number(const String* value, long long least, long long most, long long& number) {
  long long parsed = 0;
  if (api.StringToLongLong(value, &parsed) != kOk || parsed < least || parsed > most) return false;
  number = parsed;
  return true;
}

bool take_argument(std::string_view name, const String* value) {
  const auto is = [&](std::string_view other) {
    return name.size() == other.size() && strncasecmp(name.data(), other.data(), other.size()) == 0;
  };
  if (is("layout")) {
    const std::string layout = text_of(value);
    if (strcasecmp(layout.c_str(), "native") == 0)
      settings.family = Family::native;
    else if (strcasecmp(layout.c_str(), "redisbloom") == 0)
      settings.family = Family::redisbloom;
    else
      return false;
    return true;
  }
  if (is("keyed") || is("huge_pages")) {
    const std::string answer = text_of(value);
    const bool yes = strcasecmp(answer.c_str(), "yes") == 0;
    if (!yes && strcasecmp(answer.c_str(), "no") != 0) return false;
    if (is("keyed"))
      settings.keyed = yes;
    else
      huge_pages_wanted = yes;
    return true;
  }
  if (is("error_rate")) {
    double fpr = 0;
    return api.StringToDouble(value, &fpr) == kOk && set_fpr(fpr);
  }
  if (is("initial_size")) return take_number(value, 1, kMaxRedisBloomCapacity, settings.capacity);
  if (is("expansion")) return take_number(value, 0, kMaxExpansion, settings.expansion);
  return false;
}

}  // namespace

bool register_settings(Context* context, String** arguments, int count) {
  set_fpr(settings.fpr);
  for (int i = 0; i < count; i += 2) {
    const std::string name = text_of(arguments[i]);
    if (i + 1 < count && take_argument(name, arguments[i + 1])) continue;
    api.Log(context, "warning",
            "bloomery: the module argument '%s' is unknown or its value is wrong; it takes "
            "layout native|redisbloom, error_rate RATE, initial_size ITEMS, expansion FACTOR, "
            "keyed yes|no, huge_pages yes|no",
            name.c_str());
    return false;
  }
  std::size_t size = 0;
  const std::string fpr = api.StringPtrLen(shown_fpr, &size);
  const bool registered =
      api.RegisterEnumConfig(context, "layout", static_cast<int>(settings.family), 0, layout_names,
                             layout_values, 2, get_layout, set_layout, nullptr, nullptr) == kOk &&
      api.RegisterEnumConfig(context, "keyed", settings.keyed ? 1 : 0, 0, answer_names,
                             answer_values, 2, get_keyed, set_keyed, nullptr, nullptr) == kOk &&
      api.RegisterEnumConfig(context, "huge-pages", huge_pages_wanted ? 1 : 0, 0, answer_names,
                             answer_values, 2, get_huge_pages, set_huge_pages, nullptr,
                             nullptr) == kOk &&
      api.RegisterStringConfig(context, "error-rate", fpr.c_str(), 0, get_fpr, set_fpr_text,
                               nullptr, nullptr) == kOk &&
      api.RegisterNumericConfig(context, "initial-size", settings.capacity, 0, 1,
                                kMaxRedisBloomCapacity, get_number, set_number, nullptr,
                                &settings.capacity) == kOk &&
      api.RegisterNumericConfig(context, "expansion", settings.expansion, 0, 0, kMaxExpansion,
                                get_number, set_number, nullptr, &settings.expansion) == kOk;
  return registered && api.LoadConfigs(context) == kOk;
}

}  // namespace bloomery::server
