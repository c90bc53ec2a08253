#include "kernel/lower/partial_sums.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "ir/values/bytes.h"
#include "kernel/buffers/buffer_aliasing.h"
#include "kernel/buffers/workspace.h"
#include "kernel/ir/kernel_builder.h"
#include "kernel/schedule/schedule.h"
#include "primitives/registry.h"

namespace calque::kernel {

namespace {

// Partial sums of a chunk begin at a cache line that no other chunk writes to.
constexpr int64_t kLine = 64;
// More sums than this are cleared and accumulated by several kernels.
constexpr size_t kSumsPerKernel = 32;

int64_t row_bytes(const Type& sum) { return (static_cast<int64_t>(bytes_of(sum)) + kLine - 1) / kLine * kLine; }

/// Whether the view is a slice of a sum's memory that is the same in every iteration of every loop.
bool is_slice_of(const View& view, const View& sum, const Type& type) {
  const int64_t from = view.offset - sum.offset, bytes = std::max<int64_t>(static_cast<int64_t>(bytes_of(type)), 1);
  return view.buffer == sum.buffer && view.choices.empty() && view.terms == sum.terms && from >= 0 && from < bytes;
}

/// The sum of the loop whose memory contains the view, if any.
std::optional<size_t> sum_of(const Step& loop, const View& view) {
  for (size_t s = 0; s < loop.sums.size(); ++s)
    if (is_slice_of(view, loop.views[s], loop.sums[s])) return s;
  return std::nullopt;
}

/// The neutral element of addition: -0.0 + x is x for every x, 0.0 + -0.0 is not.
Literal neutral_element(DType d) { return is_floating(d) ? make_literal(d, -0.0) : make_literal(d, int64_t{0}); }

int32_t add_buffer(Kernel& kernel, DType d, int64_t extent, bool written, int64_t alignment) {
  kernel.buffers.push_back({d, extent, written, alignment});
  return static_cast<int32_t>(kernel.buffers.size()) - 1;
}

/// Builds a kernel and the step that calls it.
class KernelStep {
 public:
  explicit KernelStep(const char* name) { kernel_.name = name; }
  Kernel& kernel() { return kernel_; }
  Emitter& emitter() { return *emitter_; }
  void bind(View view) { step_.views.push_back(std::move(view)); }
  Step add_to(Program& program) {
    emitter_.reset();
    schedule(kernel_);
    step_.kind = StepKind::kernel;
    step_.kernel = static_cast<int32_t>(program.kernels.size());
    program.kernels.push_back(std::move(kernel_));
    return std::move(step_);
  }

 private:
  Kernel kernel_;
  std::unique_ptr<Emitter> emitter_ = std::make_unique<Emitter>(kernel_);
  Step step_;
};

/// partial[i] = neutral element, for all chunks.
void clear(KernelStep& step, int32_t partial, DType d, int64_t elements) {
  Emitter& e = step.emitter();
  e.loop(LoopKind::parallel, elements, {}, {}, 0, [&](Id i, std::span<const Id>) {
    e.store(partial, i, e.constant(d, neutral_element(d)));
    return Ids{};
  });
}

/// sum[i] = sum[i] + partial[0, i] + partial[1, i] ...
void accumulate(KernelStep& step, int32_t sum, int32_t partial, DType d, int64_t elements, int64_t chunks,
                int64_t row) {
  Emitter& e = step.emitter();
  e.loop(LoopKind::parallel, elements, {}, {}, 0, [&](Id i, std::span<const Id>) {
    const std::array start{e.load(sum, i, true)};
    const Ids total = e.loop(LoopKind::sequential, chunks, start, {}, e.depth(), [&](Id p, std::span<const Id> carry) {
      const std::array terms{carry[0], e.load(partial, e.add(e.mul(p, row), i))};
      return Ids{e.scalar(primitives::id_of<primitives::Add>, d, terms, true)};
    });
    e.store(sum, i, total[0]);
    return Ids{};
  });
}

}  // namespace

bool can_redirect_sums(const Step& loop) {
  for (const View& sum : loop.views) {
    const auto of_loop = [&](const View::Term& term) { return term.loop == loop.loop_id; };
    if (!sum.choices.empty() || std::any_of(sum.terms.begin(), sum.terms.end(), of_loop)) return false;
  }
  const auto refers_to_sum = [&](int32_t buffer) {
    return std::any_of(loop.views.begin(), loop.views.end(), [&](const View& sum) { return sum.buffer == buffer; });
  };
  bool redirectable = true;
  const std::function<void(const std::vector<Step>&)> visit = [&](const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      for (const View& view : step.views) {
        const bool refers = refers_to_sum(view.buffer) ||
                            std::any_of(view.choices.begin(), view.choices.end(),
                                        [&](const View::Choice& choice) { return refers_to_sum(choice.buffer); });
        redirectable &= !refers || sum_of(loop, view);
      }
      for (const auto& block : step.blocks) visit(block);
    }
  };
  visit(loop.blocks[0]);
  return redirectable;
}

int64_t bytes_of_partial_sums(const Step& loop) {
  int64_t bytes = 0;
  for (const Type& sum : loop.sums) bytes += row_bytes(sum);
  return bytes;
}

SurroundingSteps sum_in_chunks(Program& program, Step& loop) {
  loop.chunk_id = program.num_loops++;
  const int64_t chunks = num_chunks(loop);
  SurroundingSteps surrounding;
  std::vector<int32_t> partials;  // buffers, by sum
  for (size_t begin = 0; begin < loop.sums.size(); begin += kSumsPerKernel) {
    KernelStep zeros("clear_partial_sums"), total("add_partial_sums");
    for (size_t s = begin; s < std::min(begin + kSumsPerKernel, loop.sums.size()); ++s) {
      const DType d = loop.sums[s].dtype;
      const auto size = static_cast<int64_t>(size_of(d));
      const int64_t row = row_bytes(loop.sums[s]) / size, elements = loop.sums[s].shape.num_elements();
      partials.push_back(add_workspace(program, {d, Shape{chunks, row}}));
      clear(zeros, add_buffer(zeros.kernel(), d, chunks * row, true, kLine), d, chunks * row);
      zeros.bind({partials.back(), 0, {}});
      const int32_t sum = add_buffer(total.kernel(), d, elements, true, size);
      const int32_t partial = add_buffer(total.kernel(), d, chunks * row, false, kLine);
      accumulate(total, sum, partial, d, elements, chunks, row);
      total.bind(loop.views[s]);
      total.bind({partials.back(), 0, {}});
    }
    surrounding.before.push_back(zeros.add_to(program));
    surrounding.after.push_back(total.add_to(program));
  }
  for_each_view(loop.blocks[0], [&](View& view) {
    if (const auto s = sum_of(loop, view))
      view = {partials[*s], view.offset - loop.views[*s].offset, {{loop.chunk_id, row_bytes(loop.sums[*s])}}};
  });
  loop.views.clear();
  loop.sums.clear();
  return surrounding;
}

}  // namespace calque::kernel
