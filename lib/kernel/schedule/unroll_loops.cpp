// The kernel is emitted again, which hoists instructions that have become loop-invariant and merges those that have
// become equal.
#include "kernel/schedule/unroll_loops.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "kernel/ir/cost.h"
#include "kernel/ir/kernel_builder.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

constexpr int64_t kFew = 4, kSeveral = 8, kMany = 32;
/// Computing this much for each row is worth vectors of rows, rather than of a row's elements.
constexpr double kWork = 8;
/// The most instructions that unrolling adds. Long straight-line code around a sum of a few elements is no reason to
/// keep its loop, which the vectors of the loop around it would have to go through.
constexpr size_t kMaxAddedInstructions = 800;

bool is_straight(const Region& r) {
  return std::all_of(r.instructions.begin(), r.instructions.end(),
                     [](const Instruction& i) { return i.regions.empty() && i.op != Op::store; });
}

bool is_short_sum(const Instruction& i) {
  return is_reduction(i) && i.extent > 0 && i.extent <= kSeveral && i.results.size() == 1 &&
         i.combiners[0] != Combiner::argmax && i.combiners[0] != Combiner::argmin && is_straight(i.regions[0]);
}

bool is_long_sum(const Instruction& i) { return is_reduction(i) && i.extent >= kMany; }

bool computes(const Kernel& kernel, const Region& row) {
  double operations = 0;
  for (const Instruction& i : row.instructions) {
    if (is_short_sum(i)) return true;
    operations += cost_of(kernel, i).operations;
  }
  return operations >= kWork;
}

/// A loop of a few iterations, each with a long reduction; or without loops, as over the elements of a short row: the
/// loop around it then runs in vectors.
bool is_short_nest(const Kernel& kernel, const Instruction& i, const Region& around) {
  if (!is_loop(i, LoopKind::parallel) || i.extent <= 0 || i.extent > kSeveral) return false;
  const auto& body = i.regions[0].instructions;
  if (std::ranges::all_of(body, [](const Instruction& n) { return n.regions.empty() || is_short_sum(n); }))
    return i.extent <= kFew || computes(kernel, around);
  return i.extent <= kFew && std::ranges::any_of(body, is_long_sum) &&
         std::ranges::none_of(body, [](const Instruction& n) { return is_loop(n, LoopKind::parallel); });
}

/// Whether there is a loop to unroll, how many instructions that adds, and whether the kernel allows it.
struct Survey {
  explicit Survey(const Kernel& k) : kernel(k), read(k.buffers.size()), written(k.buffers.size()) {
    added = visit(kernel.body, false) - instructions;
    for (size_t b = 0; b < read.size(); ++b) plain = plain && !(read[b] && written[b]);
  }
  /// The number of instructions of the unrolled region.
  size_t visit(const Region& r, bool repeated) {
    size_t n = 0;
    instructions += r.instructions.size();
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::load) read[static_cast<size_t>(i.buffer)] = true;
      if (i.op == Op::store) written[static_cast<size_t>(i.buffer)] = true;
      plain = plain && i.op != Op::while_ && i.op != Op::if_ && i.op != Op::contraction &&
              !is_loop(i, LoopKind::sequential);
      size_t inner = 1;
      for (const Region& region : i.regions)
        inner += visit(region, repeated || (is_loop(i, LoopKind::parallel) && i.extent >= kMany));
      if (is_short_sum(i) || (repeated && is_short_nest(kernel, i, r))) {
        found = true;
        inner *= static_cast<size_t>(i.extent);
      }
      n += inner;
    }
    return n;
  }
  const Kernel& kernel;
  std::vector<bool> read, written;
  bool plain = true, found = false;
  size_t instructions = 0, added = 0;
};

class Unroller {
 public:
  Unroller(const Kernel& from, Kernel& to) : from_(from), e_(to) {}
  void run() { region(from_.body, false); }

 private:
  DType dtype(Id id) const { return from_.values[static_cast<size_t>(id)]; }
  Id value(Id id) const { return values_.at(id); }

  /// Emits a region; returns what it yields.
  Ids region(const Region& r, bool repeated) {
    Ids yields;
    for (const Instruction& i : r.instructions) {
      if (i.op == Op::yield)
        for (const Id o : i.operands) yields.push_back(value(o));
      else
        instruction(i, r, repeated);
    }
    return yields;
  }

  void instruction(const Instruction& i, const Region& around, bool repeated) {
    switch (i.op) {
      case Op::constant:
        values_[i.results[0]] = e_.constant(dtype(i.results[0]), i.literal);
        break;
      case Op::scalar:
        values_[i.results[0]] = scalar(i);
        break;
      case Op::load: {
        const auto load = [&] { return e_.load(i.buffer, value(i.operands[0])); };
        values_[i.results[0]] = i.operands.size() > 1 ? e_.under(value(i.operands[1]), load) : load();
        break;
      }
      case Op::store: {
        const auto store = [&] {
          e_.store(i.buffer, value(i.operands[0]), value(i.operands[1]));
          return 0;
        };
        i.operands.size() > 2 ? e_.under(value(i.operands[2]), store) : store();
        break;
      }
      default:
        loop(i, around, repeated);
    }
  }

  Id scalar(const Instruction& i) {
    const DType d = dtype(i.results[0]);
    Ids operands;
    for (const Id o : i.operands) operands.push_back(value(o));
    if (d == DType::i64 && operands.size() == 2) {
      int64_t factor = 0;
      if (i.primitive == id_of<Add>) return e_.add(operands[0], operands[1]);
      if (i.primitive == id_of<Sub>) return e_.sub(operands[0], operands[1]);
      if (i.primitive == id_of<Mul> && e_.is_constant(operands[1], factor)) return e_.mul(operands[0], factor);
    }
    return e_.scalar(i.primitive, d, operands, i.exact);
  }

  void loop(const Instruction& i, const Region& around, bool repeated) {
    const Region& body = i.regions[0];
    if (is_short_sum(i)) {
      Id sum = value(i.operands[0]);
      for (int64_t k = 0; k < i.extent; ++k) {
        values_[body.parameters[0]] = e_.index(k);
        sum = e_.scalar(combine(i.combiners[0]), dtype(i.results[0]), {sum, region(body, repeated)[0]});
      }
      values_[i.results[0]] = sum;
      return;
    }
    if (repeated && is_short_nest(from_, i, around)) {
      for (int64_t k = 0; k < i.extent; ++k) {
        values_[body.parameters[0]] = e_.index(k);
        region(body, repeated);
      }
      return;
    }
    const bool inner_repeated = repeated || (is_loop(i, LoopKind::parallel) && i.extent >= kMany);
    Ids initial;
    for (const Id o : i.operands) initial.push_back(value(o));
    const Ids results = e_.loop(i.loop, i.extent, initial, std::span(i.combiners.begin(), i.combiners.end()),
                                e_.depth(), [&](Id index, std::span<const Id>) {
                                  values_[body.parameters[0]] = index;
                                  return region(body, inner_repeated);
                                });
    for (size_t r = 0; r < results.size(); ++r) values_[i.results[r]] = results[r];
  }

  static PrimitiveId combine(Combiner c) {
    switch (c) {
      case Combiner::mul:
        return id_of<Mul>;
      case Combiner::max:
        return id_of<Max>;
      case Combiner::min:
        return id_of<Min>;
      case Combiner::and_:
        return id_of<And>;
      case Combiner::or_:
        return id_of<Or>;
      default:
        return id_of<Add>;
    }
  }

  const Kernel& from_;
  Emitter e_;
  std::unordered_map<Id, Id> values_;
};

}  // namespace

void unroll_loops(Kernel& kernel) {
  if (kernel.num_parameters() != kernel.buffers.size()) return;  // local buffers are stored to again and again
  const Survey survey(kernel);
  if (!survey.found || !survey.plain || survey.added > kMaxAddedInstructions) return;
  Kernel out;
  out.name = kernel.name;
  out.buffers = kernel.buffers;
  Unroller(kernel, out).run();
  kernel.values = std::move(out.values);
  kernel.body = std::move(out.body);
}

}  // namespace calque::kernel
