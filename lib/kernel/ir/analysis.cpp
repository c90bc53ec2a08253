// Which values vary is a fixpoint over loop carries; all other facts take one walk. Definitions precede uses, so one
// forward walk suffices for straight-line code.
#include "kernel/ir/analysis.h"

#include <algorithm>
#include <limits>

#include "kernel/ir/cost.h"
#include "kernel/ir/walk.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

__extension__ typedef __int128 Wide;

// Inlining a function is worth its compile time in loops of at least kLongLoop vectors. The number of inlined functions
// is limited so that the register allocator's time stays linear.
constexpr double kLongLoop = 32, kLanes = 8;
constexpr size_t kMostInlined = 16, kMostInBody = 8;
constexpr int kShortFunction = 150;
// Beside this many other instructions, the time of a call does not matter.
constexpr size_t kLongBody = 100;

bool is_wide_integer(DType d) { return d == DType::i64 || d == DType::u64; }

// Instructions of a function where it is inlined, including those of its cold path.
int64_t instructions_of(const math::FunctionCost& cost) { return int64_t{cost.operations} + cost.cold; }

const Instruction* yield_of(const Region& region) {
  return region.instructions.empty() || region.instructions.back().op != Op::yield ? nullptr
                                                                                   : &region.instructions.back();
}

}  // namespace

int64_t instruction_count(const Kernel& kernel, const Region& region) {
  int64_t n = 0;
  walk(region, [&](const Instruction& i) { n += instructions_of(cost_of(kernel, i)); });
  return n;
}

bool is_rounded(const Kernel& kernel, const Instruction& loop) {
  for (size_t r = 0; r < loop.results.size(); ++r) {
    const bool sums = loop.combiners[r] == Combiner::add || loop.combiners[r] == Combiner::mul;
    if (sums && is_floating(kernel.values[static_cast<size_t>(loop.results[r])])) return true;
  }
  return false;
}

KernelAnalysis::KernelAnalysis(const Kernel& kernel)
    : kernel_(kernel),
      varying_(kernel.values.size()),
      data_(kernel.values.size()),
      used_(kernel.values.size()),
      loaded_(kernel.buffers.size()),
      stored_(kernel.buffers.size()),
      lane_private_(kernel.buffers.size()),
      ranges_(kernel.values.size()),
      defined_(kernel.values.size()) {
  size_ = instruction_count(kernel, kernel.body);
  while (walk(kernel.body, false)) {
  }
  mark_data(kernel.body);
  mark_used(kernel.body);
  record(kernel.body);
  choose_inlined(kernel.body, 1);
  if (inlined_.size() > kMostInlined) inlined_.clear();
}

void KernelAnalysis::mark_used(const Region& region) {
  kernel::walk(region, [&](const Instruction& i) {
    for (const Id o : i.operands) used_[o] = true;
  });
}

bool KernelAnalysis::set(Id id, bool varying) {
  if (!varying || varying_[id]) return false;
  varying_[id] = true;
  return true;
}

// True if a carry became varying after the body that uses it was visited.
bool KernelAnalysis::walk(const Region& region, bool vector) {
  bool again = false;
  for (const Instruction& i : region.instructions) again |= visit(i, vector);
  return again;
}

bool KernelAnalysis::visit(const Instruction& i, bool vector) {
  bool any = false;
  for (const Id o : i.operands) any = any || varying_[o];
  bool again = false;
  switch (i.op) {
    case Op::load:
      // The lanes of a vectorised loop have local buffers of their own.
      any = any || lane_private_[i.buffer];
      [[fallthrough]];
    case Op::constant:
    case Op::scalar:
      for (const Id r : i.results) set(r, any);
      if (i.op != Op::load) defined_[i.results[0]] = &i;
      compute_range(i);
      if (i.op == Op::load) loaded_[i.buffer] = true;
      break;
    case Op::store:
      stored_[i.buffer] = true;
      break;
    case Op::yield:
      break;
    case Op::loop: {
      const Region& body = i.regions[0];
      const bool inside = vector || i.vectorize;
      for (const int32_t b : i.locals) lane_private_[b] = inside;
      if (!body.parameters.empty()) {
        set(body.parameters[0], i.vectorize);
        ranges_[body.parameters[0]] = {0, std::max<int64_t>(i.extent - 1, 0)};
      }
      if (i.loop == LoopKind::sequential)
        for (size_t c = 0; c < i.operands.size(); ++c) set(body.parameters[c + 1], varying_[i.operands[c]]);
      again |= walk(body, inside);
      const Instruction* yield = yield_of(body);
      for (size_t c = 0; c < i.results.size(); ++c) {
        if (i.loop == LoopKind::sequential) {
          again |= set(body.parameters[c + 1], varying_[yield->operands[c]]);
          set(i.results[c], varying_[i.vectorize ? i.operands[c] : body.parameters[c + 1]]);
        } else {
          bool varies = (!i.vectorize && varying_[yield->operands[c]]) || varying_[i.operands[c]];
          set(i.results[c], varies);
          // A value and its index have the same form.
          if (i.combiners[c] == Combiner::argmax || i.combiners[c] == Combiner::argmin) {
            varies |= (!i.vectorize && varying_[yield->operands[c + 1]]) || varying_[i.operands[c + 1]];
            set(i.results[c], varies);
            set(i.results[++c], varies);
          }
        }
      }
      break;
    }
    case Op::while_: {
      const Region &cond = i.regions[0], &body = i.regions[1];
      for (size_t c = 0; c < i.operands.size(); ++c) {
        set(cond.parameters[c], varying_[i.operands[c]]);
        set(body.parameters[c], varying_[cond.parameters[c]]);
      }
      again |= walk(cond, vector);
      again |= walk(body, vector);
      const bool diverges = varying_[yield_of(cond)->operands[0]];
      for (size_t c = 0; c < i.operands.size(); ++c) {
        const bool varies = diverges || varying_[yield_of(body)->operands[c]];
        again |= set(cond.parameters[c], varies);
        again |= set(body.parameters[c], varying_[cond.parameters[c]]);
        set(i.results[c], varying_[cond.parameters[c]]);
      }
      break;
    }
    case Op::contraction: {
      const int64_t extents[3][2] = {{i.rows, i.extent}, {i.extent, i.columns}, {i.rows, i.columns}};
      for (size_t r = 0; r < 3; ++r) {
        const Region& region = i.regions[r];
        for (const Id p : region.parameters) set(p, true);
        for (size_t p = 0; p < 2; ++p) ranges_[region.parameters[p]] = {0, std::max<int64_t>(extents[r][p] - 1, 0)};
        again |= walk(region, true);
      }
      break;
    }
    case Op::if_: {
      again |= walk(i.regions[0], vector);
      again |= walk(i.regions[1], vector);
      for (size_t c = 0; c < i.results.size(); ++c)
        set(i.results[c], varying_[i.operands[0]] || varying_[yield_of(i.regions[0])->operands[c]] ||
                              varying_[yield_of(i.regions[1])->operands[c]]);
      break;
    }
  }
  return again;
}

double KernelAnalysis::lower_bound(Id id, int depth) const {
  constexpr int kFar = 12;
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Instruction* i = defined_[id];
  const DType d = kernel_.values[id];
  if (!i || depth == kFar || (d != DType::f32 && d != DType::f64)) return kNothing;
  if (i->op == Op::constant)
    return d == DType::f32 ? static_cast<double>(i->literal.as<float>()) : i->literal.as<double>();
  const auto of = [&](size_t operand) { return lower_bound(i->operands[operand], depth + 1); };
  switch (i->primitive) {
    case id_of<Abs>:
    case id_of<Sqrt>:
    case id_of<Rsqrt>:
      return 0;
    case id_of<Mul>:
      return i->operands[0] == i->operands[1] || (of(0) >= 0 && of(1) >= 0) ? 0 : kNothing;
    case id_of<Add>: {
      // Rounding is monotonic: a sum is not less than an addend whose other addend is nonnegative.
      const double a = of(0), b = of(1);
      return a >= 0 && b >= 0 ? std::max(a, b) : kNothing;
    }
    case id_of<Fma>: {
      const double c = of(2);
      const bool product = i->operands[0] == i->operands[1] || (of(0) >= 0 && of(1) >= 0);
      return product && c >= 0 ? c : kNothing;
    }
    case id_of<Max>:
      return std::max(of(0), of(1));
    case id_of<Min>:
      return std::min(of(0), of(1));
    case id_of<Select>:
      return std::min(of(1), of(2));
    default:
      return kNothing;
  }
}

void KernelAnalysis::compute_range(const Instruction& i) {
  if (i.results.empty() || kernel_.values[i.results[0]] != DType::i64) return;
  IndexRange& out = ranges_[i.results[0]];
  if (i.op == Op::constant) {
    const auto v = i.literal.as<int64_t>();
    out = {v, v};
    return;
  }
  if (i.op != Op::scalar || i.operands.empty()) return;
  if (i.primitive == id_of<Convert>) {
    if (kernel_.values[i.operands[0]] == DType::i32) out = {INT32_MIN, INT32_MAX};
    return;
  }
  if (i.operands.size() != 2 || kernel_.values[i.operands[0]] != DType::i64) return;
  const IndexRange a = ranges_[i.operands[0]], b = ranges_[i.operands[1]];
  Wide low = INT64_MIN, high = INT64_MAX;
  switch (i.primitive) {
    case id_of<Add>:
      low = Wide{a.low} + b.low;
      high = Wide{a.high} + b.high;
      break;
    case id_of<Sub>:
      low = Wide{a.low} - b.high;
      high = Wide{a.high} - b.low;
      break;
    case id_of<Mul>: {
      const Wide p[4] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high};
      low = *std::min_element(p, p + 4);
      high = *std::max_element(p, p + 4);
      break;
    }
    case id_of<Div>:
      if (b.low != b.high || b.low <= 0) return;
      low = a.low / b.low;
      high = a.high / b.low;
      break;
    case id_of<Rem>:
      if (b.low != b.high || b.low <= 0) return;
      low = a.low < 0 ? 1 - b.low : 0;
      high = a.high > 0 ? std::min(a.high, b.low - 1) : 0;
      break;
    case id_of<Max>:
      low = std::max(a.low, b.low);
      high = std::max(a.high, b.high);
      break;
    case id_of<Min>:
      low = std::min(a.low, b.low);
      high = std::min(a.high, b.high);
      break;
    default:
      return;
  }
  if (low < INT64_MIN || high > INT64_MAX) return;
  out = {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

// Random bits of 64 bits are two words in registers, which become one number only where that is wanted.
bool KernelAnalysis::is_word_of_random_bits(const Instruction& i) const {
  const auto defined_by = [&](Id id, uint16_t primitive) {
    const Instruction* d = defined_[id];
    return d != nullptr && d->op == Op::scalar && d->primitive == primitive ? d : nullptr;
  };
  if (i.primitive != id_of<Convert> || size_of(kernel_.values[i.results[0]]) > 4) return false;
  const Instruction* shift = defined_by(i.operands[0], id_of<ShrLogical>);
  return defined_by(shift != nullptr ? shift->operands[0] : i.operands[0], id_of<RandomBits64>) != nullptr;
}

// Backward walk: a 64-bit integer is data if it is stored, carried, or an operand of one that is.
void KernelAnalysis::mark_data(const Region& region) {
  for (auto it = region.instructions.rbegin(); it != region.instructions.rend(); ++it) {
    const Instruction& i = *it;
    switch (i.op) {
      case Op::store:
        data_[i.operands[1]] = true;
        break;
      case Op::scalar:
        if (data_[i.results[0]] && !is_word_of_random_bits(i))
          for (const Id o : i.operands) data_[o] = true;
        break;
      case Op::yield:
      case Op::loop:
      case Op::while_:
        for (size_t c = 0; c < i.operands.size(); ++c) data_[i.operands[c]] = true;
        break;
      default:
        break;
    }
    for (auto r = i.regions.rbegin(); r != i.regions.rend(); ++r) mark_data(*r);
  }
}

LoopFacts KernelAnalysis::measure(const Region& region) {
  LoopFacts facts;
  for (const Instruction& i : region.instructions) {
    const math::FunctionCost cost = cost_of(kernel_, i);
    facts.cost += instructions_of(cost);
    if (cost.loops || i.op == Op::loop || i.op == Op::contraction || i.op == Op::while_) facts.nested = true;
    const auto widen = [&](DType d, bool arithmetic) {
      int bytes = static_cast<int>(size_of(d));
      if (bytes == 2 && is_floating(d) && arithmetic) bytes = 4;
      facts.element_bytes = std::max(facts.element_bytes, bytes);
    };
    if (i.op == Op::store) {
      widen(kernel_.buffers[i.buffer].dtype, false);
    } else if (i.op == Op::scalar || i.op == Op::load) {
      const Id r = i.results[0];
      const DType d = kernel_.values[r];
      const bool converts = i.op == Op::scalar && i.primitive == id_of<Convert>;
      const bool moves = i.op == Op::load || converts || i.primitive == id_of<Select> || i.primitive == id_of<Bitcast>;
      if (varying_[r] && (!is_wide_integer(d) || data_[r])) widen(d, !moves);
      const bool words = i.op == Op::scalar && i.primitive == id_of<RandomBits64> && !data_[r];
      if (varying_[r]) facts.element_bytes = std::max(facts.element_bytes, words ? 4 : cost.bytes);
      // A comparison has the width of its operands.
      if (i.op == Op::scalar && is_bool(d))
        for (const Id o : i.operands)
          if (varying_[o] && !is_wide_integer(kernel_.values[o])) widen(kernel_.values[o], true);
      if (converts && is_floating(d) && size_of(d) == 2) widen(DType::f32, true);
    }
    for (const Region& r : i.regions) {
      const LoopFacts inner = measure(r);
      facts.cost += inner.cost;
      facts.nested |= inner.nested;
      facts.element_bytes = std::max(facts.element_bytes, inner.element_bytes);
      facts.idempotent &= inner.idempotent;
    }
    if (i.op == Op::store && loaded_[i.buffer] && !kernel_.buffers[i.buffer].local) facts.idempotent = false;
  }
  return facts;
}

void KernelAnalysis::choose_inlined(const Region& region, double times) {
  std::vector<const Instruction*> functions;
  size_t others = 0;
  for (const Instruction& i : region.instructions) {
    const math::FunctionCost cost = cost_of(kernel_, i);
    const bool function = i.op == Op::scalar && !i.operands.empty() &&
                          rules(i.primitive).kind(kernel_.values[i.operands[0]]) == LowerKind::function;
    if (function && cost.operations < kShortFunction && !cost.loops) functions.push_back(&i);
    if (!function) ++others;
    double inside = times;
    if (i.op == Op::loop) inside *= static_cast<double>(i.extent) / (i.vectorize ? kLanes : 1);
    if (i.op == Op::contraction) inside *= static_cast<double>(i.rows) * static_cast<double>(i.columns) / kLanes;
    for (const Region& r : i.regions) choose_inlined(r, inside);
  }
  if (times >= kLongLoop && functions.size() <= kMostInBody && others < kLongBody)
    inlined_.insert(functions.begin(), functions.end());
}

void KernelAnalysis::record(const Region& region) {
  kernel::walk(region, [&](const Instruction& i) {
    if (i.op != Op::loop) return;
    if (!i.vectorize && i.loop != LoopKind::reduction && i.mapping != ParallelMapping::threads) return;
    LoopFacts facts = measure(i.regions[0]);
    for (const Id r : i.results)
      facts.element_bytes = std::max<int>(facts.element_bytes, static_cast<int>(size_of(kernel_.values[r])));
    facts_.emplace(&i, facts);
  });
}

}  // namespace calque::kernel
