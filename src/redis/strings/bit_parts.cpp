// Fields are read together with their guards; blocks are read in one transaction.
#include "redis/strings/bit_parts.hpp"

#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "redis/cluster/transaction.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {
namespace {

constexpr std::size_t kBlockBytes = kBlockBits / 8;
// For fewer keys, the additional commands cost more than reading blocks saves.
constexpr std::size_t kFewestBlockReads = 8;

class BitPart : public BatchPart {
 public:
  BitPart(BitString& string, BitOperation operation, std::vector<std::uint32_t> keys,
          std::vector<std::uint64_t> offsets)
      : BatchPart(std::move(keys)),
        string_(string),
        operation_(operation),
        offsets_(std::move(offsets)) {}

 protected:
  [[nodiscard]] std::span<const std::uint64_t> offsets_of(std::size_t key) const {
    return std::span(offsets_).subspan(key * string_.hashes(), string_.hashes());
  }

  BitString& string_;
  BitOperation operation_;
  std::vector<std::uint64_t> offsets_;
};

class Fields : public BitPart {
  using Check = BitString::Check;

 public:
  using BitPart::BitPart;

  [[nodiscard]] Request request() override {
    Request request(string_.key());
    if (check_ == Check::length_first) string_.ask_length(request);
    for (std::size_t key = 0; key < size(); ++key)
      string_.ask_bits(request, operation_, offsets_of(key), check_);
    if (proves_) string_.ask_proof(request);
    return request;
  }

  void take(std::size_t command, const redisReply& reply) override {
    const std::size_t before = check_ == Check::length_first ? 1 : 0;
    if (command < before) return string_.check_length(reply);
    const std::size_t key = command - before;
    if (key < size()) {
      const BitString::Answer said = string_.answer_of(operation_, reply);
      answer(key, said.is_true, said.generation);
      // A set that is repeated after the proof has only the length before it.
      if (!proves_ || (proved_ && operation_ == BitOperation::set)) confirm(key);
      if (operation_ == BitOperation::set && key + 1 == size())
        string_.reaches(*std::ranges::max_element(offsets_) / 8 + 1);
    } else {
      string_.check_proof(key - size(), reply);
      if (key - size() + 1 != string_.proof_commands()) return;
      proved_ = true;
      confirm_all();
    }
  }

  [[nodiscard]] std::optional<Request> undo(const Error& fault) const override {
    // Each answer names the identity, so when all keys are answered, all bits were set in this filter.
    const bool may_leave_a_stray = operation_ == BitOperation::set && proves_ && !all_answered();
    if (!may_leave_a_stray) return std::nullopt;
    // Where another client has made such a string too, this one is told that it was cut or replaced.
    switch (fault.code()) {
      case ErrorCode::missing:
      case ErrorCode::corrupt:
      case ErrorCode::mismatch:
        return string_.removal_of_stray(offsets_.size());
      default:
        return std::nullopt;
    }
  }

 private:
  const Check check_ = string_.check_of(operation_, size());
  // A proof follows the keys, and no answer counts before it: what was cut off meanwhile would be absent, or new.
  const bool proves_ = string_.guard().identity && check_ != Check::in_scripts;
  bool proved_ = false;
};

class Blocks : public BitPart {
 public:
  using BitPart::BitPart;

  [[nodiscard]] Request request() override {
    Request request(string_.key());
    request.next().command({"MULTI"});
    string_.ask_length(request);
    string_.ask_identity(request);
    for (std::size_t key = 0; key < size(); ++key) {
      const auto offsets = offsets_of(key);
      each_block(offsets, [&](std::size_t first, std::size_t) {
        string_.ask_range(request, block_of(offsets[first]), kBlockBytes);
      });
    }
    request.next().command({"EXEC"});
    last_ = request.size() - 1;
    return request;
  }

  void take(std::size_t command, const redisReply& reply) override {
    // Before EXEC a reply says only whether the command was accepted, or why not.
    if (command < last_) {
      needs_other_ = needs_other_ || has_no_room(reply);
      if (!has_no_room(reply)) require_type(reply, REDIS_REPLY_STATUS, string_.name());
      return;
    }
    if (is_aborted(reply, string_.name())) return;
    require_type(reply, REDIS_REPLY_ARRAY, string_.name());
    require_elements(reply, last_ - 1, string_.name());
    string_.check_length(*reply.element[0]);
    string_.check_identity(*reply.element[1]);
    std::size_t taken = 2;
    for (std::size_t key = 0; key < size(); ++key) {
      const auto offsets = offsets_of(key);
      bool all = true;
      each_block(offsets, [&](std::size_t first, std::size_t end) {
        const redisReply& block = *reply.element[taken++];
        require_type(block, REDIS_REPLY_STRING, string_.name());
        if (block.len != kBlockBytes)
          throw Error(ErrorCode::corrupt,
                      string_.name() + " was cut short; build the filter again");
        for (std::size_t i = first; i < end; ++i) {
          const auto byte = static_cast<unsigned char>(block.str[offsets[i] / 8 % kBlockBytes]);
          all = all && (byte >> (7 - offsets[i] % 8) & 1) != 0;
        }
      });
      answer(key, all);
    }
    confirm_all();
  }

  // A node cannot redirect a transaction that has begun, and does not queue its commands if its memory is full.
  [[nodiscard]] std::unique_ptr<BatchPart> instead() override {
    return std::make_unique<Fields>(string_, operation_, std::move(keys_), std::move(offsets_));
  }
  [[nodiscard]] bool needs_other() const override { return needs_other_; }

 private:
  // The first byte of an offset's block in the string.
  static std::uint64_t block_of(std::uint64_t offset) {
    static_assert(kRedisHeaderBytes % kBlockBytes == 0);
    return offset / kBlockBits * kBlockBytes;
  }
  // Calls use(first, last + 1) for each run of offsets in one block.
  static void each_block(std::span<const std::uint64_t> offsets, auto use) {
    for (std::size_t first = 0; first < offsets.size();) {
      std::size_t end = first + 1;
      while (end < offsets.size() && block_of(offsets[end]) == block_of(offsets[first])) ++end;
      use(first, end);
      first = end;
    }
  }

  std::size_t last_ = 0;  // the index of EXEC
  bool needs_other_ = false;
};

}  // namespace

std::unique_ptr<BatchPart> bit_part(BitString& string, BitOperation operation,
                                    std::vector<std::uint32_t> keys,
                                    std::vector<std::uint64_t> offsets) {
  if (operation == BitOperation::test && string.guard().has_blocks &&
      keys.size() >= kFewestBlockReads)
    return std::make_unique<Blocks>(string, operation, std::move(keys), std::move(offsets));
  return std::make_unique<Fields>(string, operation, std::move(keys), std::move(offsets));
}

}  // namespace bloomery::detail
