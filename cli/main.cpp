// The tool's entry: parse, run one verb, and turn every failure into one line and a code.
#include "flags/help.hpp"
#include "flags/parse.hpp"
#include "output/interrupt.hpp"
#include "output/message.hpp"
#include "output/output.hpp"
#include "output/system.hpp"
#include "verbs/verbs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <bloomery/error.hpp>
#include <bloomery/version.hpp>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace bloomery::cli {

namespace {

int run_verb(const Options& options) {
  switch (options.verb) {
    case Verb::plan:
      return run_plan(options);
    case Verb::create:
      return run_create(options);
    case Verb::add:
      return run_add(options);
    case Verb::remove:
      return run_remove(options);
    case Verb::check:
      return run_check(options);
    case Verb::dedup:
      return run_dedup(options);
    case Verb::info:
      return run_info(options);
    case Verb::merge:
      return run_merge(options);
    case Verb::rebuild:
      return run_rebuild(options);
    case Verb::verify:
      return run_verify(options);
    case Verb::salvage:
      return run_salvage(options);
    case Verb::rotate:
      return run_rotate(options);
    case Verb::convert:
      return run_convert(options);
  }
  return kExitError;
}

// Whether a signal in the middle of the verb would leave something unfinished.
bool writes(const Options& options) noexcept {
  switch (options.verb) {
    case Verb::info:
    case Verb::verify:
      return false;
    case Verb::plan:
      return options.web;
    case Verb::check:
      return options.out.has_value();
    case Verb::dedup:
      return options.filter.has_value() || options.out.has_value();
    case Verb::create:
    case Verb::add:
    case Verb::remove:
    case Verb::merge:
    case Verb::rebuild:
    case Verb::salvage:
    case Verb::rotate:
    case Verb::convert:
      return true;
  }
  return true;
}

// A signal ends a verb that writes only after its work is complete or undone, and then gives the exit code.
int run_whole(const Options& options) {
  if (!writes(options)) return run_verb(options);
  const Interrupt interrupt;
  const int code = run_verb(options);
  return interrupt.signal() != 0 && code != kExitError ? kExitSignal + interrupt.signal() : code;
}

int run(const Options& options) {
  switch (options.ask) {
    case Options::Ask::run:
      return run_whole(options);
    case Options::Ask::short_help:
      print_result(options.has_verb ? short_help(info_of(options.verb)) : short_help());
      break;
    case Options::Ask::long_help:
      print_result(options.has_verb ? long_help(info_of(options.verb)) : long_help());
      break;
    case Options::Ask::version:
      print_result("bloomery " BLOOMERY_VERSION "\n");
      break;
    case Options::Ask::generate:
      print_result(generate(options.generate));
      break;
  }
  return kExitFound;
}

// Ends like any program whose reader has closed the pipe.
int die_of_broken_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  return kExitSignal + SIGPIPE;
}

int guarded(const std::vector<std::string>& arguments, bool output_closed) {
  hide_secrets_of(arguments);
  try {
    const Options options = parse_options(arguments);
    if (output_closed && !options.out)
      throw Error(ErrorCode::io, "the standard output is closed; give it a place, as in > FILE");
    return run(options);
  } catch (const BrokenPipe&) {
    return die_of_broken_pipe();
  } catch (const std::bad_alloc&) {
    remark("out of memory; give a smaller -n or a larger -p");
  } catch (const PlanError& error) {
    remark(error.message(flag_of));
  } catch (const std::exception& error) {
    remark(error.what());
  }
  return kExitError;
}

}  // namespace

}  // namespace bloomery::cli

int main(int argc, char** argv) {
  using namespace bloomery::cli;
  // A write that fails gives an error with a reason, instead of a signal that kills without one.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
  explain_lost_files(kExitError);
  // The next file that is opened would get the number of a closed descriptor, and then what is
  // meant for the standard output or stderr. So each of the three is opened, the input not for reading, and the output
  // not for writing.
  const bool output_closed = ::fcntl(STDOUT_FILENO, F_GETFD) < 0;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 &&
        ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY) < 0)
      return kExitError;
  return guarded(std::vector<std::string>(argv + 1, argv + argc), output_closed);
}
