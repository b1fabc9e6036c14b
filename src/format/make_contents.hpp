// Makes the contents of a filter from its header and its bits, or from all of its bytes.
//
// The only unit that names the class of every kind. A file of its own because the class of frozen filters
// (frozen_contents.hpp) stands on contents.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "format/contents.hpp"

namespace bloomery::detail {

// The filter that a header describes, with its bits in the payload.
[[nodiscard]] std::unique_ptr<Contents> make_contents(const Header& header, Payload payload);
// The same for bits that are stored in place: of a plain filter, or of a frozen filter with a delta.
[[nodiscard]] std::unique_ptr<BitContents> make_bits(const Header& header, Payload payload);

// As encode and decode do (encode.hpp). The filter gets memory of its own. Errors as for decode.
[[nodiscard]] std::unique_ptr<Contents> decode_contents(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<std::byte> encode_contents(const Contents& contents);

}  // namespace bloomery::detail
