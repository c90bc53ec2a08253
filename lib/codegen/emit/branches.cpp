// Branches: uniform ones, and those that only some lanes take.
#include "codegen/emit/branches.h"

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Id;
using kernel::Instruction;
using kernel::Op;
using kernel::Region;
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

llvm::Constant* all_lanes(KernelEmitter& kernel) {
  return llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(kernel.builder().getInt1Ty(), kernel.vectors().lanes()));
}

// Divergent lanes: each side runs under its mask, if any lane is active in it.
void emit_branch_of_lanes(KernelEmitter& kernel, const Instruction& i) {
  llvm::IRBuilder<>& b = kernel.builder();
  Value* const condition = kernel.as_vector(kernel.get(i.operands[0]));
  Value* const outer = kernel.vectors().mask();
  Value* const masks[2] = {kernel.and_mask(outer, condition), kernel.and_mask(outer, b.CreateNot(condition))};
  const bool flat =
      straight(i.regions[0], true) && straight(i.regions[1], true) &&
      instruction_count(kernel.kernel(), i.regions[0]) + instruction_count(kernel.kernel(), i.regions[1]) <= kFlatten;
  Values zeros;
  for (const Id r : i.results) {
    const DType d = is_half(kernel.dtype(r)) && !kernel.options().strict ? DType::f32 : kernel.dtype(r);
    zeros.push_back(llvm::Constant::getNullValue(
        llvm::FixedVectorType::get(kernel.ops().register_type(d), kernel.vectors().lanes())));
  }
  Values sides[2];
  for (size_t side = 0; side < 2; ++side) {
    const auto body = [&] {
      const MaskScope active(kernel.vectors(), masks[side]);
      const Instruction* yield = kernel.run(i.regions[side]);
      Values values;
      for (size_t r = 0; r < i.results.size(); ++r)
        values.push_back(kernel.to_carry(kernel.get(yield->operands[r]), kernel.dtype(i.results[r]), true));
      return values;
    };
    sides[side] = flat ? body() : kernel.where_any(masks[side], zeros, body);
  }
  for (size_t r = 0; r < i.results.size(); ++r)
    kernel.set_carry(i.results[r], b.CreateSelect(condition, sides[0][r], sides[1][r]));
}

}  // namespace

void emit_branch(KernelEmitter& kernel, const Instruction& i) {
  llvm::IRBuilder<>& b = kernel.builder();
  const Reg condition = kernel.get(i.operands[0]);
  if (!condition.uniform()) return emit_branch_of_lanes(kernel, i);
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition.v)) {
    const Instruction* yield = kernel.run(i.regions[known->isZero() ? 1 : 0]);
    for (size_t r = 0; r < i.results.size(); ++r) kernel.set(i.results[r], kernel.get(yield->operands[r]));
    return;
  }
  const auto yielded = [&](const Region& region) {
    const Instruction* yield = kernel.run(region);
    Values v;
    for (size_t r = 0; r < i.results.size(); ++r) v.push_back(kernel.carry(yield->operands[r], i.results[r]));
    return v;
  };
  const auto is_inexpensive = [&](const Region& r) {
    return straight(r, false) && instruction_count(kernel.kernel(), r) <= 4;
  };
  if (is_inexpensive(i.regions[0]) && is_inexpensive(i.regions[1])) {
    const Values first = yielded(i.regions[0]), second = yielded(i.regions[1]);
    for (size_t r = 0; r < i.results.size(); ++r)
      kernel.set_carry(i.results[r], b.CreateSelect(condition.v, first[r], second[r]));
    return;
  }
  llvm::BasicBlock *then = kernel.block("then"), *otherwise = kernel.block("else"), *end = kernel.block("join");
  b.CreateCondBr(condition.v, then, otherwise);
  b.SetInsertPoint(then);
  const Values first = yielded(i.regions[0]);
  llvm::BasicBlock* then_end = b.GetInsertBlock();
  b.CreateBr(end);
  b.SetInsertPoint(otherwise);
  const Values second = yielded(i.regions[1]);
  llvm::BasicBlock* otherwise_end = b.GetInsertBlock();
  b.CreateBr(end);
  b.SetInsertPoint(end);
  const Values merged = kernel.phis(first, then_end);
  KernelEmitter::add_incoming(merged, second, otherwise_end);
  for (size_t r = 0; r < merged.size(); ++r) kernel.set_carry(i.results[r], merged[r]);
}

void emit_while(KernelEmitter& kernel, const Instruction& i) {
  llvm::IRBuilder<>& b = kernel.builder();
  const Region &condition = i.regions[0], &body = i.regions[1];
  const size_t n = i.operands.size();
  const bool diverges = kernel.is_vector(condition.instructions.back().operands[0]);
  llvm::BasicBlock *head = kernel.block("while"), *inside = kernel.block("body"), *exit = kernel.block("left");
  Values initial;
  for (size_t c = 0; c < n; ++c) initial.push_back(kernel.carry(i.operands[c], i.results[c]));
  if (diverges) initial.push_back(kernel.vectors().mask() ? kernel.vectors().mask() : all_lanes(kernel));
  llvm::BasicBlock* before = b.GetInsertBlock();
  b.CreateBr(head);

  b.SetInsertPoint(head);
  const Values carries = kernel.phis(initial, before);
  const MaskScope in_condition(kernel.vectors(), diverges ? carries.back() : kernel.vectors().mask());
  for (size_t c = 0; c < n; ++c) kernel.set_carry(condition.parameters[c], carries[c]);
  const Reg more = kernel.get(kernel.run(condition)->operands[0]);
  Value* active = nullptr;
  if (diverges) {
    // The carries and the condition of a finished lane are arbitrary.
    active = b.CreateLogicalAnd(kernel.vectors().mask(), kernel.as_vector(more));
    b.CreateCondBr(kernel.any(active), inside, exit);
  } else {
    b.CreateCondBr(more.v, inside, exit);
  }
  const MaskScope in_body(kernel.vectors(), diverges ? active : kernel.vectors().mask());

  b.SetInsertPoint(inside);
  for (size_t c = 0; c < n; ++c) kernel.set_carry(body.parameters[c], carries[c]);
  const Instruction* yield = kernel.run(body);
  Values next;
  for (size_t c = 0; c < n; ++c) {
    Value* v = kernel.carry(yield->operands[c], i.results[c]);
    // Finished lanes of a carry that is not used after the loop need not keep their value.
    const bool kept = diverges && kernel.analysis().used(i.results[c]);
    next.push_back(kept ? b.CreateSelect(active, v, carries[c]) : v);
  }
  if (diverges) next.push_back(active);
  llvm::BasicBlock* latch = b.GetInsertBlock();
  b.CreateBr(head);
  KernelEmitter::add_incoming(carries, next, latch);

  b.SetInsertPoint(exit);
  for (size_t c = 0; c < n; ++c) kernel.set_carry(i.results[c], carries[c]);
}

}  // namespace calque::codegen
