#include "kernel/ir/local_buffers.h"

#include "kernel/ir/walk.h"

namespace calque::kernel {

int64_t local_bytes(const Kernel& kernel, const Instruction& loop) {
  int64_t bytes = 0;
  walk(loop, [&](const Instruction& i) {
    for (const int32_t b : i.locals) {
      const Buffer& buffer = kernel.buffers[static_cast<size_t>(b)];
      bytes += buffer.extent * static_cast<int64_t>(size_of(buffer.dtype));
    }
  });
  return bytes;
}

void renumber_buffers(Region& region, std::span<const int32_t> numbers) {
  walk(region, [&](Instruction& i) {
    if (i.buffer >= 0) i.buffer = numbers[static_cast<size_t>(i.buffer)];
    for (int32_t& b : i.locals) b = numbers[static_cast<size_t>(b)];
  });
}

std::vector<int32_t> move_locals_last(Kernel& kernel) {
  std::vector<int32_t> numbers(kernel.buffers.size());
  std::vector<Buffer> sorted;
  for (const bool local : {false, true}) {
    for (size_t b = 0; b < numbers.size(); ++b) {
      if (kernel.buffers[b].local != local) continue;
      numbers[b] = static_cast<int32_t>(sorted.size());
      sorted.push_back(kernel.buffers[b]);
    }
  }
  kernel.buffers = std::move(sorted);
  renumber_buffers(kernel.body, numbers);
  return numbers;
}

}  // namespace calque::kernel
