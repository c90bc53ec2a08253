// Reductions. The extent and the number of lanes determine the order in which terms are combined. Let a unit be one
// vector of contributions (one contribution in a loop that is not vectorised). Unit j goes to accumulator j mod 4; sums
// and products of floats fold the four after every 64 units, (a0+a1)+(a2+a3), and combine these blocks pairwise, like
// the carries of a binary counter; the units past the last multiple of four go to a separate accumulator, combined
// after the blocks; then the upper half of the lanes is combined with the lower half until one lane is left, and the
// initial value is the left operand of the last combination. With at most 15 consecutive additions within a block, the
// error of a sum of n terms stays below that of log2(n) + 19 roundings. Reductions of up to 16 terms that are not
// vectorised run in order from the initial value.
#include <algorithm>
#include <bit>
#include <optional>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Combiner;
using llvm::Value;

namespace {

constexpr int64_t kAccumulators = 4;
constexpr int64_t kBlockUnits = 64;

bool is_arg(Combiner c) { return c == Combiner::argmax || c == Combiner::argmin; }

// f16 and bf16 accumulate in f32.
DType accumulator_dtype(DType d) { return is_half(d) ? DType::f32 : d; }

}  // namespace

void KernelEmitter::reduction(const Instruction& i) {
  const unsigned lanes = vector_lanes(i);
  if (lanes == 0 && i.unroll == 0) return sequential_reduction(i);
  blocked_reduction(i, std::max(1U, lanes));
}

// The contribution of one iteration, one LLVM value for each result.
Values KernelEmitter::contributions(const Instruction& i, Value* index, bool vectorised) {
  const Region& body = i.regions[0];
  if (!body.parameters.empty()) {
    env_[body.parameters[0]] = uniform(index);
    if (vectorised) env_[body.parameters[0]] = {index, Reg::Form::linear, false, true, 1};
  }
  const Instruction* yield = run(body);
  Values v;
  for (size_t r = 0; r < i.results.size(); ++r) {
    const DType d = dtype(i.results[r]);
    Reg c = get(yield->operands[r]);
    if (is_half(d)) c = widened(c, d);
    v.push_back(as_value(c, vectorised || is_vector(i.results[r])));
  }
  return v;
}

Values KernelEmitter::identities(const Instruction& i, bool vectorised) {
  Values v;
  const auto add = [&](size_t r, const Literal& literal) {
    const DType d = accumulator_dtype(dtype(i.results[r]));
    llvm::Type* type = ops_.register_type(d);
    llvm::Constant* c;
    if (d == DType::f32)
      c = llvm::ConstantFP::get(type, llvm::APFloat(literal.as<float>()));
    else if (d == DType::f64)
      c = llvm::ConstantFP::get(type, llvm::APFloat(literal.as<double>()));
    else
      c = llvm::ConstantInt::get(type, literal.as<uint64_t>() & (~uint64_t{0} >> (64 - 8 * size_of(d))), false, true);
    v.push_back(vectorised || is_vector(i.results[r]) ? splat(c) : c);
  };
  for (size_t r = 0; r < i.results.size(); ++r) {
    add(r, kernel::identity(i.combiners[r], accumulator_dtype(dtype(i.results[r]))));
    // The index of the identity loses every tie.
    if (is_arg(i.combiners[r])) add(++r, Literal::of<int64_t>(INT64_MAX));
  }
  return v;
}

Value* KernelEmitter::combine_one(Combiner c, DType d, Value* a, Value* b) {
  switch (c) {
    case Combiner::add:
      return ops_.emit(ScalarOp::add, d, {a, b});
    case Combiner::mul:
      return ops_.emit(ScalarOp::mul, d, {a, b});
    case Combiner::max:
      return ops_.emit(ScalarOp::max, d, {a, b});
    case Combiner::min:
      return ops_.emit(ScalarOp::min, d, {a, b});
    case Combiner::and_:
      return ops_.emit(ScalarOp::and_, d, {a, b});
    case Combiner::or_:
      return ops_.emit(ScalarOp::or_, d, {a, b});
    default:
      refuse("argmax and argmin come in pairs");
  }
}

Values KernelEmitter::combine(const Instruction& i, const Values& a, const Values& b) {
  Values out;
  for (size_t r = 0; r < i.results.size(); ++r) {
    const DType d = accumulator_dtype(dtype(i.results[r]));
    const Combiner c = i.combiners[r];
    if (!is_arg(c)) {
      out.push_back(combine_one(c, d, a[r], b[r]));
      continue;
    }
    // b replaces a if it is better, or equal with a lower index. NaN is better than any number and equal to NaN.
    Value* better = ops_.emit(c == Combiner::argmax ? ScalarOp::gt : ScalarOp::lt, d, {b[r], a[r]});
    Value* equal = ops_.emit(ScalarOp::eq, d, {b[r], a[r]});
    if (is_floating(d)) {
      Value* a_nan = b_.CreateFCmpUNO(a[r], a[r]);
      Value* b_nan = b_.CreateFCmpUNO(b[r], b[r]);
      better = b_.CreateOr(better, b_.CreateAnd(b_nan, b_.CreateNot(a_nan)));
      equal = b_.CreateOr(equal, b_.CreateAnd(a_nan, b_nan));
    }
    Value* earlier = ops_.emit(ScalarOp::lt, DType::i64, {b[r + 1], a[r + 1]});
    Value* replaces = b_.CreateOr(better, b_.CreateAnd(equal, earlier));
    out.push_back(b_.CreateSelect(replaces, b[r], a[r]));
    out.push_back(b_.CreateSelect(replaces, b[r + 1], a[r + 1]));
    ++r;
  }
  return out;
}

Values KernelEmitter::masked(const Instruction& i, const Values& v, Value* mask) {
  if (!mask) return v;
  const Values identity = identities(i, true);
  Values out;
  for (size_t r = 0; r < v.size(); ++r) out.push_back(b_.CreateSelect(mask, v[r], identity[r]));
  return out;
}

Values KernelEmitter::fold_lanes(const Instruction& i, Values v) {
  for (unsigned half = vectors_.lanes() / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned l = 0; l < half; ++l) {
      low.push_back(static_cast<int>(l));
      high.push_back(static_cast<int>(l + half));
    }
    Values a, b;
    for (Value* x : v) {
      a.push_back(b_.CreateShuffleVector(x, low));
      b.push_back(b_.CreateShuffleVector(x, high));
    }
    v = combine(i, a, b);
  }
  for (Value*& x : v) x = b_.CreateExtractElement(x, uint64_t{0});
  return v;
}

void KernelEmitter::sequential_reduction(const Instruction& i) {
  Values initial;
  for (size_t r = 0; r < i.results.size(); ++r) {
    const DType d = dtype(i.results[r]);
    Reg v = get(i.operands[r]);
    if (is_half(d)) v = widened(v, d);
    initial.push_back(as_value(v, is_vector(i.results[r])));
  }
  const Values last =
      counted(b_.getInt64(0), b_.getInt64(i.extent), 1, initial,
              [&](Value* index, const Values& carries) { return combine(i, carries, contributions(i, index, false)); });
  for (size_t r = 0; r < last.size(); ++r) {
    Reg& out = env_[i.results[r]];
    out = of(last[r]);
    out.wide = is_half(dtype(i.results[r]));
    out.representable_in_16_bits = !out.wide;
  }
}

void KernelEmitter::blocked_reduction(const Instruction& i, unsigned step) {
  std::optional<VectorScope> scope;
  if (step > 1) scope.emplace(vectors_, step);
  const Blocks blocks = blocks_of(i, step);
  Values total;
  if (blocks.chunks > 1)
    total = sum_chunks(i, blocks);
  else if (blocks.count > 0)
    total = sum_blocks(i, blocks, b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(blocks.count)), blocks.count);
  if (blocks.blocked < i.extent) {
    const Values rest = sum_remainder(i, blocks);
    total = total.empty() ? rest : combine(i, total, rest);
  }
  if (step > 1) {
    total = fold_lanes(i, total);
    scope.reset();
  }
  finish(i, total);
}

// Combines the initial value and the total.
void KernelEmitter::finish(const Instruction& i, Values total) {
  Values first;
  for (size_t r = 0; r < i.results.size(); ++r) {
    const DType d = dtype(i.results[r]);
    Reg v = get(i.operands[r]);
    if (is_half(d)) v = widened(v, d);
    first.push_back(as_value(v, is_vector(i.results[r])));
  }
  total = combine(i, first, total);
  for (size_t r = 0; r < i.results.size(); ++r) {
    Reg& out = env_[i.results[r]];
    out = of(total[r]);
    out.wide = is_half(dtype(i.results[r]));
    out.representable_in_16_bits = !out.wide;
  }
}

KernelEmitter::Blocks KernelEmitter::blocks_of(const Instruction& i, unsigned step) const {
  Blocks b;
  b.step = step;
  b.repeat = i.unroll > 1;
  b.blocked = i.extent / (kAccumulators * b.step) * kAccumulators * b.step;
  const auto divide = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  // If the order does not matter, there is one block, or one for each chunk.
  b.extent = is_rounded(kernel_, i) ? kBlockUnits * b.step
             : i.threads            ? divide(i.grain, kAccumulators * b.step) * kAccumulators * b.step
                                    : std::max<int64_t>(b.blocked, 1);
  b.count = divide(b.blocked, b.extent);
  // A chunk of 2^k blocks is a node of the tree that combines all blocks pairwise.
  if (i.threads)
    b.blocks_per_chunk = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(divide(i.grain, b.extent))));
  if (i.threads) b.chunks = divide(b.count, b.blocks_per_chunk);
  return b;
}

// Reduces one block: the units from `begin` to `end` into four accumulators, which are then folded.
Values KernelEmitter::sum_block(const Instruction& i, const Blocks& blocks, Value* begin, Value* end) {
  const bool vectorised = blocks.step > 1;
  const auto n = static_cast<std::ptrdiff_t>(i.results.size());
  Values start;
  for (int64_t a = 0; a < kAccumulators; ++a) start.append(identities(i, vectorised));
  const int64_t copies = blocks.repeat ? kAccumulators : 1;
  const Values sums = counted(begin, end, copies * blocks.step, start, [&](Value* index, const Values& carries) {
    Values next = carries;
    for (int64_t c = 0; c < copies; ++c) {
      Value* at =
          c == 0 ? index : b_.CreateAdd(index, b_.getInt64(static_cast<uint64_t>(c * blocks.step)), "", true, true);
      const Values v = contributions(i, at, vectorised);
      // The front accumulator is updated and moves to the back: after four units the order is restored.
      const Values sum = combine(i, Values(next.begin(), next.begin() + n), v);
      next.erase(next.begin(), next.begin() + n);
      next.append(sum);
    }
    return next;
  });
  Values partial[kAccumulators];
  for (std::ptrdiff_t a = 0; a < kAccumulators; ++a)
    partial[a].append(sums.begin() + a * n, sums.begin() + (a + 1) * n);
  return combine(i, combine(i, partial[0], partial[1]), combine(i, partial[2], partial[3]));
}

// `count` blocks (at most `most`) from block `first`, which is a multiple of the next power of two.
Values KernelEmitter::sum_blocks(const Instruction& i, const Blocks& blocks, Value* first, Value* count, int64_t most) {
  const auto block = [&](Value* number) {
    const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
    Value* begin = b_.CreateMul(b_.CreateAdd(first, number, "", true, true), constant(blocks.extent), "", true, true);
    Value* end = b_.CreateAdd(begin, constant(blocks.extent), "", true, true);
    if (blocks.blocked % blocks.extent != 0)
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, constant(blocks.blocked));
    return sum_block(i, blocks, begin, end);
  };
  if (most == 1) return block(b_.getInt64(0));
  return pairwise(i, blocks, count, most, block);
}

// Reduces chunks of blocks on several threads; the partial sums are on the kernel's stack.
Values KernelEmitter::sum_chunks(const Instruction& i, const Blocks& blocks) {
  const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const Values types = identities(i, blocks.step > 1);
  Values partials;
  for (Value* v : types)
    partials.push_back(local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(blocks.chunks))));
  const auto slot = [&](size_t r, Value* chunk) {
    return b_.CreateInBoundsGEP(types[r]->getType(), partials[r], chunk);
  };
  parallel_for(blocks.chunks, 1, [&](Value* begin, Value* end) {
    counted(begin, end, 1, {}, [&](Value* chunk, const Values&) {
      Value* first = b_.CreateMul(chunk, constant(blocks.blocks_per_chunk), "", true, true);
      Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, constant(blocks.blocks_per_chunk),
                                              b_.CreateSub(constant(blocks.count), first));
      const Values sums = sum_blocks(i, blocks, first, count, blocks.blocks_per_chunk);
      for (size_t r = 0; r < sums.size(); ++r) b_.CreateStore(sums[r], slot(r, chunk));
      return Values{};
    });
  });
  return pairwise(i, blocks, constant(blocks.chunks), blocks.chunks, [&](Value* chunk) {
    Values sums;
    for (size_t r = 0; r < types.size(); ++r) sums.push_back(b_.CreateLoad(types[r]->getType(), slot(r, chunk)));
    return sums;
  });
}

// Combines partial(0), partial(1) ... pairwise, like the carries of a binary counter: level k holds the pending sum of
// 2^k of them.
Values KernelEmitter::pairwise(const Instruction& i, const Blocks& blocks, Value* count, int64_t most,
                               const std::function<Values(Value*)>& partial) {
  const Values types = identities(i, blocks.step > 1);
  const int64_t levels = std::bit_width(static_cast<uint64_t>(most));
  Values stacks;
  for (Value* v : types) stacks.push_back(local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(levels))));
  const Slot slot = [&](size_t r, Value* level) { return b_.CreateInBoundsGEP(types[r]->getType(), stacks[r], level); };
  counted(b_.getInt64(0), count, 1, {}, [&](Value* number, const Values&) {
    add_partial(i, number, partial(number), slot);
    return Values{};
  });
  if (llvm::isa<llvm::ConstantInt>(count)) return fold_levels(i, most, types, slot);
  // No pending partial sum is a negative zero, so combining it with an identity changes no bit.
  return counted(b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(levels)), 1, types,
                 [&](Value* level, const Values& total) {
                   Value* const set = b_.CreateTrunc(b_.CreateLShr(count, level), b_.getInt1Ty());
                   return where_any(set, total, [&] { return combine(i, load_partials(types, level, slot), total); });
                 });
}

Values KernelEmitter::load_partials(const Values& types, Value* level, const Slot& slot) {
  Values v;
  for (size_t r = 0; r < types.size(); ++r) v.push_back(b_.CreateLoad(types[r]->getType(), slot(r, level)));
  return v;
}

// Adds partial sum `number` and propagates it through the levels that are full.
void KernelEmitter::add_partial(const Instruction& i, Value* number, const Values& partial, const Slot& slot) {
  Values entering = partial;
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("carry"), *up = block("up"), *rest = block("rest");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  entering.push_back(b_.getInt64(0));
  Values running = phis(entering, before);
  Value* const level = running.pop_back_val();
  b_.CreateCondBr(b_.CreateTrunc(b_.CreateLShr(number, level), b_.getInt1Ty()), up, rest);
  b_.SetInsertPoint(up);
  const Values combined = combine(i, load_partials(partial, level, slot), running);
  llvm::cast<llvm::PHINode>(level)->addIncoming(b_.CreateAdd(level, b_.getInt64(1)), b_.GetInsertBlock());
  add_incoming(running, combined, b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(rest);
  for (size_t r = 0; r < running.size(); ++r) b_.CreateStore(running[r], slot(r, level));
}

// Combines the pending partial sums of `count` blocks or chunks.
Values KernelEmitter::fold_levels(const Instruction& i, int64_t count, const Values& types, const Slot& slot) {
  Values total;
  for (int64_t level = 0; (count >> level) != 0; ++level) {
    if (((count >> level) & 1) == 0) continue;
    const Values sum = load_partials(types, b_.getInt64(static_cast<uint64_t>(level)), slot);
    total = total.empty() ? sum : combine(i, sum, total);
  }
  return total;
}

// Reduces the units past the last multiple of four.
Values KernelEmitter::sum_remainder(const Instruction& i, const Blocks& blocks) {
  const bool vectorised = blocks.step > 1;
  const int64_t step = blocks.step, extent = i.extent;
  const bool ragged = extent % step != 0;
  const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  return counted(constant(blocks.blocked), constant(extent), step, identities(i, vectorised),
                 [&](Value* index, const Values& carries) {
                   if (!ragged) return combine(i, carries, contributions(i, index, vectorised));
                   Value* valid;
                   Values v;
                   if (i.overlapping_tail) {
                     // The last vector starts earlier; its lanes below `index` are already included.
                     Value* base = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, constant(extent - step));
                     valid = b_.CreateNot(first_lanes(b_.CreateSub(index, base)));
                     v = contributions(i, base, vectorised);
                   } else {
                     valid = first_lanes(b_.CreateSub(constant(extent), index));
                     const MaskScope active(vectors_, valid);
                     v = contributions(i, index, vectorised);
                   }
                   return combine(i, carries, masked(i, v, valid));
                 });
}

}  // namespace calque::codegen
