#include "kernel/lower/parallel_loops.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

#include "kernel/buffers/workspace.h"
#include "kernel/lower/partial_sums.h"
#include "kernel/schedule/threads.h"

namespace calque::kernel {

namespace {

// Nanoseconds per copied byte: a read and a write.
constexpr double kCopiedByte = 0.05;
// More private memory would not stay in the cache of one processor; each thread has this much.
constexpr int64_t kMostPrivateBytes = int64_t{8} << 20;
// The limit of chunks per loop: enough to keep threads busy. Below kFewestChunks, partial sums do not pay off.
constexpr int64_t kMostChunks = 64, kFewestChunks = 4;
// The limit of all partial sums of a loop, and nanoseconds per byte of them: cleared, written back, read again.
constexpr int64_t kMostPartialBytes = int64_t{16} << 20;
constexpr double kPartialByte = 0.3;
// The share of a loop's time that its partial sums may take.
constexpr double kSumsShare = 0.1;
// A loop must take this many times the work from which a kernel's loop is split over threads: its setup costs more.
constexpr double kWorth = 2;

/// About n cubed operations for the matrices of each batch, ten times as many where their spectra are computed, some
/// tens for each element of a sort or a transform.
double time_of_routine(const RoutineRef& routine) {
  constexpr double kOperation = 1e-4;  // microseconds
  constexpr double kSort = 100;
  constexpr double kSpectrum = 10;
  using primitives::Routine;
  const bool is_spectrum =
      routine.routine == Routine::eigh || routine.routine == Routine::svd || routine.routine == Routine::eig;
  double operations = 0;
  for (const Type& type : routine.arguments) {
    if (routine.routine == primitives::Routine::sort || routine.routine == primitives::Routine::fft) {
      operations += kSort * static_cast<double>(type.shape.num_elements());
      continue;
    }
    const double columns = type.shape.rank() == 0 ? 1 : static_cast<double>(type.shape[type.shape.size() - 1]);
    operations += static_cast<double>(type.shape.num_elements()) * columns;
  }
  return operations * (is_spectrum ? kSpectrum : 1) * kOperation;
}

double time_of(const Program& program, const Step& step) {
  switch (step.kind) {
    case StepKind::kernel:
      return estimated_time(program.kernels[static_cast<size_t>(step.kernel)]);
    case StepKind::copy:
      return static_cast<double>(step.bytes) * kCopiedByte / 1e3;
    case StepKind::repeat:
      return static_cast<double>(step.count) * estimated_time(program, step.blocks[0]);
    case StepKind::while_:
      return kUnknownTrips * (estimated_time(program, step.blocks[0]) + estimated_time(program, step.blocks[1]));
    case StepKind::branch: {
      double longest = 0;
      for (const auto& block : step.blocks) longest = std::max(longest, estimated_time(program, block));
      return longest;
    }
    case StepKind::routine:
      return time_of_routine(program.routines[static_cast<size_t>(step.routine)]);
    case StepKind::iota_i32:
    case StepKind::host_call:
      break;
  }
  return 0;
}

}  // namespace

double estimated_time(const Program& program, const std::vector<Step>& steps) {
  double time = 0;
  for (const Step& step : steps) time += time_of(program, step);
  return time;
}

namespace {

/// Whether a step, or one inside it, calls into C++: the order of such calls is observable.
bool has_host_call(const std::vector<Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.kind == StepKind::host_call || std::any_of(step.blocks.begin(), step.blocks.end(), has_host_call);
  });
}

/// The iterations per chunk of a loop whose iterations take `microseconds` each and that may have at most `chunks`
/// chunks; `count` if the loop is too small for more than one thread.
int64_t iterations_per_chunk(int64_t count, double microseconds, int64_t chunks) {
  const double enough = std::ceil(thread_options().chunk / std::max(microseconds, 1e-3));
  if (enough >= static_cast<double>(count)) return count;
  return std::max(static_cast<int64_t>(enough), (count + chunks - 1) / std::max<int64_t>(chunks, 1));
}

/// A slice of a buffer that an iteration of a loop accesses: bytes [begin, end) in iteration 0, moved by `stride` bytes
/// in each next iteration.
struct LoopAccess {
  int64_t begin = 0, end = 0;
  int64_t stride = 0;
  bool written = false;
  bool not_a_slice = false;           ///< depends on the loop's iterations in another way
  std::vector<View::Term> of_others;  ///< terms of enclosing loops
};

/// The accesses of one iteration of a loop, by buffer.
class LoopAccesses {
 public:
  LoopAccesses(const Program& program, const Step& loop) : program_(program), loop_(loop) { walk(loop.blocks[0]); }
  const std::map<int32_t, std::vector<LoopAccess>>& by_buffer() const { return by_buffer_; }

 private:
  void walk(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (step.kind == StepKind::repeat) {
        iterations_[step.loop_id] = step.count;
        if (step.chunk_id >= 0) iterations_[step.chunk_id] = num_chunks(step);
      }
      for (size_t v = 0; v < step.views.size() && step.blocks.empty(); ++v) add(step, v);
      if (step.kind == StepKind::while_ || step.kind == StepKind::branch) add(step, 0);  // the condition or selector
      for (const auto& block : step.blocks) walk(block);
    }
  }

  void add(const Step& step, size_t v) {
    const View& view = step.views[v];
    int64_t bytes = 0;
    bool written = false;
    if (step.kind == StepKind::kernel) {
      const Buffer& b = program_.kernels[static_cast<size_t>(step.kernel)].buffers[v];
      bytes = b.extent * static_cast<int64_t>(size_of(b.dtype));
      written = b.written;
    } else if (step.kind == StepKind::copy) {
      bytes = step.bytes;
      written = v == 0;
    } else {
      bytes = static_cast<int64_t>(size_of(program_.buffers[static_cast<size_t>(view.buffer)].type.dtype));
      written = step.kind == StepKind::iota_i32;
    }
    const bool not_a_slice = std::any_of(view.choices.begin(), view.choices.end(),
                                         [&](const View::Choice& c) { return c.depends_on(loop_.loop_id); });
    const auto access = [&](const auto& slice) {
      LoopAccess a;
      a.begin = slice.offset;
      a.end = slice.offset + bytes;
      a.written = written;
      a.not_a_slice = not_a_slice;
      for (const View::Term& term : slice.terms) add(term, a);
      // Negative extents are those of inputs with negative strides, which are never written.
      if (bytes > 0) by_buffer_[slice.buffer].push_back(std::move(a));
    };
    access(view);
    for (const View::Choice& c : view.choices) access(c);
  }

  void add(const View::Term& term, LoopAccess& a) const {
    if (term.loop == loop_.loop_id) {
      a.stride += term.bytes;
    } else if (const auto inner = iterations_.find(term.loop); inner != iterations_.end()) {
      const int64_t furthest = term.bytes * std::max<int64_t>(inner->second - 1, 0);
      (furthest < 0 ? a.begin : a.end) += furthest;
    } else {
      a.of_others.push_back(term);
    }
  }

  const Program& program_;
  const Step& loop_;
  std::map<int32_t, int64_t> iterations_;  // of inner loops, by loop id
  std::map<int32_t, std::vector<LoopAccess>> by_buffer_;
};

/// Whether no iteration accesses memory that another one writes.
bool disjoint(const std::vector<LoopAccess>& accesses) {
  if (std::none_of(accesses.begin(), accesses.end(), [](const LoopAccess& a) { return a.written; })) return true;
  const LoopAccess& first = accesses.front();
  int64_t begin = first.begin, end = first.end;
  for (const LoopAccess& a : accesses) {
    if (a.not_a_slice || a.stride == 0 || a.stride != first.stride || a.of_others != first.of_others) return false;
    begin = std::min(begin, a.begin);
    end = std::max(end, a.end);
  }
  return end - begin <= std::abs(first.stride);
}

/// Whether each iteration accesses the same bytes, in every iteration of the enclosing loops.
bool same_in_each_iteration(const std::vector<LoopAccess>& accesses) {
  return std::all_of(accesses.begin(), accesses.end(),
                     [](const LoopAccess& a) { return a.stride == 0 && !a.not_a_slice && a.of_others.empty(); });
}

/// Counts the views and choices that refer to each buffer.
void count_uses(const std::vector<Step>& steps, std::map<int32_t, int>& uses) {
  for (const Step& step : steps) {
    for (const View& view : step.views) {
      ++uses[view.buffer];
      for (const View::Choice& c : view.choices) ++uses[c.buffer];
    }
    for (const auto& block : step.blocks) count_uses(block, uses);
  }
}

class LoopMarker {
 public:
  explicit LoopMarker(Program& program) : program_(program) { count_uses(program.steps, uses_); }
  void visit(std::vector<Step>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != StepKind::repeat || !mark(steps[i])) {
        for (auto& block : steps[i].blocks) visit(block);
        continue;
      }
      if (steps[i].sums.empty()) continue;
      SurroundingSteps surrounding = sum_in_chunks(program_, steps[i]);
      const auto insert = [&](std::vector<Step>& from, size_t at) {
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(from.begin()),
                     std::make_move_iterator(from.end()));
      };
      insert(surrounding.after, i + 1);
      insert(surrounding.before, i);
      i += surrounding.before.size() + surrounding.after.size();
    }
  }

 private:
  /// Iterations per chunk; `count` if the loop is to run in order.
  int64_t grain_of(const Step& loop, double one) const {
    const double all = one * static_cast<double>(loop.count);
    if (all < kWorth * thread_options().split_above) return loop.count;
    if (loop.sums.empty()) return iterations_per_chunk(loop.count, one, kMostChunks);
    const auto row = static_cast<double>(std::max<int64_t>(bytes_of_partial_sums(loop), 1));
    const double most = std::min({static_cast<double>(kMostChunks), kSumsShare * all * 1e3 / (row * kPartialByte),
                                  static_cast<double>(kMostPartialBytes) / row});
    const auto chunks = static_cast<int64_t>(most);
    if (chunks < kFewestChunks) return loop.count;
    const int64_t grain = iterations_per_chunk(loop.count, one, chunks);
    return loop.count / grain < kFewestChunks ? loop.count : grain;
  }

  bool mark(Step& loop) {
    if (loop.count < 2 || loop.loop_id < 0 || has_host_call(loop.blocks[0])) return false;
    const int64_t grain = grain_of(loop, estimated_time(program_, loop.blocks[0]));
    std::vector<int32_t> privates;
    if (grain >= loop.count || !can_redirect_sums(loop) || !independent(loop, privates)) return false;
    for (const int32_t b : privates) program_.buffers[static_cast<size_t>(b)].private_to = loop.loop_id;
    loop.private_bytes = assign_private_offsets(program_, loop);
    loop.threads = loop.private_bytes <= kMostPrivateBytes;
    if (loop.threads) {
      loop.grain = grain;
      return true;
    }
    for (const int32_t b : privates) program_.buffers[static_cast<size_t>(b)].private_to = -1;
    loop.private_bytes = 0;
    return false;
  }

  /// Whether iterations are independent. Appends the buffers that are private to an iteration to `privates`.
  bool independent(const Step& loop, std::vector<int32_t>& privates) const {
    std::map<int32_t, int> inside;
    count_uses(loop.blocks[0], inside);
    const LoopAccesses accesses(program_, loop);
    for (const auto& [buffer, list] : accesses.by_buffer()) {
      const auto is_sum = [b = buffer](const View& sum) { return sum.buffer == b; };
      if (std::any_of(loop.views.begin(), loop.views.end(), is_sum)) continue;
      const bool local = program_.buffers[static_cast<size_t>(buffer)].kind == BufferKind::workspace &&
                         inside[buffer] == uses_.at(buffer);
      if (local && same_in_each_iteration(list))
        privates.push_back(buffer);
      else if (!disjoint(list))
        return false;
    }
    return true;
  }

  Program& program_;
  std::map<int32_t, int> uses_;
};

}  // namespace

void run_loops_on_threads(Program& program) { LoopMarker(program).visit(program.steps); }

}  // namespace calque::kernel
