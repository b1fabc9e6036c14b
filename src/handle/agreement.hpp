// Whether a filter that is there is the one that was asked for.
#pragma once

#include "handle/impl.hpp"

namespace bloomery::detail {

// Error{mismatch}, naming the first difference between what spec and options give and what the filter
// was created from. What they leave open, or the place does not tell, is not compared.
void require_agreement(const AnyFilter::Impl& filter, const FilterSpec& spec,
                       const AnyOptions& options);

}  // namespace bloomery::detail
