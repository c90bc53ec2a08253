// The outermost loop with enough iterations is split. A short loop whose body is only one other parallel loop is split
// together with it; any other short loop is not split, but the loops inside it are. Estimates need to be correct only
// within a factor of a few.
#include "kernel/schedule/threads.h"

#include <algorithm>
#include <cmath>

#include "kernel/ir/cost.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

// Nanoseconds per element.
constexpr double kByte = 0.025;     // 40 GB/s, between a cache and memory
constexpr double kVectorOp = 0.04;  // of 32 bits, in vectors
constexpr double kScalarOp = 0.3;
constexpr double kProduct = 0.003;      // per byte of a K element of a tile
constexpr double kExpensiveFactor = 6;  // divisions, square roots
// More chunks than this are not needed to keep threads busy.
constexpr double kEnoughChunks = 32;
// The limit of partial results of a reduction, which are on the stack.
constexpr int64_t kMostPartials = 512;
// Chunks of vectorised loops are multiples of this many iterations: whole unrolled vectors and cache lines. Bodies with
// inner loops are not unrolled; but where those are long, rows of memory are read one chunk at a time.
constexpr int64_t kVectorChunk = 256, kNestedChunk = 64, kRowChunk = 512;
constexpr int64_t kLongColumn = 128;
// Units that a reduction accumulates before combining pairwise (codegen/emit/reduction.cpp), and lanes of a unit.
constexpr int64_t kBlock = 64, kReductionLanes = 16;

/// Estimates nanoseconds.
class Timing {
 public:
  explicit Timing(const Kernel& kernel) : k_(kernel) {}

  double time(const Region& r, bool vector) const {
    double t = 0;
    for (const Instruction& i : r.instructions) t += time(i, vector);
    return t;
  }

  double time(const Instruction& i, bool vector) const {
    switch (i.op) {
      case Op::load:
      case Op::store: {
        const double bytes = static_cast<double>(size_of(k_.buffers[static_cast<size_t>(i.buffer)].dtype));
        return vector ? bytes * kByte : std::max(bytes * kByte, kScalarOp);
      }
      case Op::scalar: {
        const DType d = k_.values[static_cast<size_t>(i.results[0])];
        if (!vector && !is_floating(d)) return 0;  // mostly indices
        const bool expensive = i.primitive == id_of<Div> || i.primitive == id_of<Rem> || i.primitive == id_of<Sqrt>;
        const double one = vector ? kVectorOp * static_cast<double>(size_of(d)) / 4 : kScalarOp;
        return expensive ? one * kExpensiveFactor : one * cost_of(k_, i).operations;
      }
      case Op::loop:
        return static_cast<double>(i.extent) * iteration(i, vector);
      case Op::while_: {
        return kUnknownTrips * (time(i.regions[0], vector) + time(i.regions[1], vector));
      }
      case Op::if_:
        return time(i.regions[0], vector) + time(i.regions[1], vector);
      case Op::contraction: {
        const auto rows = static_cast<double>(i.rows), columns = static_cast<double>(i.columns);
        const auto bytes = static_cast<double>(size_of(k_.values[static_cast<size_t>(i.regions[2].parameters[2])]));
        return rows * columns * (static_cast<double>(i.extent) * kProduct * bytes + time(i.regions[2], true));
      }
      default:
        return 0;
    }
  }

 private:
  double iteration(const Instruction& i, bool vector) const {
    double t = time(i.regions[0], vector || i.vectorize);
    if (i.loop == LoopKind::reduction) t += vector || i.vectorize ? kVectorOp : kScalarOp;
    return std::max(t, 1e-3);
  }

  const Kernel& k_;
};

class ThreadSplitter {
 public:
  explicit ThreadSplitter(Kernel& kernel) : k_(kernel), timing_(kernel) {}
  void run() { visit(k_.body, false); }

 private:
  void visit(Region& r, bool vector) {
    for (Instruction& i : r.instructions) {
      if (i.op == Op::contraction) {
        i.threads = !vector && timing_.time(i, false) / 1e3 >= options_.split_above;
        continue;
      }
      // Nothing is split under the masks of diverging lanes.
      if (i.op == Op::loop ? split(i, vector) : vector) continue;
      for (Region& inner : i.regions) visit(inner, vector || i.vectorize);
    }
  }

  /// True when the loop and those inside it need no further treatment.
  bool split(Instruction& i, bool vector) {
    const double work = timing_.time(i, vector) / 1e3;
    if (work == 0 || work < options_.split_above) return true;  // empty, or too little
    const double chunks = std::min(work / options_.chunk, kEnoughChunks);
    if (i.loop == LoopKind::parallel) return split_nest(i, work, chunks);
    if (i.loop == LoopKind::reduction) return split_reduction(i, vector, work, chunks);
    // The code generator fixes the blocks that a cumulative loop is split into.
    i.threads = i.vectorize && !vector;
    if (i.threads) i.grain = 1;
    return i.threads;
  }

  static int64_t unit(const Instruction& i) {
    if (!i.vectorize) return 1;
    int64_t longest = 0;
    for (const Instruction& inner : i.regions[0].instructions)
      if (inner.op == Op::loop) longest = std::max(longest, inner.extent);
    return longest == 0 ? kVectorChunk : longest < kLongColumn ? kNestedChunk : kRowChunk;
  }
  /// The iterations that are `share` of the loop's work, rounded up to whole units.
  static int64_t grain(const Instruction& i, double share, int64_t unit) {
    const auto n = static_cast<int64_t>(std::ceil(static_cast<double>(i.extent) * std::min(share, 1.0)));
    return std::max<int64_t>(1, (n + unit - 1) / unit) * unit;
  }

  bool split_nest(Instruction& outermost, double work, double chunks) {
    std::vector<Instruction*> nest{&outermost};
    double outer = 1;  // iterations of the loops outside the innermost one of the nest
    const auto chunks_of = [&](const Instruction& loop) {
      return outer * static_cast<double>(loop.extent / unit(loop));
    };
    while (chunks_of(*nest.back()) < chunks) {
      Instruction* inner = only_loop(nest.back()->regions[0]);
      if (!inner) {
        // Accept fewer chunks, unless the loops inside have enough work for several threads each.
        const double inside = work / (outer * static_cast<double>(nest.back()->extent));
        if (inside >= options_.split_above || chunks_of(*nest.back()) < 2) return false;
        break;
      }
      outer *= static_cast<double>(nest.back()->extent);
      nest.push_back(inner);
    }
    for (Instruction* loop : nest) loop->threads = true;
    nest.back()->grain = grain(*nest.back(), outer * options_.chunk / work, unit(*nest.back()));
    return true;
  }

  /// The parallel loop of a region that otherwise has no loops, stores or control flow; else null.
  static Instruction* only_loop(Region& r) {
    Instruction* loop = nullptr;
    for (Instruction& i : r.instructions) {
      if (i.op == Op::constant || i.op == Op::scalar || i.op == Op::load) continue;
      if (loop || i.op != Op::loop || i.loop != LoopKind::parallel) return nullptr;
      loop = &i;
    }
    return loop;
  }

  bool split_reduction(Instruction& i, bool vector, double work, double chunks) {
    const int64_t block = kBlock * (i.vectorize && !vector ? kReductionLanes : 1), blocks = i.extent / block;
    const bool descend = work / static_cast<double>(i.extent) >= options_.split_above;
    if (blocks < 2 || (static_cast<double>(blocks) < chunks && descend)) return false;
    i.threads = true;
    i.grain = std::max(grain(i, options_.chunk / work, 1), (i.extent + kMostPartials - 1) / kMostPartials);
    return true;
  }

  Kernel& k_;
  const Timing timing_;
  const ThreadOptions options_ = thread_options();
};

}  // namespace

ThreadOptions& thread_options() {
  static ThreadOptions options;
  return options;
}

double estimated_time(const Kernel& kernel) { return Timing(kernel).time(kernel.body, false) / 1e3; }

void split_over_threads(Kernel& kernel) { ThreadSplitter(kernel).run(); }

}  // namespace calque::kernel
