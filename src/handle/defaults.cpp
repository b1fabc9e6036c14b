// What a place does not support, and defaults that it may override.
#include "handle/impl.hpp"

#include "handle/places.hpp"

namespace bloomery {

using namespace detail;

std::size_t AnyFilter::Impl::apply(Operation, std::span<const Hash128>, std::span<bool>) {
  refuse(ErrorCode::wrong_kind, "it hashes keys itself; give their bytes");
}

std::size_t AnyFilter::Impl::apply(Operation operation, Keys keys, std::span<bool> answers) {
  const std::vector<Hash128> hashes = hash_keys(*hasher(), keys);
  return apply(operation, std::span<const Hash128>(hashes), answers);
}

std::size_t AnyFilter::Impl::insert_bits(std::string_view, std::span<bool>) {
  refuse(ErrorCode::wrong_kind,
         "only a filter of a PHP class on a server answers for each bit; use insert");
}

void AnyFilter::Impl::require_removal() const {
  throw PlanError(ErrorCode::wrong_kind, PlanField::kind,
                  ": keys cannot be removed from its bits, which many keys share; make a filter of "
                  "{kind} counting",
                  name_);
}

std::vector<std::byte> AnyFilter::Impl::encode() {
  refuse(ErrorCode::wrong_kind,
         "cannot be written as a filter file; bloomery convert copies it to another place");
}

std::uint64_t AnyFilter::Impl::encoded_size() { return encode().size(); }

void AnyFilter::Impl::merge(const FilterView&) { refuse_merge(); }
void AnyFilter::Impl::merge(const CountingView&) { refuse_merge(); }
void AnyFilter::Impl::refuse_merge() const {
  refuse(ErrorCode::wrong_kind,
         "filters are merged into one in memory or in a file; merge by location makes a new one");
}

void AnyFilter::Impl::intersect(const FilterView&) {
  refuse(ErrorCode::wrong_kind, "only a plain filter in memory is intersected; take a copy of it");
}

void AnyFilter::Impl::clear() {
  refuse(ErrorCode::wrong_kind,
         "only a filter in memory is cleared; create a new one in the place of this one");
}

std::unique_ptr<AnyFilter::Impl> AnyFilter::Impl::copy() { return memory_filter(encode()); }

bool AnyFilter::Impl::reload() {
  refuse(ErrorCode::wrong_kind, "only a reader of a file is reloaded; others are never behind");
}

void AnyFilter::Impl::refuse(ErrorCode code, const std::string& what) const {
  throw Error(code, name_ + ": " + what);
}

std::uint64_t AnyFilter::Impl::begin_batch(std::string_view) {
  refuse(ErrorCode::wrong_kind,
         "only a filter file knows which keys of a batch are done; repeat all");
}

void AnyFilter::Impl::refuse_insert_absent() const {
  refuse(ErrorCode::wrong_kind, "insert_absent is for filters in memory; ask first, then insert");
}

}  // namespace bloomery
