// The round of blocks between the three threads.
#include "stream/stream.hpp"

#include "keys/key_finder.hpp"
#include "output/text.hpp"
#include "stream/block.hpp"
#include "stream/inputs.hpp"
#include "stream/lines.hpp"
#include "stream/progress.hpp"
#include "stream/reader.hpp"
#include "stream/writer.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>

namespace bloomery::cli {

namespace {

constexpr std::size_t kBlocks = 16;
constexpr std::chrono::milliseconds kIdle{1000};

// Answers of one block; a std::vector<bool> is no span of bool.
class Answers {
 public:
  std::span<bool> of(std::size_t size) {
    if (size > room_) {
      room_ = size + size / 2;
      answers_ = std::make_unique<bool[]>(room_);
    }
    return {answers_.get(), size};
  }

 private:
  std::unique_ptr<bool[]> answers_;
  std::size_t room_ = 0;
};

class Stream {
 public:
  Stream(const Options& options, const std::vector<Input>& inputs, const StreamRequest& request,
         LineSink& sink)
      : options_(options),
        request_(request),
        sink_(sink),
        progress_(options.progress && !options.quiet, request.print, total_bytes(inputs)),
        wanted_(sink.wanted()),
        finder_(options.key),
        writer_(free_, options.compress),
        reader_(inputs, {options.end, options.raw}, interrupt_, free_, full_) {
    for (auto& block : blocks_) {
      block = std::make_unique<Block>();
      free_.push(block.get());
    }
  }

  ~Stream() {
    interrupt_.request();
    free_.close();
  }

  StreamResult run() {
    const auto start = std::chrono::steady_clock::now();
    const std::function<void()> drain = [this] { writer_.drain(); };
    while (!writer_.failed() && !enough_ && !failure_) {
      bool idle = false;
      Block* const block = full_.pop_for(kIdle, idle);
      if (block != nullptr) {
        decide(*block);
        pass_on(block);
      } else if (!idle) {
        break;
      }
      sink_.after_block(drain);
    }
    result_.signal = interrupt_.signal();
    drain();
    sink_.finish(drain);
    writer_.finish();
    progress_.clear();
    if (failure_) throw Error(*failure_);
    if (!enough_) reader_.rethrow();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result_;
  }

 private:
  void decide(Block& block) {
    const std::string_view text(block.data(), block.size);
    find_ends(text, options_.end, ends_);
    finder_.find(text, ends_, wanted_.hasher ? &*wanted_.hasher : nullptr, wanted_.keys, keys_);
    if (!keys_.problem.empty()) stop_before_bad_line(block);
    answers_now_ = answers_.of(ends_.size());
    sink_.decide_lines({ends_.size(), keys_.hashes, keys_.views}, answers_now_);

    const auto wanted = static_cast<std::uint64_t>(
        std::count(answers_now_.begin(), answers_now_.end(), request_.wanted));
    result_.lines += ends_.size();
    result_.wanted += wanted;
    result_.bytes += block.size;
    input_bytes_ += block.bytes_read;
    enough_ = request_.stop_early && wanted > 0;
    progress_.update(input_bytes_, result_.lines, sink_.acknowledged());
  }

  // The lines before it count, as they do where the input cannot be read any further.
  void stop_before_bad_line(Block& block) {
    ends_.resize(wanted_.keys ? keys_.views.size() : keys_.hashes.size());
    block.size = ends_.empty() ? 0 : ends_.back();
    failure_ =
        Error(ErrorCode::invalid_argument,
              fmt::format("line {} of the input is no object of JSON: {}; the lines before it "
                          "are done",
                          group_digits(result_.lines + ends_.size() + 1), keys_.problem));
  }

  void pass_on(Block* block) {
    block->size =
        request_.print ? keep_lines(block->data(), ends_, answers_now_, request_.wanted) : 0;
    if (block->size > 0) {
      writer_.push(block);
    } else {
      free_.push(block);
    }
  }

  const Options& options_;
  const StreamRequest& request_;
  LineSink& sink_;
  Interrupt interrupt_;
  Progress progress_;
  std::array<std::unique_ptr<Block>, kBlocks> blocks_;
  BlockQueue free_;
  BlockQueue full_;
  const LineSink::Wanted wanted_;
  KeyFinder finder_;
  std::vector<std::size_t> ends_;
  Keys keys_;
  Answers answers_;
  std::span<bool> answers_now_;
  StreamResult result_;
  std::uint64_t input_bytes_ = 0;  // compressed where the inputs are
  bool enough_ = false;
  std::optional<Error> failure_;  // a line without a key
  Writer writer_;
  Reader reader_;  // last: its thread uses the rest
};

}  // namespace

StreamResult run_stream(const Options& options, const std::vector<Input>& inputs,
                        const StreamRequest& request, LineSink& sink) {
  return Stream(options, inputs, request, sink).run();
}

}  // namespace bloomery::cli
