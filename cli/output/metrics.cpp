// The list of metrics, and the escapes of labels.
#include "output/metrics.hpp"

#include <fmt/format.h>

#include "output/message.hpp"

namespace bloomery::cli {

namespace {

struct Metric {
  std::string_view name;
  std::string_view help;
};
constexpr Metric kMetrics[] = {
    {"readable", "1: the filter could be read."},
    {"damaged", "1: its bytes do not match their checksums."},
    {"capacity_keys", "Keys up to which the stated false-positive rate holds."},
    {"inserted_keys", "Inserts that were certainly new; of a window filter, all inserts."},
    {"estimated_keys",
     "Distinct keys, estimated from the bits that are ones; of a module, the items that were new."},
    {"over_capacity", "1: it holds more keys than it was planned for."},
    {"stated_fpr", "Stated false-positive rate."},
    {"current_fpr", "False-positive rate of the bits as they are."},
    {"fill_ratio", "Share of bits that are ones, or of counters that are not 0."},
    {"size_bytes", "Bytes of all bits or counters."},
    {"sub_filters", "Sub-filters of a scalable filter."},
};

std::string label(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

void Metrics::put(std::string_view metric, double value, const std::string& labels) {
  values_.emplace_back(metric, fmt::format("{{{}}} {}\n", labels, value));
}

void Metrics::add(std::string_view name, const FilterStats& stats, bool damaged) {
  std::string labels = fmt::format("filter=\"{}\"", label(name));
  put("readable", 1, labels);
  if (stats.kind) labels += fmt::format(",kind=\"{}\"", to_string(*stats.kind));
  put("damaged", damaged ? 1 : 0, labels);
  // Values that a place does not tell are left out.
  if (stats.capacity != 0) put("capacity_keys", static_cast<double>(stats.capacity), labels);
  if (stats.inserted) put("inserted_keys", static_cast<double>(*stats.inserted), labels);
  if (stats.fill_known) put("estimated_keys", stats.estimated_items, labels);
  put("over_capacity", stats.over_capacity ? 1 : 0, labels);
  if (stats.fpr != 0) put("stated_fpr", stats.fpr, labels);
  if (stats.fill_known) put("current_fpr", stats.current_fpr, labels);
  if (stats.fill_known) put("fill_ratio", stats.fill, labels);
  if (stats.bytes != 0) put("size_bytes", static_cast<double>(stats.bytes), labels);
  if (!stats.sub_filters.empty())
    put("sub_filters", static_cast<double>(stats.sub_filters.size()), labels);
  else if (stats.module_arrays)
    put("sub_filters", static_cast<double>(*stats.module_arrays), labels);
}

void Metrics::add_unreadable(std::string_view name) {
  put("readable", 0, fmt::format("filter=\"{}\"", label(name)));
}

std::string Metrics::text() const {
  std::string out;
  for (const Metric& metric : kMetrics) {
    bool begun = false;
    for (const auto& [name, value] : values_) {
      if (name != metric.name) continue;
      if (!std::exchange(begun, true))
        out += fmt::format("# HELP bloomery_filter_{0} {1}\n# TYPE bloomery_filter_{0} gauge\n",
                           metric.name, metric.help);
      out += fmt::format("bloomery_filter_{}{}", name, value);
    }
  }
  return out;
}

}  // namespace bloomery::cli
