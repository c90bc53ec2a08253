// Control flow. Loops test at the bottom. A vectorised loop has a main part of unrolled full vectors and one more copy
// of the body for the rest: where iterations may be repeated its last vector starts at extent - lanes, so that no mask
// is needed; otherwise lanes past the end are masked off. Lanes leave a while loop one by one: the loop runs until none
// is active, and those that have left keep their carries.
#include <algorithm>
#include <bit>

#include "codegen/emitter.h"

namespace calque::codegen {

using kernel::LoopKind;
using kernel::Op;
using llvm::Value;

namespace {

// Bodies up to this many instructions are repeated inside the loop, to amortise its overhead.
constexpr int64_t kUnrollByFour = 10, kUnrollByTwo = 20;
// Bodies beyond this are emitted once.
constexpr int64_t kLargeBody = 400;
// Up to this many instructions a branch runs both its sides.
constexpr int64_t kFlatten = 24;

bool straight(const kernel::Region& region, bool memory) {
  for (const kernel::Instruction& i : region.instructions)
    if (i.op != Op::constant && i.op != Op::scalar && i.op != Op::yield &&
        !(memory && (i.op == Op::load || i.op == Op::store)))
      return false;
  return true;
}

}  // namespace

llvm::BasicBlock* KernelEmitter::block(const char* name) {
  return llvm::BasicBlock::Create(module_.getContext(), name, function_);
}

llvm::AllocaInst* KernelEmitter::local(llvm::Type* type) {
  llvm::BasicBlock& start = function_->getEntryBlock();
  llvm::IRBuilder<> at(&start, start.begin());
  return at.CreateAlloca(type);
}

// Without mask registers a vector of i1 that lives across blocks would be packed and unpacked: it travels as wide as
// the vectors beside it.
Value* KernelEmitter::to_phi(Value* v) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  if (!type || !type->getElementType()->isIntegerTy(1) || target_.avx512) return v;
  const unsigned bits = std::clamp(static_cast<unsigned>(target_.vector_bits) / type->getNumElements(), 8u, 64u);
  return b_.CreateSExt(v, llvm::FixedVectorType::get(b_.getIntNTy(bits), type->getNumElements()));
}

Value* KernelEmitter::from_phi(Value* v, llvm::Type* type) {
  return v->getType() == type ? v : b_.CreateICmpSLT(v, llvm::Constant::getNullValue(v->getType()));
}

Value* KernelEmitter::first_lanes(Value* count) {
  const unsigned bits = std::clamp(static_cast<unsigned>(target_.vector_bits) / lanes_, 8u, 64u);
  auto* type = b_.getIntNTy(bits);
  Value* clamped = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, b_.getInt64(lanes_));
  return b_.CreateICmpULT(iota(type, 1), splat(b_.CreateTrunc(clamped, type)));
}

Values KernelEmitter::counted(Value* begin, Value* end, int64_t step, const Values& initial,
                              const std::function<Values(Value*, const Values&)>& body) {
  auto *first = llvm::dyn_cast<llvm::ConstantInt>(begin), *last = llvm::dyn_cast<llvm::ConstantInt>(end);
  if (first && last && last->getSExtValue() - first->getSExtValue() <= step) return body(begin, initial);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  Values entering;
  for (Value* v : initial) entering.push_back(to_phi(v));
  llvm::BasicBlock* head = block("loop");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  llvm::SmallVector<llvm::PHINode*, 8> phis;
  for (Value* v : entering) {
    phis.push_back(b_.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
  }
  Values carries;
  for (size_t c = 0; c < phis.size(); ++c) carries.push_back(from_phi(phis[c], initial[c]->getType()));
  const Values next = body(index, carries);
  Values leaving;
  for (Value* v : next) leaving.push_back(to_phi(v));
  Value* following = b_.CreateAdd(index, b_.getInt64(step), "", true, true);
  llvm::BasicBlock* exit = block("done");
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateCondBr(b_.CreateICmpSLT(following, end), head, exit);
  index->addIncoming(following, latch);
  for (size_t c = 0; c < phis.size(); ++c) phis[c]->addIncoming(leaving[c], latch);
  b_.SetInsertPoint(exit);
  return next;
}

// 0 where the loop gains nothing from vectors. Short loops take fewer lanes: with lane masks the next power of two
// holds them all, without them the last one that they fill.
unsigned KernelEmitter::choose_lanes(const Instruction& i) const {
  if (!i.vectorize || lanes_ != 0) return 0;
  const int64_t widest = target_.vector_bits / 8 / analysis_.facts(i).element_bytes;
  const auto extent = static_cast<uint64_t>(i.extent);
  const uint64_t fitting = target_.avx512 ? std::bit_ceil(extent) : std::bit_floor(extent);
  const uint64_t lanes = std::min<uint64_t>(static_cast<uint64_t>(widest), fitting);
  return lanes > 1 ? static_cast<unsigned>(lanes) : 0;
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
  if (const unsigned lanes = choose_lanes(i)) {
    lanes_ = lanes;
    vectorised(i);
    lanes_ = 0;
    return;
  }
  const Region& body = i.regions[0];
  counted(b_.getInt64(0), b_.getInt64(i.extent), 1, {}, [&](Value* index, const Values&) {
    env_[body.parameters[0]] = uniform(index);
    run(body);
    return Values{};
  });
}

void KernelEmitter::vectorised(const Instruction& i) {
  const Region& body = i.regions[0];
  const LoopFacts& facts = analysis_.facts(i);
  const auto iteration = [&](Value* base) {
    env_[body.parameters[0]] = {base, Reg::Form::linear, false, true, 1};
    run(body);
  };
  const int64_t lanes = lanes_, full = i.extent / lanes, rest = i.extent % lanes;
  bool overlapping = false;
  for (size_t buffer = 0; buffer < overlaps_.size(); ++buffer) overlapping |= overlaps_[buffer];
  const bool repeatable = facts.idempotent && !overlapping && full > 0;
  int64_t unroll = facts.nested || facts.cost > kUnrollByTwo ? 1 : facts.cost > kUnrollByFour ? 2 : 4;
  unroll = std::max<int64_t>(1, std::min(unroll, full));
  int64_t main = full / unroll * unroll;
  if (rest != 0 && facts.cost > kLargeBody && (repeatable || target_.avx512)) main = 0;
  if (main > 0) {
    counted(b_.getInt64(0), b_.getInt64(main * lanes), unroll * lanes, {}, [&](Value* index, const Values&) {
      for (int64_t u = 0; u < unroll; ++u)
        iteration(u == 0 ? index : b_.CreateAdd(index, b_.getInt64(u * lanes), "", true, true));
      return Values{};
    });
  }
  if (main * lanes == i.extent) return;
  counted(b_.getInt64(main * lanes), b_.getInt64(i.extent), lanes, {}, [&](Value* index, const Values&) {
    if (rest == 0) {
      iteration(index);
    } else if (repeatable) {
      iteration(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.getInt64(i.extent - lanes)));
    } else {
      mask_ = first_lanes(b_.CreateSub(b_.getInt64(i.extent), index));
      iteration(index);
      mask_ = nullptr;
    }
    return Values{};
  });
}

void KernelEmitter::sequential(const Instruction& i) {
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
  Value* const outer_mask = mask_;
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("while"), *inside = block("body"),
                   *exit = block("left");
  Values initial;
  for (size_t c = 0; c < n; ++c)
    initial.push_back(to_carry(get(i.operands[c]), dtype(i.results[c]), is_vector(i.results[c])));
  if (diverges) initial.push_back(mask_or_all());
  Values entering;
  for (Value* v : initial) entering.push_back(to_phi(v));
  before = b_.GetInsertBlock();
  b_.CreateBr(head);

  b_.SetInsertPoint(head);
  llvm::SmallVector<llvm::PHINode*, 8> phis;
  for (Value* v : entering) {
    phis.push_back(b_.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
  }
  Values carries;
  for (size_t c = 0; c < phis.size(); ++c) carries.push_back(from_phi(phis[c], initial[c]->getType()));
  if (diverges) mask_ = carries.back();
  for (size_t c = 0; c < n; ++c) env_[condition.parameters[c]] = from_carry(carries[c], dtype(i.results[c]));
  const Reg more = get(run(condition)->operands[0]);
  Value* active = nullptr;
  if (diverges) {
    active = b_.CreateAnd(mask_, as_vector(more));
    b_.CreateCondBr(any(active), inside, exit);
    mask_ = active;
  } else {
    b_.CreateCondBr(more.v, inside, exit);
  }

  b_.SetInsertPoint(inside);
  for (size_t c = 0; c < n; ++c) env_[body.parameters[c]] = from_carry(carries[c], dtype(i.results[c]));
  const Instruction* yield = run(body);
  Values next;
  for (size_t c = 0; c < n; ++c) {
    Value* v = to_carry(get(yield->operands[c]), dtype(i.results[c]), is_vector(i.results[c]));
    next.push_back(diverges ? b_.CreateSelect(active, v, carries[c]) : v);
  }
  if (diverges) next.push_back(active);
  Values leaving;
  for (Value* v : next) leaving.push_back(to_phi(v));
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  b_.CreateBr(head);
  for (size_t c = 0; c < phis.size(); ++c) phis[c]->addIncoming(leaving[c], latch);

  b_.SetInsertPoint(exit);
  mask_ = outer_mask;
  for (size_t c = 0; c < n; ++c) env_[i.results[c]] = from_carry(carries[c], dtype(i.results[c]));
}

void KernelEmitter::branch(const Instruction& i) {
  const Reg condition = get(i.operands[0]);
  if (!condition.uniform()) return branch_lanes(i);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition.v)) {
    const Instruction* yield = run(i.regions[known->isZero() ? 1 : 0]);
    for (size_t r = 0; r < i.results.size(); ++r) env_[i.results[r]] = get(yield->operands[r]);
    return;
  }
  const auto yielded = [&](const Region& region) {
    const Instruction* yield = run(region);
    Values v;
    for (size_t r = 0; r < i.results.size(); ++r)
      v.push_back(to_carry(get(yield->operands[r]), dtype(i.results[r]), is_vector(i.results[r])));
    return v;
  };
  const auto is_cheap = [](const Region& r) { return straight(r, false) && r.instructions.size() <= 4; };
  if (is_cheap(i.regions[0]) && is_cheap(i.regions[1])) {
    const Values a = yielded(i.regions[0]), b = yielded(i.regions[1]);
    for (size_t r = 0; r < i.results.size(); ++r)
      env_[i.results[r]] = from_carry(b_.CreateSelect(condition.v, a[r], b[r]), dtype(i.results[r]));
    return;
  }
  llvm::BasicBlock *then = block("then"), *otherwise = block("else"), *join = block("join");
  b_.CreateCondBr(condition.v, then, otherwise);
  b_.SetInsertPoint(then);
  const Values a = yielded(i.regions[0]);
  Values a_phi, b_phi;
  for (Value* v : a) a_phi.push_back(to_phi(v));
  llvm::BasicBlock* then_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(otherwise);
  const Values b = yielded(i.regions[1]);
  for (Value* v : b) b_phi.push_back(to_phi(v));
  llvm::BasicBlock* otherwise_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  llvm::SmallVector<llvm::PHINode*, 8> phis;
  for (size_t r = 0; r < a.size(); ++r) {
    phis.push_back(b_.CreatePHI(a_phi[r]->getType(), 2));
    phis.back()->addIncoming(a_phi[r], then_end);
    phis.back()->addIncoming(b_phi[r], otherwise_end);
  }
  for (size_t r = 0; r < a.size(); ++r)
    env_[i.results[r]] = from_carry(from_phi(phis[r], a[r]->getType()), dtype(i.results[r]));
}

// Lanes disagree: each side runs under its mask, when some lane is active there.
void KernelEmitter::branch_lanes(const Instruction& i) {
  Value* const condition = as_vector(get(i.operands[0]));
  Value* const outer_mask = mask_;
  Value* const masks[2] = {and_mask(outer_mask, condition), and_mask(outer_mask, b_.CreateNot(condition))};
  const bool flat = straight(i.regions[0], true) && straight(i.regions[1], true) &&
                    instruction_count(i.regions[0]) + instruction_count(i.regions[1]) <= kFlatten;
  Values sides[2];
  for (int side = 0; side < 2; ++side) {
    const Region& region = i.regions[static_cast<size_t>(side)];
    llvm::BasicBlock *before = nullptr, *join = nullptr;
    if (!flat) {
      llvm::BasicBlock* inside = block("some");
      join = block("join");
      b_.CreateCondBr(any(masks[side]), inside, join);
      before = b_.GetInsertBlock();
      b_.SetInsertPoint(inside);
    }
    mask_ = masks[side];
    const Instruction* yield = run(region);
    for (size_t r = 0; r < i.results.size(); ++r)
      sides[side].push_back(to_carry(get(yield->operands[r]), dtype(i.results[r]), true));
    mask_ = outer_mask;
    if (flat) continue;
    Values leaving;
    for (Value* v : sides[side]) leaving.push_back(to_phi(v));
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (Value* v : leaving) {
      phis.push_back(b_.CreatePHI(v->getType(), 2));
      phis.back()->addIncoming(v, end);
      phis.back()->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
    }
    for (size_t r = 0; r < phis.size(); ++r) sides[side][r] = from_phi(phis[r], sides[side][r]->getType());
  }
  for (size_t r = 0; r < i.results.size(); ++r)
    env_[i.results[r]] = from_carry(b_.CreateSelect(condition, sides[0][r], sides[1][r]), dtype(i.results[r]));
}

}  // namespace calque::codegen
