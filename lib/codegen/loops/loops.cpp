// Loops are rotated. A vectorised loop has a main loop of unrolled full vectors, unless its unroll factor
// is zero, and one more copy of the body for the tail. The last vector of an overlapping tail starts at extent - lanes;
// otherwise lanes past the end are masked off.
#include "codegen/loops/loops.h"

#include <algorithm>

#include "codegen/emit/emitter.h"
#include "codegen/loops/columns.h"
#include "codegen/loops/reduction.h"
#include "codegen/loops/scan.h"
#include "kernel/ir/local_buffers.h"

namespace calque::codegen {

using kernel::Instruction;
using kernel::LoopKind;
using kernel::Op;
using kernel::Region;
using llvm::Value;

namespace {
/// Bytes of local buffers in one function.
constexpr int64_t kMostStack = int64_t{1} << 18;
}  // namespace

LoopEmitter::LoopEmitter(KernelEmitter& kernel) : k_(kernel), b_(kernel.builder()) {}

void LoopEmitter::emit(const Instruction& i) {
  switch (i.loop) {
    case LoopKind::parallel:
      return parallel(i);
    case LoopKind::sequential:
      return sequential(i);
    case LoopKind::reduction:
      return emit_reduction(k_, i);
  }
}

void LoopEmitter::parallel(const Instruction& i) {
  if (const auto range = subranges_.find(&i); range != subranges_.end())
    return iterate(i, range->second.first, range->second.second);
  if (i.threads) return split_across_threads(i);
  iterate(i, k_.integer(0), k_.integer(i.extent));
}

// Distributes a loop nest over threads. Loops without a grain are split together with the loop inside them: the chunks
// of the innermost one vary fastest. Its last chunk includes the remainder, so that no chunk is too short for vectors.
void LoopEmitter::split_across_threads(const Instruction& i) {
  std::vector<const Instruction*> nest{&i};
  while (nest.back()->grain == 0)
    for (const Instruction& inner : nest.back()->regions[0].instructions)
      if (inner.op == Op::loop) {
        nest.push_back(&inner);
        break;
      }
  const Instruction& last = *nest.back();
  const int64_t chunks = std::max<int64_t>(1, last.extent / last.grain);
  int64_t count = chunks;
  for (size_t l = 0; l + 1 < nest.size(); ++l) count *= nest[l]->extent;
  const auto first = [&](Value* chunk) { return k_.mul(chunk, last.grain); };
  const auto limit = [&](Value* chunk) {
    return b_.CreateSelect(b_.CreateICmpEQ(chunk, k_.integer(chunks)), k_.integer(last.extent), first(chunk));
  };
  k_.runtime().parallel_for(count, 1, [&](Value* begin, Value* end) {
    if (nest.size() == 1) {
      subranges_[&i] = {first(begin), limit(end)};
      return parallel(i);
    }
    k_.counted(begin, end, 1, {}, [&](Value* index, const Values&) {
      Value* chunk = b_.CreateURem(index, k_.integer(chunks));
      Value* outer = b_.CreateUDiv(index, k_.integer(chunks));
      subranges_[&last] = {first(chunk), limit(b_.CreateAdd(chunk, k_.integer(1)))};
      for (size_t l = nest.size() - 1; l-- > 0;) {
        subranges_[nest[l]] = {l == 0 ? outer : b_.CreateURem(outer, k_.integer(nest[l]->extent)), nullptr};
        outer = b_.CreateUDiv(outer, k_.integer(nest[l]->extent));
      }
      parallel(i);
      return Values{};
    });
  });
  subranges_.clear();
}

LoopEmitter::Locals LoopEmitter::memory_of_locals(const Instruction& i) {
  Locals memory;
  const uint64_t lanes = std::max(1U, k_.vectors().lanes());
  if (!i.locals.empty() && static_cast<int64_t>(lanes) * kernel::local_bytes(k_.kernel(), i) > kMostStack)
    k_.refuse("the local buffers of an iteration are too large for the stack");
  for (const int32_t b : i.locals) {
    const auto extent = static_cast<uint64_t>(k_.kernel().buffers[static_cast<size_t>(b)].extent);
    llvm::AllocaInst* const array = k_.local(llvm::ArrayType::get(k_.buffers().element(b), extent * lanes));
    array->setAlignment(llvm::Align(64));
    memory.push_back(array);
  }
  return memory;
}

void LoopEmitter::bind(const Instruction& i, const Locals& memory) {
  for (size_t l = 0; l < memory.size(); ++l) k_.buffers().bind_local(i.locals[l], memory[l], k_.vectors().mask());
}

void LoopEmitter::iterate(const Instruction& i, Value* begin, Value* end) {
  if (const unsigned lanes = end ? vector_lanes(i) : 0) {
    const VectorScope scope(k_.vectors(), lanes);
    return vectorised(i, begin, end);
  }
  const Region& body = i.regions[0];
  const Locals locals = memory_of_locals(i);
  const auto iteration = [&](Value* index, const Values&) {
    bind(i, locals);
    k_.set(body.parameters[0], k_.uniform(index));
    k_.run(body);
    return Values{};
  };
  if (end)
    k_.counted(begin, end, 1, {}, iteration);
  else
    iteration(begin, {});
}

// Runs [begin, end): the whole loop, or a chunk of it that is no shorter than its unrolled vectors.
void LoopEmitter::vectorised(const Instruction& i, Value* begin, Value* end) {
  const Region& body = i.regions[0];
  if (i.column_tile != 0) return ColumnsEmitter(k_, i).emit(begin, end);
  const Locals locals = memory_of_locals(i);
  const auto iteration = [&](Value* base) {
    bind(i, locals);
    k_.set(body.parameters[0], k_.linear(base));
    k_.run(body);
  };
  const int64_t lanes = k_.vectors().lanes(), rest = i.extent % lanes, unroll = i.unroll;
  const bool non_temporal = std::any_of(body.instructions.begin(), body.instructions.end(),
                                        [](const Instruction& inner) { return inner.non_temporal; });
  // Every chunk consists of whole vectors, which LLVM cannot infer from the bounds.
  const bool whole_vectors = rest == 0 && unroll == 1 && !non_temporal && i.grain % lanes == 0;
  Value* middle = begin;
  if (unroll != 0) {
    const auto whole = [&](Value* first) {
      Value* const steps = b_.CreateUDiv(b_.CreateSub(end, first), k_.integer(unroll * lanes));
      Value* const last = k_.add(first, b_.CreateMul(steps, k_.integer(unroll * lanes)));
      k_.counted(first, last, unroll * lanes, {}, [&](Value* index, const Values&) {
        for (int64_t u = 0; u < unroll; ++u) iteration(u == 0 ? index : k_.advance(index, u * lanes));
        return Values{};
      });
      return last;
    };
    middle = non_temporal ? k_.non_temporal().loop(begin, end, unroll * lanes, iteration, whole) : whole(begin);
  }
  const auto remainder = [&] {
    k_.counted(middle, end, lanes, {}, [&](Value* index, const Values&) {
      if (rest == 0 && !non_temporal) {
        iteration(index);
      } else if (i.overlapping_tail) {
        iteration(k_.smaller(index, b_.CreateSub(end, k_.integer(lanes))));
      } else {
        const MaskScope active(k_.vectors(), k_.first_lanes(b_.CreateSub(end, index)));
        iteration(index);
      }
      return Values{};
    });
    return Values{};
  };
  if (whole_vectors) return;
  Value* const more = b_.CreateICmpSLT(middle, end);
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(more);
  if (!known)
    k_.where_any(more, {}, remainder);
  else if (known->isOne())
    remainder();
}

void LoopEmitter::sequential(const Instruction& i) {
  if (vector_lanes(i) != 0) return ScanEmitter(k_, i).emit();
  const Region& body = i.regions[0];
  Values initial;
  for (size_t c = 0; c < i.operands.size(); ++c) initial.push_back(k_.carry(i.operands[c], i.results[c]));
  const Values last =
      k_.counted(k_.integer(0), k_.integer(i.extent), 1, initial, [&](Value* index, const Values& carries) {
        k_.set(body.parameters[0], k_.uniform(index));
        for (size_t c = 0; c < carries.size(); ++c) k_.set_carry(body.parameters[c + 1], carries[c]);
        Values next;
        if (const Instruction* yield = k_.run(body))
          for (size_t c = 0; c < carries.size(); ++c) next.push_back(k_.carry(yield->operands[c], i.results[c]));
        return next;
      });
  for (size_t c = 0; c < last.size(); ++c) k_.set_carry(i.results[c], last[c]);
}

}  // namespace calque::codegen
