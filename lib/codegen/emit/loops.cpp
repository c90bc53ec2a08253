// Control flow. Loops are rotated. A vectorised loop has a main loop of unrolled full vectors, unless its unroll factor
// is zero, and one more copy of the body for the tail. The last vector of an overlapping tail starts at extent - lanes;
// otherwise lanes past the end are masked off. Lanes leave a while loop independently: the loop runs until no lane is
// active, and inactive lanes keep their carries.
#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::LoopKind;
using kernel::Op;
using llvm::Value;

Values KernelEmitter::phis(const Values& values, llvm::BasicBlock* from) {
  Values out;
  for (Value* v : values) {
    llvm::PHINode* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, from);
    out.push_back(phi);
  }
  return out;
}

void KernelEmitter::add_incoming(const Values& phis, const Values& values, llvm::BasicBlock* from) {
  for (size_t i = 0; i < phis.size(); ++i) llvm::cast<llvm::PHINode>(phis[i])->addIncoming(values[i], from);
}

Values KernelEmitter::counted(Value* begin, Value* end, int64_t step, const Values& initial,
                              const std::function<Values(Value*, const Values&)>& body) {
  auto *first = llvm::dyn_cast<llvm::ConstantInt>(begin), *last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last && last->getSExtValue() - first->getSExtValue() <= step) return body(begin, initial);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* head = block("loop");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  const Values carries = phis(initial, before);
  const Values next = body(index, carries);
  Value* following = b_.CreateAdd(index, b_.getInt64(step), "", true, true);
  llvm::BasicBlock* exit = block("done");
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(following, end), head, exit);
  index->addIncoming(following, latch);
  add_incoming(carries, next, latch);
  b_.SetInsertPoint(exit);
  return next;
}

void KernelEmitter::loop(const Instruction& i) {
  if (i.extent == 0) {
    for (size_t r = 0; r < i.results.size(); ++r) env_[i.results[r]] = get(i.operands[r]);
    return;
  }
  switch (i.loop) {
    case LoopKind::parallel:
      parallel(i);
      break;
    case LoopKind::sequential:
      sequential(i);
      break;
    case LoopKind::reduction:
      reduction(i);
      break;
  }
}

void KernelEmitter::parallel(const Instruction& i) {
  if (const auto range = subranges_.find(&i); range != subranges_.end())
    return iterate(i, range->second.first, range->second.second);
  if (i.threads) return split_across_threads(i);
  iterate(i, b_.getInt64(0), b_.getInt64(i.extent));
}

// Distributes a loop nest over threads. Loops without a grain are split together with the loop inside them: the chunks
// of the innermost one vary fastest. Its last chunk includes the remainder, so that no chunk is too short for vectors.
void KernelEmitter::split_across_threads(const Instruction& i) {
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
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const auto first = [&](Value* chunk) { return b_.CreateMul(chunk, number(last.grain), "", true, true); };
  const auto limit = [&](Value* chunk) {
    return b_.CreateSelect(b_.CreateICmpEQ(chunk, number(chunks)), number(last.extent), first(chunk));
  };
  parallel_for(count, 1, [&](Value* begin, Value* end) {
    if (nest.size() == 1) {
      subranges_[&i] = {first(begin), limit(end)};
      return parallel(i);
    }
    counted(begin, end, 1, {}, [&](Value* index, const Values&) {
      Value* chunk = b_.CreateURem(index, number(chunks));
      Value* outer = b_.CreateUDiv(index, number(chunks));
      subranges_[&last] = {first(chunk), limit(b_.CreateAdd(chunk, number(1)))};
      for (size_t l = nest.size() - 1; l-- > 0;) {
        subranges_[nest[l]] = {l == 0 ? outer : b_.CreateURem(outer, number(nest[l]->extent)), nullptr};
        outer = b_.CreateUDiv(outer, number(nest[l]->extent));
      }
      parallel(i);
      return Values{};
    });
  });
  subranges_.clear();
}

void KernelEmitter::iterate(const Instruction& i, Value* begin, Value* end) {
  if (const unsigned lanes = end ? vector_lanes(i) : 0) {
    const VectorScope scope(vectors_, lanes);
    return vectorised(i, begin, end);
  }
  const Region& body = i.regions[0];
  const auto iteration = [&](Value* index, const Values&) {
    env_[body.parameters[0]] = uniform(index);
    run(body);
    return Values{};
  };
  if (end)
    counted(begin, end, 1, {}, iteration);
  else
    iteration(begin, {});
}

// Runs [begin, end): the whole loop, or a chunk of it that is no shorter than its unrolled vectors.
void KernelEmitter::vectorised(const Instruction& i, Value* begin, Value* end) {
  const Region& body = i.regions[0];
  if (i.column_tile != 0) return columns(i, begin, end);
  const auto iteration = [&](Value* base) {
    env_[body.parameters[0]] = {base, Reg::Form::linear, false, true, 1};
    run(body);
  };
  const auto number = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const int64_t lanes = vectors_.lanes(), rest = i.extent % lanes, unroll = i.unroll;
  const bool non_temporal = std::any_of(body.instructions.begin(), body.instructions.end(),
                                        [](const Instruction& inner) { return inner.non_temporal; });
  // Every chunk consists of whole vectors, which LLVM cannot infer from the bounds.
  const bool whole_vectors = rest == 0 && unroll == 1 && !non_temporal && i.grain % lanes == 0;
  Value* middle = begin;
  if (unroll != 0) {
    const auto whole = [&](Value* first) {
      Value* const steps = b_.CreateUDiv(b_.CreateSub(end, first), number(unroll * lanes));
      Value* const last = b_.CreateAdd(first, b_.CreateMul(steps, number(unroll * lanes)), "", true, true);
      counted(first, last, unroll * lanes, {}, [&](Value* index, const Values&) {
        for (int64_t u = 0; u < unroll; ++u)
          iteration(u == 0 ? index : b_.CreateAdd(index, number(u * lanes), "", true, true));
        return Values{};
      });
      return last;
    };
    middle = non_temporal ? non_temporal_.loop(begin, end, unroll * lanes, iteration, whole) : whole(begin);
  }
  const auto remainder = [&] {
    counted(middle, end, lanes, {}, [&](Value* index, const Values&) {
      if (rest == 0 && !non_temporal) {
        iteration(index);
      } else if (i.overlapping_tail) {
        iteration(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.CreateSub(end, number(lanes))));
      } else {
        const MaskScope active(vectors_, first_lanes(b_.CreateSub(end, index)));
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
    where_any(more, {}, remainder);
  else if (known->isOne())
    remainder();
}

void KernelEmitter::sequential(const Instruction& i) {
  if (const unsigned lanes = vector_lanes(i)) return scan(i, lanes);
  const Region& body = i.regions[0];
  Values initial;
  for (size_t c = 0; c < i.operands.size(); ++c)
    initial.push_back(to_carry(get(i.operands[c]), dtype(i.results[c]), is_vector(i.results[c])));
  const Values last =
      counted(b_.getInt64(0), b_.getInt64(i.extent), 1, initial, [&](Value* index, const Values& carries) {
        env_[body.parameters[0]] = uniform(index);
        for (size_t c = 0; c < carries.size(); ++c)
          env_[body.parameters[c + 1]] = from_carry(carries[c], dtype(i.results[c]));
        Values next;
        if (const Instruction* yield = run(body))
          for (size_t c = 0; c < carries.size(); ++c)
            next.push_back(to_carry(get(yield->operands[c]), dtype(i.results[c]), is_vector(i.results[c])));
        return next;
      });
  for (size_t c = 0; c < last.size(); ++c) env_[i.results[c]] = from_carry(last[c], dtype(i.results[c]));
}

void KernelEmitter::while_loop(const Instruction& i) {
  const Region &condition = i.regions[0], &body = i.regions[1];
  const size_t n = i.operands.size();
  const bool diverges = is_vector(condition.instructions.back().operands[0]);
  llvm::BasicBlock *head = block("while"), *inside = block("body"), *exit = block("left");
  Values initial;
  for (size_t c = 0; c < n; ++c)
    initial.push_back(to_carry(get(i.operands[c]), dtype(i.results[c]), is_vector(i.results[c])));
  if (diverges) initial.push_back(mask_or_all());
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.CreateBr(head);

  b_.SetInsertPoint(head);
  const Values carries = phis(initial, before);
  const MaskScope in_condition(vectors_, diverges ? carries.back() : vectors_.mask());
  for (size_t c = 0; c < n; ++c) env_[condition.parameters[c]] = from_carry(carries[c], dtype(i.results[c]));
  const Reg more = get(run(condition)->operands[0]);
  Value* active = nullptr;
  if (diverges) {
    // The carries and the condition of a finished lane are arbitrary.
    active = b_.CreateLogicalAnd(vectors_.mask(), as_vector(more));
    b_.CreateCondBr(any(active), inside, exit);
  } else {
    b_.CreateCondBr(more.v, inside, exit);
  }
  const MaskScope in_body(vectors_, diverges ? active : vectors_.mask());

  b_.SetInsertPoint(inside);
  for (size_t c = 0; c < n; ++c) env_[body.parameters[c]] = from_carry(carries[c], dtype(i.results[c]));
  const Instruction* yield = run(body);
  Values next;
  for (size_t c = 0; c < n; ++c) {
    Value* v = to_carry(get(yield->operands[c]), dtype(i.results[c]), is_vector(i.results[c]));
    // Finished lanes of a carry that is not used after the loop need not keep their value.
    const bool kept = diverges && analysis_.used(i.results[c]);
    next.push_back(kept ? b_.CreateSelect(active, v, carries[c]) : v);
  }
  if (diverges) next.push_back(active);
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateBr(head);
  add_incoming(carries, next, latch);

  b_.SetInsertPoint(exit);
  for (size_t c = 0; c < n; ++c) env_[i.results[c]] = from_carry(carries[c], dtype(i.results[c]));
}

}  // namespace calque::codegen
