// The kinds as contents of a file.
#include "store/contents.hpp"

#include "format/describe.hpp"
#include "store/session.hpp"

namespace bloomery::detail {

namespace {

class CountingContents final : public Contents {
 public:
  CountingContents(const Header& header, Payload payload)
      : payload_(std::move(payload)),
        view_(header.plan, header.hasher, payload_.bytes()),
        inserted_(header.inserted) {}

  void prepare(std::span<const Hash128>) override {}
  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    const std::size_t count = view_.insert_hashes(hashes, fresh);
    inserted_ += count;
    return count;
  }
  [[nodiscard]] std::size_t may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept override {
    return view_.may_contain_hashes(hashes, found);
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const noexcept override {
    return view_.may_contain_hash(hash);
  }
  void merge(const CountingView& other) override {
    const std::uint64_t before = count_of(view_.estimated_items());
    view_.merge(other);
    inserted_ += count_of(view_.estimated_items()) - before;
  }
  void describe(Header& header) const override { header.inserted = inserted_; }
  [[nodiscard]] Pieces pieces() const override { return pieces_of(view_); }

  [[nodiscard]] std::uint64_t inserted() const noexcept override { return inserted_; }
  [[nodiscard]] double current_fpr() const noexcept override { return view_.current_fpr(); }
  [[nodiscard]] CountingView* counting() noexcept override { return &view_; }

 private:
  Payload payload_;
  CountingView view_;
  std::uint64_t inserted_;
};

// What a filter that counts its own insertions does by itself.
template <class Filter>
class ContentsOf : public Contents {
 public:
  void prepare(std::span<const Hash128>) override {}
  std::size_t insert(std::span<const Hash128> hashes, std::span<bool> fresh) override {
    return filter_.insert_hashes(hashes, fresh);
  }
  [[nodiscard]] std::size_t may_contain(std::span<const Hash128> hashes,
                                        std::span<bool> found) const noexcept override {
    return filter_.may_contain_hashes(hashes, found);
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const noexcept override {
    return filter_.may_contain_hash(hash);
  }
  void describe(Header& header) const override { detail::describe(filter_, header); }
  [[nodiscard]] Pieces pieces() const override { return pieces_of(filter_); }

  [[nodiscard]] std::uint64_t inserted() const noexcept override { return filter_.inserted(); }
  [[nodiscard]] double current_fpr() const noexcept override { return filter_.current_fpr(); }

 protected:
  // restore(bytes): the filter over the bytes of the payload.
  template <class Restore>
  ContentsOf(Payload payload, Restore restore)
      : payload_(std::move(payload)), filter_(restore(payload_.bytes())) {}

  Payload payload_;
  Filter filter_;
};

// The sub-filters that were in the file stay in the payload; new ones have memory of their own.
class ScalableContents final : public ContentsOf<ScalableFilter> {
 public:
  ScalableContents(const Header& header, Payload payload)
      : ContentsOf(std::move(payload), [&header](std::span<std::byte> bits) {
          return ScalableFilter::restore(header.scalable, header.hasher,
                                         sub_filters_in(bits, header));
        }) {}

  void prepare(std::span<const Hash128> hashes) override {
    filter_.reserve(hashes.size() - filter_.may_contain_hashes(hashes));
  }
  [[nodiscard]] const ScalableFilter* scalable() const noexcept override { return &filter_; }

 private:
  static std::vector<SubFilterState> sub_filters_in(std::span<std::byte> bits,
                                                    const Header& header) {
    std::vector<SubFilterState> sub_filters;
    for (const SubFilterEntry& entry : header.sub_filters) {
      const auto bytes = static_cast<std::size_t>(entry.plan.bytes());
      sub_filters.push_back({entry.plan, entry.inserted, bits.first(bytes)});
      bits = bits.subspan(bytes);
    }
    return sub_filters;
  }
};

class WindowContents final : public ContentsOf<WindowFilter> {
 public:
  WindowContents(const Header& header, Payload payload)
      : ContentsOf(std::move(payload), [&header](std::span<std::byte> bits) {
          return WindowFilter::restore(header.window, header.hasher, header.window_state, bits);
        }) {}

  [[nodiscard]] WindowFilter* window() noexcept override { return &filter_; }
};

}  // namespace

std::unique_ptr<Contents> make_contents(const Header& header, Payload payload) {
  if (header.kind == Kind::counting)
    return std::make_unique<CountingContents>(header, std::move(payload));
  if (header.kind == Kind::window)
    return std::make_unique<WindowContents>(header, std::move(payload));
  return std::make_unique<ScalableContents>(header, std::move(payload));
}

}  // namespace bloomery::detail
