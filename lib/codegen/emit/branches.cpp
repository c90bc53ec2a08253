// Branches: uniform ones, and those that only some lanes take.
#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Op;
using llvm::Value;

namespace {

// A branch of at most this many instructions runs both of its sides.
constexpr int64_t kFlatten = 24;

bool straight(const kernel::Region& region, bool memory) {
  for (const kernel::Instruction& i : region.instructions)
    if (i.op != Op::constant && i.op != Op::scalar && i.op != Op::yield &&
        !(memory && (i.op == Op::load || i.op == Op::store)))
      return false;
  return true;
}

}  // namespace

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
  const auto is_inexpensive = [&](const Region& r) { return straight(r, false) && instruction_count(kernel_, r) <= 4; };
  if (is_inexpensive(i.regions[0]) && is_inexpensive(i.regions[1])) {
    const Values a = yielded(i.regions[0]), b = yielded(i.regions[1]);
    for (size_t r = 0; r < i.results.size(); ++r)
      env_[i.results[r]] = from_carry(b_.CreateSelect(condition.v, a[r], b[r]), dtype(i.results[r]));
    return;
  }
  llvm::BasicBlock *then = block("then"), *otherwise = block("else"), *end = block("join");
  b_.CreateCondBr(condition.v, then, otherwise);
  b_.SetInsertPoint(then);
  const Values a = yielded(i.regions[0]);
  llvm::BasicBlock* then_end = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(otherwise);
  const Values b = yielded(i.regions[1]);
  llvm::BasicBlock* otherwise_end = b_.GetInsertBlock();
  b_.CreateBr(end);
  b_.SetInsertPoint(end);
  const Values merged = phis(a, then_end);
  add_incoming(merged, b, otherwise_end);
  for (size_t r = 0; r < merged.size(); ++r) env_[i.results[r]] = from_carry(merged[r], dtype(i.results[r]));
}

// The values of `body` if any lane of `mask` is active, else `otherwise`. (In scalar code the mask is a bool.)
Values KernelEmitter::where_any(Value* mask, const Values& otherwise, const std::function<Values()>& body) {
  llvm::BasicBlock *inside = block("some"), *after = block("join");
  b_.CreateCondBr(mask->getType()->isVectorTy() ? any(mask) : mask, inside, after);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.SetInsertPoint(inside);
  const Values values = body();
  llvm::BasicBlock* end = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  const Values merged = phis(values, end);
  add_incoming(merged, otherwise, before);
  return merged;
}

// Divergent lanes: each side runs under its mask, if any lane is active in it.
void KernelEmitter::branch_lanes(const Instruction& i) {
  Value* const condition = as_vector(get(i.operands[0]));
  Value* const outer = vectors_.mask();
  Value* const masks[2] = {and_mask(outer, condition), and_mask(outer, b_.CreateNot(condition))};
  const bool flat = straight(i.regions[0], true) && straight(i.regions[1], true) &&
                    instruction_count(kernel_, i.regions[0]) + instruction_count(kernel_, i.regions[1]) <= kFlatten;
  Values zeros;
  for (const Id r : i.results) {
    const DType d = is_half(dtype(r)) && !options_.strict ? DType::f32 : dtype(r);
    zeros.push_back(llvm::Constant::getNullValue(llvm::FixedVectorType::get(ops_.register_type(d), vectors_.lanes())));
  }
  Values sides[2];
  for (size_t side = 0; side < 2; ++side) {
    const auto body = [&] {
      const MaskScope active(vectors_, masks[side]);
      const Instruction* yield = run(i.regions[side]);
      Values values;
      for (size_t r = 0; r < i.results.size(); ++r)
        values.push_back(to_carry(get(yield->operands[r]), dtype(i.results[r]), true));
      return values;
    };
    sides[side] = flat ? body() : where_any(masks[side], zeros, body);
  }
  for (size_t r = 0; r < i.results.size(); ++r)
    env_[i.results[r]] = from_carry(b_.CreateSelect(condition, sides[0][r], sides[1][r]), dtype(i.results[r]));
}

}  // namespace calque::codegen
