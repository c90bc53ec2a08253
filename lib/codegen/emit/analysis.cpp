// Which values vary is a fixpoint over loop carries; all other facts take one walk. Definitions precede uses, so one
// forward walk suffices for straight-line code.
#include "codegen/emit/analysis.h"

#include <algorithm>
#include <limits>

#include "kernel/ir/cost.h"
#include "kernel/ir/walk.h"
#include "primitives/registry.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Kernel;
using kernel::LoopKind;
using kernel::Op;
using kernel::Region;

namespace {

__extension__ typedef __int128 Wide;

// A body of at most this many instructions needs few registers.
constexpr int64_t kFewInstructions = 8;
constexpr int64_t kWideRow = 256, kLongColumn = 32, kColumnBody = 60;

// Inlining a function is worth its compile time in loops of at least kLongLoop vectors. The number of inlined functions
// is limited so that the register allocator's time stays linear.
constexpr double kLongLoop = 32, kLanes = 8;
constexpr size_t kMostInlined = 16, kMostInBody = 8;
constexpr int kShortFunction = 150;

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
  kernel::walk(region, [&](const Instruction& i) { n += instructions_of(kernel::cost_of(kernel, i)); });
  return n;
}

Analysis::Analysis(const Kernel& kernel)
    : kernel_(kernel),
      varying_(kernel.values.size()),
      data_(kernel.values.size()),
      used_(kernel.values.size()),
      loaded_(kernel.buffers.size()),
      stored_(kernel.buffers.size()),
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

void Analysis::mark_used(const Region& region) {
  kernel::walk(region, [&](const Instruction& i) {
    for (const Id o : i.operands) used_[o] = true;
  });
}

bool Analysis::set(Id id, bool varying) {
  if (!varying || varying_[id]) return false;
  varying_[id] = true;
  return true;
}

// True if a carry became varying after the body that uses it was visited.
bool Analysis::walk(const Region& region, bool vector) {
  bool again = false;
  for (const Instruction& i : region.instructions) again |= visit(i, vector);
  return again;
}

bool Analysis::visit(const Instruction& i, bool vector) {
  bool any = false;
  for (const Id o : i.operands) any = any || varying_[o];
  bool again = false;
  switch (i.op) {
    case Op::constant:
    case Op::scalar:
    case Op::load:
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
          if (i.combiners[c] == kernel::Combiner::argmax || i.combiners[c] == kernel::Combiner::argmin) {
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

double Analysis::lower_bound(Id id, int depth) const {
  constexpr int kFar = 12;
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Instruction* i = defined_[id];
  const DType d = kernel_.values[id];
  if (!i || depth == kFar || (d != DType::f32 && d != DType::f64)) return kNothing;
  if (i->op == Op::constant)
    return d == DType::f32 ? static_cast<double>(i->literal.as<float>()) : i->literal.as<double>();
  const auto of = [&](size_t operand) { return lower_bound(i->operands[operand], depth + 1); };
  switch (scalar_op(i->primitive)) {
    case ScalarOp::abs:
    case ScalarOp::sqrt:
    case ScalarOp::rsqrt:
      return 0;
    case ScalarOp::mul:
      return i->operands[0] == i->operands[1] || (of(0) >= 0 && of(1) >= 0) ? 0 : kNothing;
    case ScalarOp::add: {
      // Rounding is monotonic: a sum is not less than an addend whose other addend is nonnegative.
      const double a = of(0), b = of(1);
      return a >= 0 && b >= 0 ? std::max(a, b) : kNothing;
    }
    case ScalarOp::fma: {
      const double c = of(2);
      const bool product = i->operands[0] == i->operands[1] || (of(0) >= 0 && of(1) >= 0);
      return product && c >= 0 ? c : kNothing;
    }
    case ScalarOp::max:
      return std::max(of(0), of(1));
    case ScalarOp::min:
      return std::min(of(0), of(1));
    case ScalarOp::select:
      return std::min(of(1), of(2));
    default:
      return kNothing;
  }
}

void Analysis::compute_range(const Instruction& i) {
  if (i.results.empty() || kernel_.values[i.results[0]] != DType::i64) return;
  Range& out = ranges_[i.results[0]];
  if (i.op == Op::constant) {
    const auto v = i.literal.as<int64_t>();
    out = {v, v};
    return;
  }
  if (i.op != Op::scalar || i.operands.empty()) return;
  const ScalarOp op = scalar_op(i.primitive);
  if (op == ScalarOp::convert) {
    if (kernel_.values[i.operands[0]] == DType::i32) out = {INT32_MIN, INT32_MAX};
    return;
  }
  if (i.operands.size() != 2 || kernel_.values[i.operands[0]] != DType::i64) return;
  const Range a = ranges_[i.operands[0]], b = ranges_[i.operands[1]];
  Wide low = INT64_MIN, high = INT64_MAX;
  switch (op) {
    case ScalarOp::add:
      low = Wide{a.low} + b.low;
      high = Wide{a.high} + b.high;
      break;
    case ScalarOp::sub:
      low = Wide{a.low} - b.high;
      high = Wide{a.high} - b.low;
      break;
    case ScalarOp::mul: {
      const Wide p[4] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high};
      low = *std::min_element(p, p + 4);
      high = *std::max_element(p, p + 4);
      break;
    }
    case ScalarOp::div:
      if (b.low != b.high || b.low <= 0) return;
      low = a.low / b.low;
      high = a.high / b.low;
      break;
    case ScalarOp::rem:
      if (b.low != b.high || b.low <= 0) return;
      low = a.low < 0 ? 1 - b.low : 0;
      high = a.high > 0 ? std::min(a.high, b.low - 1) : 0;
      break;
    case ScalarOp::max:
      low = std::max(a.low, b.low);
      high = std::max(a.high, b.high);
      break;
    case ScalarOp::min:
      low = std::min(a.low, b.low);
      high = std::min(a.high, b.high);
      break;
    default:
      return;
  }
  if (low < INT64_MIN || high > INT64_MAX) return;
  out = {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

// Backward walk: a 64-bit integer is data if it is stored, carried, or an operand of one that is.
void Analysis::mark_data(const Region& region) {
  for (auto it = region.instructions.rbegin(); it != region.instructions.rend(); ++it) {
    const Instruction& i = *it;
    switch (i.op) {
      case Op::store:
        data_[i.operands[1]] = true;
        break;
      case Op::scalar:
        if (data_[i.results[0]])
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

LoopFacts Analysis::measure(const Region& region) {
  LoopFacts facts;
  for (const Instruction& i : region.instructions) {
    const math::FunctionCost cost = kernel::cost_of(kernel_, i);
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
      const ScalarOp op = i.op == Op::scalar ? scalar_op(i.primitive) : ScalarOp::select;
      if (varying_[r] && (!is_wide_integer(d) || data_[r]))
        widen(d, op != ScalarOp::select && op != ScalarOp::bitcast && op != ScalarOp::convert);
      if (varying_[r]) facts.element_bytes = std::max(facts.element_bytes, cost.bytes);
      // A comparison has the width of its operands.
      if (i.op == Op::scalar && is_bool(d))
        for (const Id o : i.operands)
          if (varying_[o] && !is_wide_integer(kernel_.values[o])) widen(kernel_.values[o], true);
      if (op == ScalarOp::convert && is_floating(d) && size_of(d) == 2) widen(DType::f32, true);
    }
    for (const Region& r : i.regions) {
      const LoopFacts inner = measure(r);
      facts.cost += inner.cost;
      facts.nested |= inner.nested;
      facts.element_bytes = std::max(facts.element_bytes, inner.element_bytes);
      facts.idempotent &= inner.idempotent;
    }
    if (i.op == Op::store && loaded_[i.buffer]) facts.idempotent = false;
  }
  return facts;
}

// Columns that are reduced or scanned side by side: accesses to short rows would cost more than the work on them.
int Analysis::vectors(const Instruction& loop) const {
  if (!loop.vectorize || loop.loop != LoopKind::parallel) return 1;
  int vectors = 1;
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.op != Op::loop) {
      if (!i.regions.empty()) return 1;
      continue;
    }
    // Four accumulators of four vectors, and as many operands, fill the registers.
    if (i.loop == LoopKind::parallel || i.results.size() != 1 ||
        instruction_count(kernel_, i.regions[0]) > kFewInstructions)
      return 1;
    vectors = 4;
  }
  return vectors;
}

std::vector<const Instruction*> Analysis::column_reductions(const Instruction& loop) const {
  std::vector<const Instruction*> reductions;
  if (!loop.vectorize || loop.loop != LoopKind::parallel || loop.extent < kWideRow) return {};
  std::vector<bool> later(kernel_.values.size());
  for (const Instruction& i : loop.regions[0].instructions) {
    if (i.op == Op::loop) {
      if (!is_column_reduction(i) || (!reductions.empty() && i.extent != reductions[0]->extent)) return {};
      for (const Instruction& inner : i.regions[0].instructions)
        for (const Id o : inner.operands)
          if (later[o]) return {};
      reductions.push_back(&i);
    } else if (!i.regions.empty() && reductions.empty()) {
      return {};
    }
    if (!reductions.empty())
      for (const Id r : i.results) later[r] = true;
  }
  return reductions;
}

bool Analysis::is_column_reduction(const Instruction& i) const {
  if (i.loop != LoopKind::reduction || i.threads || i.extent < kLongColumn) return false;
  if (i.results.size() > 4 || instruction_count(kernel_, i.regions[0]) > kColumnBody) return false;
  bool reads = false;
  for (const Instruction& inner : i.regions[0].instructions) {
    if (!inner.regions.empty()) return false;
    reads |= inner.op == Op::load && varying_[inner.results[0]];
  }
  return reads;
}

void Analysis::choose_inlined(const Region& region, double times) {
  std::vector<const Instruction*> functions;
  for (const Instruction& i : region.instructions) {
    const math::FunctionCost cost = kernel::cost_of(kernel_, i);
    const bool function =
        i.op == Op::scalar && !i.operands.empty() &&
        primitives::rules(i.primitive).kind(kernel_.values[i.operands[0]]) == primitives::LowerKind::function;
    if (function && cost.operations < kShortFunction && !cost.loops) functions.push_back(&i);
    double inside = times;
    if (i.op == Op::loop) inside *= static_cast<double>(i.extent) / (i.vectorize ? kLanes : 1);
    if (i.op == Op::contraction) inside *= static_cast<double>(i.rows) * static_cast<double>(i.columns) / kLanes;
    for (const Region& r : i.regions) choose_inlined(r, inside);
  }
  if (times >= kLongLoop && functions.size() <= kMostInBody) inlined_.insert(functions.begin(), functions.end());
}

void Analysis::record(const Region& region) {
  kernel::walk(region, [&](const Instruction& i) {
    if (i.op != Op::loop || (!i.vectorize && i.loop != LoopKind::reduction)) return;
    LoopFacts facts = measure(i.regions[0]);
    for (const Id r : i.results)
      facts.element_bytes = std::max<int>(facts.element_bytes, static_cast<int>(size_of(kernel_.values[r])));
    facts.vectors = vectors(i);
    facts_.emplace(&i, facts);
  });
}

}  // namespace calque::codegen
