// The thread that turns inputs into blocks of whole lines.
//
// Each block is passed on as soon as it is full, or holds a line while the input has nothing
// more to give: a slow pipe is answered line by line, a fast one a megabyte at a time.
#pragma once

#include "input/block.hpp"
#include "input/found_lines.hpp"
#include "input/inputs.hpp"
#include "output/interrupt.hpp"

#include <exception>
#include <thread>
#include <vector>

namespace bloomery::cli {

class InputBytes;

class Reader {
 public:
  Reader(const std::vector<Input>& inputs, ReadRule rule, const Interrupt& interrupt,
         BlockQueue& free, FoundLinesQueue& full);
  ~Reader();  // close `free` and request the interrupt first, or all input is read

  // Throws what ended the reading early, once `full` is at its end.
  void rethrow();

 private:
  void run();
  bool read_all(const Input& input);
  bool fill(InputBytes& bytes, const Input& input);
  bool pass_on();
  void end_last_line();

  const std::vector<Input>& inputs_;
  const ReadRule rule_;
  const Interrupt& interrupt_;
  BlockQueue& free_;
  FoundLinesQueue& full_;
  Block* block_ = nullptr;
  std::size_t whole_ = 0;  // up to here block_ holds whole lines
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace bloomery::cli
