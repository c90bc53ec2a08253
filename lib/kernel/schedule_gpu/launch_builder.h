#pragma once
// A launch while it is built from instructions of a kernel.
#include <map>

#include "kernel/ir/local_buffers.h"
#include "kernel/schedule_gpu/instruction_copier.h"
#include "kernel/schedule_gpu/launches.h"
#include "primitives/elementwise/arithmetic.h"

namespace calque::kernel {

struct LaunchBuilder {
  KernelLaunches::Entry entry;
  std::map<int32_t, int32_t> buffers, scratch;
  InstructionCopier copier;
  Id row = kNone;
  LaunchBuilder(const Kernel& from, const std::vector<Type>& types)
      : copier(from, entry.kernel, [this, &from](int32_t b) { return buffer(from, b); }), types_(types) {}
  LaunchBuilder(const LaunchBuilder&) = delete;
  LaunchBuilder& operator=(const LaunchBuilder&) = delete;

  int32_t buffer(const Kernel& from, int32_t b) {
    if (const auto it = buffers.find(b); it != buffers.end()) return it->second;
    entry.kernel.buffers.push_back(from.buffers[static_cast<size_t>(b)]);
    entry.buffers.push_back({b, -1});
    return buffers[b] = static_cast<int32_t>(entry.buffers.size()) - 1;
  }
  int32_t scratch_buffer(int32_t s) {
    if (const auto it = scratch.find(s); it != scratch.end()) return it->second;
    const Type& type = types_[static_cast<size_t>(s)];
    entry.kernel.buffers.push_back({type.dtype, type.shape.num_elements(), true, 64});
    entry.buffers.push_back({-1, s});
    return scratch[s] = static_cast<int32_t>(entry.buffers.size()) - 1;
  }

  /// To be called once, after everything was built.
  void finish() {
    const std::vector<int32_t> numbers = move_locals_last(entry.kernel);
    std::vector<LaunchBuffer> parameters(entry.kernel.num_parameters());
    for (size_t b = 0; b < numbers.size(); ++b)
      if (static_cast<size_t>(numbers[b]) < parameters.size())
        parameters[static_cast<size_t>(numbers[b])] = entry.buffers[b];
    entry.buffers = std::move(parameters);
  }

 private:
  const std::vector<Type>& types_;
};

/// row * extent + index.
inline Id index_in_row(InstructionCopier& c, Region& to, Id row, int64_t extent, Id index) {
  const Id first = c.scalar(to, primitives::id_of<primitives::Mul>, DType::i64, {row, c.index(to, extent)});
  return c.scalar(to, primitives::id_of<primitives::Add>, DType::i64, {first, index});
}

}  // namespace calque::kernel
