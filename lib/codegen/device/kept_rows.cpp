// A row that one thread group computes in several loops, as softmax does (the largest element, the exponentials and
// their sum, the quotients), goes through memory from loop to loop: one loop stores e[i], the next loads it. If the
// group's threads take the same elements in both loops, each thread finds its own again. Where both loops are unrolled,
// the elements become local variables, one for each iteration of the thread, which LLVM turns into registers. No
// thread waits for stores of other threads, and a store that a later loop repeats is left out.
#include "codegen/device/kept_rows.h"

#include "codegen/device/thread_group.h"
#include "codegen/emit/emitter.h"
#include "kernel/ir/tiles.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using llvm::Value;

namespace {

constexpr int64_t kMostIterations = 8;
/// Emitted for one thread, of all its iterations.
constexpr int64_t kMostInstructions = 2560;
constexpr int kDeepest = 16;

bool is_row_loop(const Instruction& i) {
  return i.op == Op::loop && i.mapping == kernel::ParallelMapping::threads &&
         (i.loop == kernel::LoopKind::parallel || i.loop == kernel::LoopKind::reduction);
}

}  // namespace

bool is_unrolled(const KernelEmitter& kernel, const ThreadGroup& group, const Instruction& loop) {
  const kernel::LoopFacts& facts = kernel.analysis().facts(loop);
  const int64_t lanes = std::max<int64_t>(vector_lanes(loop), 1);
  const int64_t iterations = kernel::ceil_div(loop.extent, lanes * group.size());
  return !facts.nested && iterations <= kMostIterations && iterations * lanes * facts.cost <= kMostInstructions;
}

KeptRows::KeptRows(KernelEmitter& kernel, const ThreadGroup& group, const Definitions& defined)
    : k_(kernel), group_(group), defined_(defined) {
  const size_t buffers = kernel.kernel().buffers.size();
  accesses_.resize(buffers);
  kept_.resize(buffers);
  if (group.is_single_thread()) return;
  find(kernel.kernel().body);
  for (size_t b = 0; b < buffers; ++b) choose(static_cast<int32_t>(b));
}

// Loops over rows are found in the order in which they run. Those in branches or in loops that repeat them count as
// other accesses.
void KeptRows::find(const kernel::Region& region) {
  for (const Instruction& i : region.instructions) {
    if (i.op == Op::loop && i.mapping == kernel::ParallelMapping::groups)
      find(i.regions[0]);
    else if (is_row_loop(i) && is_unrolled(k_, group_, i))
      add_row_loop(i);
    else
      add_elsewhere(i);
  }
}

void KeptRows::add_row_loop(const Instruction& loop) {
  ++loops_;
  for (const Instruction& i : loop.regions[0].instructions) {
    const bool is_plain = i.operands.size() == (i.op == Op::load ? 1 : 2) && i.combiners.empty();
    if ((i.op != Op::load && i.op != Op::store) || !is_plain) {
      add_elsewhere(i);
      continue;
    }
    Accesses& all = accesses_[static_cast<size_t>(i.buffer)];
    (i.op == Op::load ? all.loads : all.stores).push_back({loops_, &loop, &i});
  }
}

void KeptRows::add_elsewhere(const Instruction& i) {
  if (i.op == Op::load || i.op == Op::store) accesses_[static_cast<size_t>(i.buffer)].elsewhere = true;
  for (const kernel::Region& inner : i.regions)
    for (const Instruction& n : inner.instructions) add_elsewhere(n);
}

void KeptRows::choose(int32_t buffer) {
  const auto& [loads, stores, elsewhere] = accesses_[static_cast<size_t>(buffer)];
  if (elsewhere || loads.empty() || stores.empty() || stores.size() > 2 || k_.buffers().overlaps(buffer)) return;
  // All loads come after the first store, and no later than in the loop of the second one.
  const Access &first = stores.front(), &last = stores.back();
  if (stores.size() == 2 && (last.number == first.number || !same_elements(first, last))) return;
  for (const Access& load : loads) {
    if (load.number <= first.number || !same_elements(first, load)) return;
    if (stores.size() == 2 && load.number > last.number) return;
  }
  kept_[static_cast<size_t>(buffer)] = true;
  first_stores_.insert(first.access);
  if (stores.size() == 2) dead_.insert(first.access);
}

bool KeptRows::same_elements(const Access& a, const Access& b) const {
  return a.loop->extent == b.loop->extent && vector_lanes(*a.loop) == vector_lanes(*b.loop) &&
         same_value(a.access->operands[0], b.access->operands[0], *a.loop, *b.loop, 0);
}

bool KeptRows::same_value(Id a, Id b, const Instruction& loop_a, const Instruction& loop_b, int depth) const {
  if (a == b) return true;
  if (a == loop_a.regions[0].parameters[0]) return b == loop_b.regions[0].parameters[0];
  const auto at = defined_.find(a), bt = defined_.find(b);
  if (depth == kDeepest || at == defined_.end() || bt == defined_.end() || k_.dtype(a) != k_.dtype(b)) return false;
  const Instruction &x = *at->second, &y = *bt->second;
  if (x.op != y.op || x.operands.size() != y.operands.size()) return false;
  if (x.op == Op::constant) return k_.dtype(a) == DType::i64 && x.literal.as<int64_t>() == y.literal.as<int64_t>();
  if (x.op != Op::scalar || x.primitive != y.primitive || x.results.size() != 1 || y.results.size() != 1) return false;
  for (size_t o = 0; o < x.operands.size(); ++o)
    if (!same_value(x.operands[o], y.operands[o], loop_a, loop_b, depth + 1)) return false;
  return true;
}

void KeptRows::keep(int32_t buffer, Value* value) {
  auto& slots = slots_[buffer];
  if (slots.size() <= iteration_) slots.resize(iteration_ + 1);
  if (!slots[iteration_]) slots[iteration_] = k_.local(value->getType());
  k_.builder().CreateStore(value, slots[iteration_]);
}

Value* KeptRows::kept(int32_t buffer) {
  llvm::AllocaInst* const slot = slots_.at(buffer).at(iteration_);
  return k_.builder().CreateLoad(slot->getAllocatedType(), slot);
}

}  // namespace calque::codegen
