// The report at the end of a run.
#include "verbs/runs.hpp"

#include "output/output.hpp"
#include "output/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace bloomery::cli {

nlohmann::ordered_json stream_json(const StreamResult& stream) {
  nlohmann::ordered_json json = {
      {"lines", stream.lines}, {"bytes", stream.bytes}, {"seconds", stream.seconds}};
  if (stream.signal != 0) json["signal"] = stream.signal;
  return json;
}

void remark_stream(const StreamResult& stream, const std::string& outcome) {
  const double speed = static_cast<double>(stream.lines) / std::max(stream.seconds, 1e-9);
  remark(fmt::format("{}, {}; {} in {} ({}){}", counted(stream.lines, "line"), outcome,
                     bytes_text(stream.bytes), duration_text(stream.seconds), speed_text(speed),
                     stream.signal != 0 ? "; stopped by a signal" : ""));
  if (stream.empty != 0)
    remark(fmt::format("{} {} an empty key: the field is not there, or nothing is in it",
                       counted(stream.empty, "line"), stream.empty == 1 ? "has" : "have"));
}

void keep_output(OutputFile& output, const StreamResult& stream) {
  if (stream.signal == 0) {
    output.keep();
  } else if (output.waits()) {
    remark(fmt::format("{} is unchanged: the run stopped before the last line", output.path()));
  }
}

int exit_code(const StreamResult& stream, std::uint64_t found) {
  if (stream.signal != 0) return kExitSignal + stream.signal;
  return found > 0 ? kExitFound : kExitNothing;
}

}  // namespace bloomery::cli
