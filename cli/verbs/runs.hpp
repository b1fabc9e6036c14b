// Runs over lines: filling a new filter from them, and what a run did, in a line for people, JSON and an exit code.
#pragma once

#include "output/output_file.hpp"
#include "stream/inputs.hpp"
#include "stream/stream.hpp"
#include "verbs/verbs.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bloomery::cli {

[[nodiscard]] nlohmann::ordered_json stream_json(const StreamResult& stream);
// What was read, and what came of it.
void remark_stream(const StreamResult& stream, const std::string& outcome);
// The lines take the place of the file that they are for; those of a run that a signal ended do not.
void keep_output(OutputFile& output, const StreamResult& stream);
// Puts all lines into a new filter, which is then at its place, and says so. A run that a signal ends leaves the
// place as it was. Returns the exit code.
[[nodiscard]] int fill(AnyFilter& filter, const Options& options, const std::vector<Input>& inputs);
// 128 and the signal if one ended the run, else found or nothing by the count.
[[nodiscard]] int exit_code(const StreamResult& stream, std::uint64_t found);

}  // namespace bloomery::cli
