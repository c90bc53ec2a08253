// A loop nest is vectorised along its innermost parallel loop or along the reductions inside it, whichever has fewer
// and more contiguous memory accesses. The choice depends on the kernel alone, so it is the same on every machine.
#include "kernel/schedule/schedule.h"

#include <algorithm>

#include "kernel/ir/cost.h"
#include "kernel/ir/strides.h"
#include "kernel/ir/walk.h"
#include "kernel/schedule/reuse_reduction_values.h"
#include "kernel/schedule/threads.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

/// Lanes that the estimates assume.
constexpr double kLanes = 8;
constexpr double kGather = 1.0;   // a lane of a gather or scatter costs about as much as a scalar access
constexpr int64_t kShortest = 4;  // shorter loops gain nothing from vectors

class Scheduler {
 public:
  explicit Scheduler(Kernel& kernel) : k_(kernel), strides_(kernel) {}

  void run() {
    clear(k_.body);
    visit(k_.body);
    k_.bytes_read = k_.bytes_written = k_.flops = 0;
    for (Instruction& i : k_.body.instructions) count_outermost(i);
  }

 private:
  /// A kernel that was changed is scheduled again.
  static void clear(Region& body) {
    walk(body, [](Instruction& i) {
      i.vectorize = i.threads = i.overlapping_tail = false;
      i.grain = i.lanes = i.column_tile = 0;
    });
  }

  /// Whether the instruction, or a loop inside it, may be vectorised separately.
  static bool is_nest(const Instruction& i) { return is_parallel(i) || i.op == Op::contraction; }
  /// Whether the loop is vectorised along its own iterations with a combiner.
  static bool is_fold(const Instruction& i) {
    return is_reduction(i) || (i.op == Op::loop && i.loop == LoopKind::sequential && !i.combiners.empty());
  }
  static bool is_counted_loop(const Instruction& i) { return i.op == Op::loop; }

  /// Estimated cycles of one run of a region when a loop is vectorised, per vector of its iterations. `stride`: along
  /// its variable.
  double cost(const Region& r, Strides::Along& stride) {
    double c = 0;
    for (const Instruction& i : r.instructions) {
      switch (i.op) {
        case Op::load:
        case Op::store: {
          const auto s = stride(i.operands[0]);
          c += !s                            ? kGather * kLanes
               : *s == 0 && i.op == Op::load ? 0.5
               : *s == 1                     ? 1
               : *s == -1                    ? 1.5
                                             : kGather * kLanes;
          break;
        }
        case Op::scalar:
          c += 0.5;
          break;
        case Op::loop:
          c += static_cast<double>(i.extent) * cost(i.regions[0], stride);
          break;
        case Op::while_:
          c += 10 * (cost(i.regions[0], stride) + cost(i.regions[1], stride));
          break;
        case Op::if_:
          c += cost(i.regions[0], stride) + cost(i.regions[1], stride);
          break;
        default:
          break;
      }
    }
    return c;
  }

  double vector_cost(Instruction& loop) {
    Strides::Along stride = strides_.along(loop.regions[0].parameters[0]);
    const double trips =
        static_cast<double>((loop.extent + static_cast<int64_t>(kLanes) - 1) / static_cast<int64_t>(kLanes));
    return trips * cost(loop.regions[0], stride);
  }

  /// Estimated cycles of a region in which only innermost reductions are vectorised.
  double reduction_cost(Region& r) {
    double c = 0;
    for (Instruction& i : r.instructions) {
      switch (i.op) {
        case Op::load:
        case Op::store:
          c += 1;
          break;
        case Op::scalar:
          c += 0.5;
          break;
        case Op::loop:
          if (is_fold(i) && !contains(i.regions[0], is_counted_loop) && i.extent >= kShortest) {
            c += vector_cost(i) * (is_reduction(i) ? 1 : 2) + 4;
          } else {
            c += static_cast<double>(i.extent) * reduction_cost(i.regions[0]);
          }
          break;
        case Op::while_:
          c += 10 * (reduction_cost(i.regions[0]) + reduction_cost(i.regions[1]));
          break;
        case Op::if_:
          c += reduction_cost(i.regions[0]) + reduction_cost(i.regions[1]);
          break;
        default:
          break;
      }
    }
    return c;
  }

  void vectorize_reductions(Region& r) {
    for (Instruction& i : r.instructions) {
      if (is_fold(i) && !contains(i.regions[0], is_counted_loop)) {
        i.vectorize = i.extent >= kShortest;
      } else {
        for (Region& inner : i.regions) vectorize_reductions(inner);
      }
    }
  }

  void visit(Region& r) {
    for (Instruction& i : r.instructions) {
      if (i.op == Op::contraction) continue;
      if (is_parallel(i) && !contains(i.regions[0], is_nest)) {
        const double along = i.extent >= kShortest ? vector_cost(i) : 1e300;
        const double inside =
            contains(i.regions[0], is_fold) ? static_cast<double>(i.extent) * reduction_cost(i.regions[0]) : 1e299;
        if (along <= inside) {
          i.vectorize = i.extent >= kShortest;
        } else {
          vectorize_reductions(i.regions[0]);
        }
      } else if (is_fold(i) && !contains(i.regions[0], is_counted_loop)) {
        i.vectorize = i.extent >= kShortest;
      } else {
        for (Region& inner : i.regions) visit(inner);
      }
    }
  }

  /// Each element of a buffer that an outermost loop reads or writes is counted at most once: further accesses hit a
  /// cache.
  void count_outermost(Instruction& i) {
    reads_.assign(k_.buffers.size(), 0);
    writes_.assign(k_.buffers.size(), 0);
    count(i, 1);
    for (size_t b = 0; b < k_.num_parameters(); ++b) {
      const auto size = static_cast<int64_t>(size_of(k_.buffers[b].dtype));
      k_.bytes_read += std::min(reads_[b], k_.buffers[b].extent) * size;
      k_.bytes_written += std::min(writes_[b], k_.buffers[b].extent) * size;
    }
  }

  /// Counts elements and operations of one call; loops of unknown length count as one iteration.
  void count(Region& r, int64_t times) {
    for (Instruction& i : r.instructions) count(i, times);
  }
  void count(Instruction& i, int64_t times) {
    if (i.op == Op::load || i.op == Op::store) {
      int64_t& elements = (i.op == Op::load ? reads_ : writes_)[static_cast<size_t>(i.buffer)];
      elements += std::min(times, k_.buffers[static_cast<size_t>(i.buffer)].extent);
    } else if (i.op == Op::scalar && is_floating(k_.values[static_cast<size_t>(i.results[0])])) {
      k_.flops += saturating(times, i.primitive == id_of<Fma> ? 2 : cost_of(k_, i).operations);
    } else if (i.op == Op::contraction) {
      count(i.regions[0], saturating(times, saturating(i.rows, i.extent)));
      count(i.regions[1], saturating(times, saturating(i.extent, i.columns)));
      count(i.regions[2], saturating(times, saturating(i.rows, i.columns)));
      k_.flops += saturating(2 * times, saturating(saturating(i.rows, i.columns), i.extent));
      return;
    }
    for (Region& inner : i.regions) count(inner, i.op == Op::loop ? saturating(times, i.extent) : times);
    if (is_reduction(i)) k_.flops += saturating(times, i.extent);
  }
  static int64_t saturating(int64_t a, int64_t b) {
    int64_t r = 0;
    return __builtin_mul_overflow(a, b, &r) ? INT64_MAX / 1024 : r;
  }

  Kernel& k_;
  const Strides strides_;
  std::vector<int64_t> reads_, writes_;  // by buffer: elements that the current loop reads and writes
};

}  // namespace

void vectorize_loops(Kernel& kernel) { Scheduler(kernel).run(); }

void schedule(Kernel& kernel) {
  vectorize_loops(kernel);
  reuse_reduction_values(kernel);
  split_over_threads(kernel);
}

}  // namespace calque::kernel
