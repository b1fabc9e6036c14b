// Runs over lines: fills a new filter, and reports what a run did in a line for people, JSON and an exit code.
#pragma once

#include "input/inputs.hpp"
#include "output/output_file.hpp"
#include "stream/stream.hpp"
#include "verbs/verbs.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bloomery::cli {

[[nodiscard]] nlohmann::ordered_json stream_json(const StreamResult& stream);
// Prints what was read, and the outcome.
void remark_stream(const StreamResult& stream, const std::string& outcome);
// The printed lines replace the output file, unless a signal ended the run.
void keep_output(OutputFile& output, const StreamResult& stream);
// Puts all lines into a new filter, which then replaces the old one at its place, and says so. If a signal ends
// the run, the place stays as it was. Returns the exit code.
[[nodiscard]] int fill(AnyFilter& filter, const Options& options, const std::vector<Input>& inputs);
// 128 plus the signal if one ended the run, otherwise found or nothing, by the count.
[[nodiscard]] int exit_code(const StreamResult& stream, std::uint64_t found);

}  // namespace bloomery::cli
