// Outputs in the memory of donated inputs.
#include <algorithm>
#include <map>

#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/merge_buffers.h"
#include "kernel/ir/dense.h"

namespace calque::kernel {

namespace {

/// All donated inputs are tried for each output until this many steps have been visited per buffer and step of the
/// program; after that only kTries: thousands of outputs that fit no input would take quadratic time.
constexpr size_t kVisitsOfAll = 200;
constexpr int kTries = 4;

/// The numbers of the buffers of a kind, by index.
std::vector<int32_t> buffers_of(const Program& p, BufferKind kind, int32_t count) {
  std::vector<int32_t> numbers(static_cast<size_t>(count), -1);
  for (size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].kind == kind) numbers[static_cast<size_t>(p.buffers[b].index)] = static_cast<int32_t>(b);
  return numbers;
}

}  // namespace

void reuse_donated(Program& p, bool across_dtypes, int64_t alignment) {
  if (std::none_of(p.buffers.begin(), p.buffers.end(), [](const ProgramBuffer& b) { return b.donated; })) return;
  const std::vector<int32_t> inputs = buffers_of(p, BufferKind::input, p.num_inputs),
                             outputs = buffers_of(p, BufferKind::output, p.num_outputs);
  const auto buffer = [&](int32_t number) -> const ProgramBuffer& { return p.buffers[static_cast<size_t>(number)]; };
  p.in_place.assign(outputs.size(), -1);
  std::map<size_t, std::vector<size_t>> by_size;  // donated inputs that no output reuses yet
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ProgramBuffer& b = buffer(inputs[i]);
    if (b.donated && is_dense(b.type.shape, b.strides)) by_size[bytes_of(b.type)].push_back(i);
  }
  BufferMerger merger(p, p.steps);
  const size_t budget = kVisitsOfAll * (p.buffers.size() + p.steps.size());
  for (const bool alike : {true, false}) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Type& type = buffer(outputs[o]).type;
      if (bytes_of(type) == 0 || p.in_place[o] >= 0) continue;
      std::vector<size_t>& candidates = by_size[bytes_of(type)];
      int tries = 0;
      const auto taken = std::find_if(candidates.begin(), candidates.end(), [&](size_t i) {
        const Type& from = buffer(inputs[i]).type;
        if ((from == type) != alike || (from.dtype != type.dtype && !across_dtypes)) return false;
        if (++tries > kTries && merger.steps_visited() > budget) return false;
        // Between the two a collective may write its result into the input, since an output replaces that.
        const int32_t result = merger.result_of_last_call(inputs[i]);
        if (result >= 0 && merger.can_merge(inputs[i], result) && merger.can_merge(inputs[i], outputs[o]) &&
            merger.can_merge(result, outputs[o])) {
          limit_alignment(p, p.steps, result, alignment);
          merger.merge(inputs[i], result);
        }
        return merger.merge(inputs[i], outputs[o]);
      });
      if (taken == candidates.end()) continue;
      p.in_place[o] = static_cast<int32_t>(*taken);
      candidates.erase(taken);
    }
  }
  const auto none = [](int32_t input) { return input < 0; };
  if (std::all_of(p.in_place.begin(), p.in_place.end(), none)) p.in_place.clear();
}

}  // namespace calque::kernel
