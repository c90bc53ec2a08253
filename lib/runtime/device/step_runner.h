#pragma once
// Interprets the steps of a program's entry on the host, as codegen/cpu/entry_steps.cpp compiles them for the CPU.
// Launches are submitted in order; only data-dependent control flow waits for the device.
#include <span>
#include <unordered_map>
#include <vector>

#include "kernel/ir/program.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

/// Work that is the same in every call: consecutive steps without branches and host calls, counted loops unrolled.
struct Chain {
  size_t number = 0;
  /// An address of a command: a buffer of the program and a byte offset into it.
  struct Slice {
    int32_t buffer = -1;
    int64_t offset = 0;
  };
  struct Entry {
    Command command;  ///< without addresses
    std::vector<Slice> slices;
  };
  std::vector<Entry> entries;
};

/// The chains of a program, by first step, each of as many consecutive steps as possible.
struct Chains {
  struct Entry {
    Chain chain;
    size_t steps = 0;
  };
  std::unordered_map<const kernel::Step*, Entry> by_first;
  const Entry* find(const kernel::Step* step) const {
    const auto found = by_first.find(step);
    return found == by_first.end() ? nullptr : &found->second;
  }
};

/// The chains of at least `least` and at most `most` commands. They point to the program's steps, which must not move.
Chains chains_of(const kernel::Program& program, size_t least, size_t most);

/// Runs the steps once, chains as a whole. `buffers` are the addresses of the program's buffers.
class StepRunner {
 public:
  StepRunner(KernelDevice& api, const kernel::Program& program, const LoadedProgram& code,
             std::span<void* const> buffers, const Chains* chains = nullptr)
      : api_(api),
        program_(program),
        code_(code),
        buffers_(buffers),
        chains_(chains),
        iterations_(static_cast<size_t>(program.num_loops), 0) {}

  void run() { run(program_.steps); }

 private:
  void run(const Chain& chain);
  void run(const std::vector<kernel::Step>& steps);
  void run(const kernel::Step& step);
  void launch(const kernel::Step& step);
  void copy(const kernel::Step& step);
  void iota(const kernel::Step& step);
  void branch(const kernel::Step& step);
  void repeat(const kernel::Step& step);
  void while_loop(const kernel::Step& step);
  void host_call(const kernel::Step& step);
  void routine(const kernel::Step& step);
  void* address(const kernel::View& view) const;
  void* address_at(int32_t buffer, int64_t offset, const std::vector<kernel::View::Term>& terms) const;
  DType dtype(const kernel::View& view) const { return program_.buffers[static_cast<size_t>(view.buffer)].type.dtype; }

  KernelDevice& api_;
  const kernel::Program& program_;
  const LoadedProgram& code_;
  const std::span<void* const> buffers_;
  const Chains* const chains_;
  std::vector<int64_t> iterations_;
};

}  // namespace calque::runtime
