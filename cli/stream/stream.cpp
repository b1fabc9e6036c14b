// The round of blocks between the three threads.
#include "stream/stream.hpp"

#include "input/block.hpp"
#include "input/found_lines.hpp"
#include "input/inputs.hpp"
#include "input/reader.hpp"
#include "output/text.hpp"
#include "stream/progress.hpp"
#include "stream/writer.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr std::size_t kBlocks = 16;  // and one for each thread that finds lines
constexpr std::chrono::milliseconds kIdle{1000};

unsigned threads_of(const Options& options) noexcept {
  return options.threads != 0 ? options.threads : usable_threads();
}

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
      : request_(request),
        sink_(sink),
        input_(inputs.size() == 1 ? inputs[0].name()
                                  : fmt::format("all {} inputs together", inputs.size())),
        progress_(options.progress && !options.quiet, request.print, total_bytes(inputs)),
        blocks_(new_blocks(kBlocks + threads_of(options))),
        full_(threads_of(options), options.end, options.key, sink.wanted()),
        writer_(free_, options.compress),
        reader_(inputs, {options.end, options.raw}, interrupt_, free_, full_) {}

  ~Stream() {
    interrupt_.request();
    free_.close();
  }

  StreamResult run() {
    const auto start = std::chrono::steady_clock::now();
    while (!writer_.failed() && !enough_ && !failure_) {
      bool idle = false;
      if (FoundLines* const found = full_.next_for(kIdle, idle)) {
        decide(*found);
        pass_on(*found);
      } else if (!idle) {
        break;
      }
      sink_.after_block(drain_);
      // What was read before a signal takes a server half a minute.
      enough_ = enough_ || interrupt_.is_overdue();
    }
    result_.signal = interrupt_.signal();
    drain_();
    sink_.finish(drain_);
    writer_.finish();
    progress_.clear();
    if (failure_) throw Error(*failure_);
    if (!enough_) reader_.rethrow();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result_;
  }

 private:
  // All of them before a thread waits for one: if there is no memory for them, nobody would wake it.
  std::vector<std::unique_ptr<Block>> new_blocks(std::size_t count) {
    std::vector<std::unique_ptr<Block>> blocks(count);
    for (auto& block : blocks) free_.push((block = std::make_unique<Block>()).get());
    return blocks;
  }

  void decide(FoundLines& found) {
    if (!found.keys.problem.empty()) stop_before_bad_line(found);
    const std::size_t count = found.ends.size();
    answers_now_ = answers_.of(count);
    const Lines lines{count, found.keys.hashes, found.keys.views};
    const auto decide_from = [&](std::size_t first) {
      return sink_.decide_lines(lines.part(first, count), answers_now_.subspan(first));
    };
    std::size_t decided = decide_from(passed_on_ = 0);
    while (decided < count) {
      pass_on_first(found, decided);
      if (interrupt_.signal() != 0) {
        stop_before(found, decided);
        break;
      }
      progress_.update(input_bytes_, result_.lines + decided, sink_.acknowledged());
      decided += decide_from(decided);
    }

    const auto wanted = static_cast<std::uint64_t>(
        std::count(answers_now_.begin(), answers_now_.end(), request_.wanted));
    result_.lines += found.ends.size();
    result_.wanted += wanted;
    result_.bytes += found.block->size;
    result_.empty += found.keys.empty;
    input_bytes_ += found.block->bytes_read;
    enough_ = enough_ || (request_.stop_early && wanted > 0);
    progress_.update(input_bytes_, result_.lines, sink_.acknowledged());
  }

  // The lines before it count, as they do if the input cannot be read any further.
  void stop_before_bad_line(FoundLines& found) {
    const Keys& keys = found.keys;
    found.ends.resize(std::max(keys.hashes.size(), keys.views.size()));
    failure_ =
        Error(ErrorCode::invalid_argument,
              fmt::format("line {} of {} is not a JSON object: {}; the lines before it are {}",
                          group_digits(result_.lines + found.ends.size() + 1), input_, keys.problem,
                          request_.whole ? "not done either" : "done"));
  }

  // A signal ends the run after the lines that are decided.
  void stop_before(FoundLines& found, std::size_t line) {
    enough_ = true;
    failure_.reset();  // that line was not reached
    found.ends.resize(line);
    found.block->size = found.ends.back();
    answers_now_ = answers_now_.first(line);
  }

  // Moves the lines up to the one before `end` that are printed, and were not passed on before, to the front of the
  // block. Returns their bytes.
  std::size_t keep(const FoundLines& found, std::size_t end) {
    const std::size_t first = std::exchange(passed_on_, end), count = end - first;
    if (!request_.print) return 0;
    return keep_lines(found.block->data(), first == 0 ? 0 : found.ends[first - 1],
                      std::span(found.ends).subspan(first, count),
                      answers_now_.subspan(first, count), request_.wanted);
  }

  // The block is still needed for the lines that are not decided.
  void pass_on_first(const FoundLines& found, std::size_t decided) {
    const std::size_t bytes = keep(found, decided);
    writer_.write_now({found.block->data(), bytes});
    sink_.after_block(drain_);
  }

  void pass_on(const FoundLines& found) {
    Block* const block = found.block;
    block->size = keep(found, found.ends.size());
    if (block->size > 0) {
      writer_.push(block);
    } else {
      free_.push_first(block);
    }
  }

  const StreamRequest& request_;
  LineSink& sink_;
  const std::string input_;  // as messages name it
  Interrupt interrupt_;
  Progress progress_;
  BlockQueue free_;
  const std::vector<std::unique_ptr<Block>> blocks_;
  FoundLinesQueue full_;
  Answers answers_;
  std::span<bool> answers_now_;
  std::size_t passed_on_ = 0;  // lines of this block
  StreamResult result_;
  std::uint64_t input_bytes_ = 0;  // compressed where the inputs are
  bool enough_ = false;
  std::optional<Error> failure_;  // a line without a key
  Writer writer_;
  const std::function<void()> drain_ = [this] { writer_.drain(); };
  Reader reader_;  // last: its thread uses the rest
};

}  // namespace

StreamResult run_stream(const Options& options, const std::vector<Input>& inputs,
                        const StreamRequest& request, LineSink& sink) {
  return Stream(options, inputs, request, sink).run();
}

}  // namespace bloomery::cli
