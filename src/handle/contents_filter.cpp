// Filters of every kind in memory and in files.
#include "handle/places.hpp"

#include <bloomery/counting_view.hpp>
#include <bloomery/encode.hpp>

#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "store/files.hpp"

#include <optional>
#include <span>
#include <utility>

namespace bloomery::detail {

namespace {

// Whether a slice or more has passed since the filter was last told the time.
bool is_late(const WindowFilter& filter, std::uint64_t now) noexcept {
  const std::uint64_t length = filter.plan().slice_length();
  return now > filter.now() && (filter.now() == 0 || now / length != filter.now() / length);
}

// Whether the filter's time can only come from a wrong clock. A difference of less than a window may come from two
// machines with different clocks; if each machine set the filter to its own time, the filter would forget too early.
// A clock in 1970 beside a filter of today is not set yet: a filter that followed it would forget everything as soon
// as the clock is right.
bool is_ahead(const WindowFilter& filter, std::uint64_t now) noexcept {
  constexpr std::uint64_t k2020 = 1'577'836'800;  // in seconds since 1970
  const bool is_set = now >= k2020 || filter.now() < k2020;
  return is_set && filter.now() > now && filter.now() - now > filter.plan().window;
}

std::unique_ptr<Contents> empty_contents(const FilterPlan& plan, const Hasher& hasher) {
  const Header header = header_of(plan, hasher);
  auto contents = make_contents(header, Payload(payload_bytes(header)));
  if (const auto* frozen = std::get_if<FrozenPlan>(&plan)) contents->build_as(*frozen);
  return contents;
}

struct ArraysOf {
  using Arrays = std::vector<AnyFilter::Array>;
  Arrays operator()(const FilterView& filter) const { return {{.bytes = filter.bytes()}}; }
  Arrays operator()(const CountingView& filter) const {
    return {{.bytes = filter.bytes(), .counter_bits = filter.counter_bits()}};
  }
  Arrays operator()(const ScalableFilter& filter) const {
    Arrays arrays;
    for (const FilterView* sub_filter : filter.sub_filters())
      arrays.push_back({.bytes = sub_filter->bytes()});
    return arrays;
  }
  Arrays operator()(const WindowFilter& filter) const { return {{.bytes = filter.bytes()}}; }
  Arrays operator()(const FrozenFilter&) const { return {}; }
};

// The common part of filters in memory and in files.
class OfContents : public AnyFilter::Impl {
 public:
  using Impl::apply;
  using Impl::Impl;
  [[nodiscard]] FilterSpec spec() const final { return spec_of(*plan()); }
  [[nodiscard]] bool needs_time() const noexcept final {
    return window() != nullptr && window()->plan().unit == WindowUnit::seconds;
  }
  void advance(std::uint64_t now) final {
    if (!needs_time()) return;
    const bool ahead = is_ahead(*window(), now);
    if (ahead || is_late(*window(), now)) set_time(now, ahead);
  }
  [[nodiscard]] FilterStats stats(Precision precision) override {
    FilterStats stats =
        window() != nullptr
            ? stats_of(*window(), precision)
            : visit(contents(), [&](const auto& filter) { return stats_of(filter, precision); });
    stats.inserted = contents().inserted();
    if (const FilterView* delta = contents().delta())
      add_delta(stats, std::get<FrozenPlan>(*plan()), *delta, *stats.inserted, precision);
    return stats;
  }
  [[nodiscard]] std::optional<AnyFilter::SliceRoom> slice_room() final {
    if (window() == nullptr || needs_time()) return std::nullopt;
    const std::uint64_t length = window()->plan().slice_length();
    const WindowState& state = window()->state();
    return AnyFilter::SliceRoom{length, length - state.inserted_in_slices[state.newest]};
  }
  [[nodiscard]] std::vector<AnyFilter::Array> arrays() const final {
    return visit(contents(), ArraysOf());
  }
  [[nodiscard]] const FilterView* plain() const noexcept final {
    return contents().as<FilterView>();
  }
  [[nodiscard]] const CountingView* counting() const noexcept final {
    return contents().as<CountingView>();
  }

 protected:
  [[nodiscard]] virtual const Contents& contents() const noexcept = 0;
  // The window filter as it is now, or null if the filter is of another kind.
  [[nodiscard]] virtual const WindowFilter* window() const noexcept {
    return contents().as<WindowFilter>();
  }
  // `back`: `now` is earlier than the filter's time.
  virtual void set_time(std::uint64_t now, bool back) = 0;
};

class MemoryFilter final : public OfContents {
 public:
  MemoryFilter(std::unique_ptr<Contents> contents, const Hasher& hasher)
      : OfContents("a filter in memory"), hasher_(hasher), contents_(std::move(contents)) {}

  [[nodiscard]] const Hasher* hasher() const noexcept override { return &hasher_; }
  std::size_t apply(AnyFilter::Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) override {
    // Starting a kernel for many keys takes longer than one key.
    if (hashes.size() == 1 && operation == AnyFilter::Operation::contain)
      return answered(contents_->may_contain(hashes.front()), answers);
    return at_edge(name(), [&] {
      if (hashes.size() == 1 && operation == AnyFilter::Operation::insert)
        return answered(contents_->insert(hashes.front()), answers);
      switch (operation) {
        case AnyFilter::Operation::insert:
          break;
        case AnyFilter::Operation::insert_absent:
          // In the other kinds an insert of a key that is there changes nothing; and while a frozen filter is built,
          // a look-up does not tell which keys are there.
          if (contents_->kind() == Kind::counting || contents_->kind() == Kind::window)
            return insert_absent(hashes, answers);
          break;
        case AnyFilter::Operation::contain:
          return contents_->may_contain(hashes, answers);
        case AnyFilter::Operation::remove:
          require_removal();
          return contents_->remove(hashes, answers);
      }
      return contents_->insert(hashes, answers);
    });
  }
  using Impl::apply;

  [[nodiscard]] bool in_memory() const noexcept override { return true; }
  [[nodiscard]] std::optional<FilterPlan> plan() const override {
    if (const FrozenPlan* built = contents_->built_as()) return *built;
    return header().plan;
  }
  void require_removal() const override { contents_->require(Ability::remove, name()); }
  [[nodiscard]] VerifyReport verify() override { return said("in memory, without checksums"); }
  void use_threads(unsigned threads) noexcept override { contents_->use_threads(threads); }
  void sync() override {
    at_edge(name(), [&] {
      if (auto next = contents_->complete()) contents_ = std::move(next);
    });
  }
  [[nodiscard]] std::vector<std::byte> encode() override {
    sync();
    return at_edge(name(), [&] { return encode_contents(*contents_); });
  }
  [[nodiscard]] std::uint64_t encoded_size() override {
    sync();
    return layout_of(header()).clean_bytes;
  }

  [[nodiscard]] Direct direct() noexcept override {
    if (contents_->kind() != Kind::plain) return {};
    auto& plain = static_cast<PlainContents&>(*contents_);
    return {&plain.mutable_filter(), &plain.mutable_filter(), &plain.mutable_inserted()};
  }
  void merge(const FilterView& other) override { merge_contents(PlainContents(other)); }
  void merge(const CountingView& other) override { merge_contents(CountingContents(other)); }
  void intersect(const FilterView& other) override {
    if (contents_->kind() != Kind::plain) Impl::intersect(other);
    static_cast<PlainContents&>(*contents_).intersect(other);
  }
  void clear() override {
    if (contents_->kind() != Kind::frozen) return contents_->clear();
    contents_ = at_edge(name(), [&] { return empty_contents(*plan(), hasher_); });
  }
  [[nodiscard]] std::unique_ptr<Impl> copy() override {
    sync();
    return at_edge(name(), [&]() -> std::unique_ptr<Impl> {
      const Header same = header();
      Payload payload(payload_bytes(same));
      auto at = payload.bytes().begin();
      for (const auto piece : contents_->pieces()) at = std::ranges::copy(piece, at).out;
      return std::make_unique<MemoryFilter>(make_contents(same, std::move(payload)), hasher_);
    });
  }

 private:
  [[nodiscard]] const Contents& contents() const noexcept override { return *contents_; }
  void set_time(std::uint64_t now, bool back) override {
    back ? contents_->set_back(now) : contents_->advance(now);
  }
  [[nodiscard]] Header header() const {
    Header header;
    contents_->describe(header);
    return header;
  }
  static std::size_t answered(bool yes, std::span<bool> answers) noexcept {
    if (!answers.empty()) answers.front() = yes;
    return yes ? 1 : 0;
  }
  void merge_contents(const Contents& other) {
    contents_->require_mergeable(other, name());
    contents_->merge(other);
  }
  std::size_t insert_absent(std::span<const Hash128> hashes, std::span<bool> answers) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      const bool absent = !contents_->may_contain(hashes[i]);
      if (absent) (void)contents_->insert(hashes[i]);
      if (!answers.empty()) answers[i] = absent;
      count += absent ? 1 : 0;
    }
    return count;
  }

  Hasher hasher_;
  std::unique_ptr<Contents> contents_;
};

class FileFilter final : public OfContents {
 public:
  FileFilter(const std::string& path, FilterFile file, Access access)
      : OfContents(path), file_(std::move(file)), access_(access) {}

  [[nodiscard]] const Hasher* hasher() const noexcept override { return &file_.hasher(); }
  std::size_t apply(AnyFilter::Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) override {
    switch (operation) {
      case AnyFilter::Operation::insert:
        return file_.insert_hashes(hashes, answers);
      case AnyFilter::Operation::contain:
        return window_ ? window_->may_contain_hashes(hashes, answers)
                       : file_.may_contain_hashes(hashes, answers);
      case AnyFilter::Operation::remove:
        return file_.remove_hashes(hashes, answers);
      case AnyFilter::Operation::insert_absent:
        break;
    }
    refuse_insert_absent();
  }
  using Impl::apply;

  [[nodiscard]] std::optional<FilterPlan> plan() const override {
    if (const FrozenPlan* built = contents().built_as()) return *built;
    return file_.plan();
  }
  void require_removal() const override {
    if (file_.kind() == Kind::counting) return;
    throw PlanError(
        ErrorCode::wrong_kind, PlanField::kind,
        fill_in(": is a {} filter, from which keys cannot be removed; {}", to_string(file_.kind()),
                file_.kind() == Kind::window
                    ? "it forgets keys when they are older than its window"
                    : "make one of {kind} counting, or rebuild it without them"),
        name());
  }
  [[nodiscard]] FilterStats stats(Precision precision) override {
    // To read the holes of a sparse file would take memory for zeros.
    if (precision == Precision::exact && Files::is_sparse(file_)) precision = Precision::sampled;
    FilterStats stats = OfContents::stats(precision);
    stats.identity = file_.identity();
    return stats;
  }
  [[nodiscard]] VerifyReport verify() override { return bloomery::verify(file_.path()); }
  bool begin_load(std::uint64_t expected) noexcept override {
    const bool begun = file_.begin_load(expected);
    loading_ = loading_ || begun;
    return begun;
  }
  void use_threads(unsigned threads) noexcept override { file_.use_threads(threads); }
  void end_load() override {
    loading_ = false;  // also if it fails
    file_.end_load();
  }
  [[nodiscard]] bool is_loading() const noexcept override { return loading_; }
  std::uint64_t begin_batch(std::string_view name) override { return file_.begin_batch(name); }
  void sync() override { file_.sync(); }
  void keep_alive() override { file_.require_place(); }
  void close() override {
    if (const auto rights = Files::rights(file_)) rights_ = *rights;
    file_.close();
    closed_ = true;
    loading_ = false;
  }
  [[nodiscard]] std::vector<std::byte> encode() override { return file_.encode(); }
  [[nodiscard]] std::uint64_t encoded_size() override { return file_.encoded_size(); }
  void merge(const FilterView& other) override { file_.merge(other); }
  void merge(const CountingView& other) override { file_.merge(other); }
  bool reload() override {
    if (access_ == Access::write) return Impl::reload();
    try {
      if (!file_.reload()) return false;
    } catch (...) {
      window_.reset();  // its bits may have changed
      throw;
    }
    window_.reset();
    return true;
  }
  [[nodiscard]] bool can_be_behind() const noexcept override { return access_ == Access::read; }
  [[nodiscard]] const FilterFile* file() const noexcept override { return &file_; }
  [[nodiscard]] std::vector<Os::Stat> rights() const override {
    return {Files::rights(file_).value_or(rights_)};
  }

 private:
  [[nodiscard]] const Contents& contents() const noexcept override {
    return Files::contents(file_);
  }
  [[nodiscard]] const WindowFilter* window() const noexcept override {
    return window_ ? &*window_ : OfContents::window();
  }
  void set_time(std::uint64_t now, bool back) override {
    if (access_ == Access::write && !closed_)
      return back ? file_.set_back(now) : file_.advance(now);
    const WindowFilter& there = *window();
    if (!window_)
      window_ = WindowFilter::restore_for_reading(there.plan(), there.hasher(), there.state(),
                                                  there.bytes());
    back ? window_->set_back(now) : window_->advance(now);
  }

  FilterFile file_;
  Access access_;
  bool closed_ = false;
  bool loading_ = false;
  // Of the file when it was closed; before that, of nobody but its user.
  Os::Stat rights_{.mode = 0600};
  // As it is now, for a reader or after close(), if the file is behind. It has the bits of the file, so that one line
  // does not read all of them.
  std::optional<WindowFilter> window_;
};

}  // namespace

AnyImpl memory_filter(const FilterPlan& plan, const Hasher& hasher) {
  return at_edge("a filter in memory", [&]() -> AnyImpl {
    return std::make_unique<MemoryFilter>(empty_contents(plan, hasher), hasher);
  });
}

AnyImpl memory_filter(std::span<const std::byte> bytes) {
  return at_edge("a filter in memory", [&]() -> AnyImpl {
    std::unique_ptr<Contents> contents = decode_contents(bytes);
    Header header;
    contents->describe(header);
    return std::make_unique<MemoryFilter>(std::move(contents), header.hasher);
  });
}

AnyImpl memory_filter(const ModuleContents& contents,
                      const std::function<void(std::span<std::byte> bits)>& load) {
  Header header;
  header.plan = contents.plan;
  header.hasher = contents.hasher;
  header.inserted = contents.items;
  Payload payload(payload_bytes(header));
  load(payload.bytes());
  return std::make_unique<MemoryFilter>(make_contents(header, std::move(payload)), header.hasher);
}

AnyImpl file_filter(const std::string& path, FilterFile file, Access access) {
  return std::make_unique<FileFilter>(path, std::move(file), access);
}

}  // namespace bloomery::detail
