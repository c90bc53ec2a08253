// Reductions combine in an order that the extent and the number of lanes fix. Let a unit be one vector of contributions
// (one contribution in a loop that is not vectorised). Unit j goes to accumulator j mod 4; sums and products of floats
// fold the four after every 64 units, (a0+a1)+(a2+a3), and combine these blocks pairwise, as a binary counter carries;
// the units past the last multiple of four go to an accumulator of their own, combined after the blocks; then the upper
// half of the lanes is combined with the lower until one is left, and the initial value comes first of all. With at
// most 15 additions in a row inside a block, the error of a sum of n terms stays below that of log2(n) + 19 roundings.
// Reductions of up to 16 terms that are not vectorised run in order from the initial value.
#include <bit>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Combiner;
using llvm::Value;

namespace {

constexpr int64_t kAccumulators = 4;
constexpr int64_t kBlockUnits = 64;
constexpr int64_t kInOrder = 16;
// Larger bodies are not repeated for each accumulator; the accumulators rotate instead.
constexpr int64_t kRepeatedBody = 40;

bool is_arg(Combiner c) { return c == Combiner::argmax || c == Combiner::argmin; }

// f16 and bf16 accumulate in f32.
DType held(DType d) { return is_half(d) ? DType::f32 : d; }

}  // namespace

void KernelEmitter::reduction(const Instruction& i) {
  if (const unsigned lanes = choose_lanes(i)) {
    blocked_reduction(i, lanes);
    return;
  }
  const LoopFacts& facts = analysis_.facts(i);
  const bool small = facts.cost <= kRepeatedBody && !facts.nested;
  if (i.extent > kInOrder && (rounds(i) || small))
    blocked_reduction(i, 1);
  else
    sequential_reduction(i);
}

// Whether the order of the terms shows in the result.
bool KernelEmitter::rounds(const Instruction& i) const {
  for (size_t r = 0; r < i.results.size(); ++r)
    if (is_floating(dtype(i.results[r])) && (i.combiners[r] == Combiner::add || i.combiners[r] == Combiner::mul))
      return true;
  return false;
}

// What one iteration contributes, one LLVM value for each result.
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
    const DType d = held(dtype(i.results[r]));
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
    add(r, kernel::identity(i.combiners[r], held(dtype(i.results[r]))));
    // The index that comes with a value loses every tie.
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
    const DType d = held(dtype(i.results[r]));
    const Combiner c = i.combiners[r];
    if (!is_arg(c)) {
      out.push_back(combine_one(c, d, a[r], b[r]));
      continue;
    }
    // b replaces a when it is better, or as good and earlier. A NaN is better than any number, as good as another NaN.
    Value* better = ops_.emit(c == Combiner::argmax ? ScalarOp::gt : ScalarOp::lt, d, {b[r], a[r]});
    Value* equal = ops_.emit(ScalarOp::eq, d, {b[r], a[r]});
    if (is_floating(d)) {
      Value* a_nan = b_.CreateFCmpUNO(a[r], a[r]);
      Value* b_nan = b_.CreateFCmpUNO(b[r], b[r]);
      better = b_.CreateOr(better, b_.CreateAnd(b_nan, b_.CreateNot(a_nan)));
      equal = b_.CreateOr(equal, b_.CreateAnd(a_nan, b_nan));
    }
    Value* earlier = ops_.emit(ScalarOp::lt, DType::i64, {b[r + 1], a[r + 1]});
    Value* takes = b_.CreateOr(better, b_.CreateAnd(equal, earlier));
    out.push_back(b_.CreateSelect(takes, b[r], a[r]));
    out.push_back(b_.CreateSelect(takes, b[r + 1], a[r + 1]));
    ++r;
  }
  return out;
}

Values KernelEmitter::masked(const Instruction& i, const Values& v, Value* mask) {
  if (!mask) return v;
  const Values nothing = identities(i, true);
  Values out;
  for (size_t r = 0; r < v.size(); ++r) out.push_back(b_.CreateSelect(mask, v[r], nothing[r]));
  return out;
}

Values KernelEmitter::fold_lanes(const Instruction& i, Values v) {
  for (unsigned half = lanes_ / 2; half >= 1; half /= 2) {
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
    out.rounded = !out.wide;
  }
}

void KernelEmitter::blocked_reduction(const Instruction& i, unsigned step) {
  if (step > 1) lanes_ = step;
  const Blocks blocks = blocks_of(i, step);
  Values total;
  if (blocks.pieces > 1)
    total = sum_pieces(i, blocks);
  else if (blocks.count > 0)
    total = sum_blocks(i, blocks, b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(blocks.count)), blocks.count);
  if (blocks.grouped < i.extent) {
    const Values rest = sum_rest(i, blocks);
    total = total.empty() ? rest : combine(i, total, rest);
  }
  if (step > 1) {
    total = fold_lanes(i, total);
    lanes_ = 0;
  }
  finish(i, total);
}

// The initial value and all terms make the result.
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
    out.rounded = !out.wide;
  }
}

KernelEmitter::Blocks KernelEmitter::blocks_of(const Instruction& i, unsigned step) const {
  Blocks b;
  b.step = step;
  const LoopFacts& facts = analysis_.facts(i);
  b.repeat = facts.cost <= kRepeatedBody && !facts.nested;
  b.grouped = i.extent / (kAccumulators * b.step) * kAccumulators * b.step;
  const auto divide = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  // Where the order does not show, there is one block, or one for each piece.
  b.extent = rounds(i)   ? kBlockUnits * b.step
             : i.threads ? divide(i.grain, kAccumulators * b.step) * kAccumulators * b.step
                         : std::max<int64_t>(b.grouped, 1);
  b.count = divide(b.grouped, b.extent);
  // Pieces of 2^k blocks are nodes of the tree that sums all blocks pairwise.
  if (i.threads) b.in_piece = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(divide(i.grain, b.extent))));
  if (i.threads) b.pieces = divide(b.count, b.in_piece);
  return b;
}

// One block: units from `begin` to `end` into four accumulators, then folded.
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
      // The front accumulator takes it and goes to the back: after four units all are in their places again.
      const Values sum = combine(i, Values(next.begin(), next.begin() + n), v);
      next.erase(next.begin(), next.begin() + n);
      next.append(sum);
    }
    return next;
  });
  Values part[kAccumulators];
  for (std::ptrdiff_t a = 0; a < kAccumulators; ++a) part[a].append(sums.begin() + a * n, sums.begin() + (a + 1) * n);
  return combine(i, combine(i, part[0], part[1]), combine(i, part[2], part[3]));
}

// `count` blocks (at most `most`) from block `first`, which is a multiple of the next power of two.
Values KernelEmitter::sum_blocks(const Instruction& i, const Blocks& blocks, Value* first, Value* count, int64_t most) {
  const auto block = [&](Value* number) {
    const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
    Value* begin = b_.CreateMul(b_.CreateAdd(first, number, "", true, true), constant(blocks.extent), "", true, true);
    Value* end = b_.CreateAdd(begin, constant(blocks.extent), "", true, true);
    if (blocks.grouped % blocks.extent != 0)
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, constant(blocks.grouped));
    return sum_block(i, blocks, begin, end);
  };
  if (most == 1) return block(b_.getInt64(0));
  return pairwise(i, blocks, count, most, block);
}

// Pieces of the blocks, on several threads; their sums wait on the kernel's stack.
Values KernelEmitter::sum_pieces(const Instruction& i, const Blocks& blocks) {
  const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  const Values types = identities(i, blocks.step > 1);
  Values partials;
  for (Value* v : types)
    partials.push_back(local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(blocks.pieces))));
  const auto slot = [&](size_t r, Value* piece) {
    return b_.CreateInBoundsGEP(types[r]->getType(), partials[r], piece);
  };
  parallel_for(blocks.pieces, 1, [&](Value* begin, Value* end) {
    counted(begin, end, 1, {}, [&](Value* piece, const Values&) {
      Value* first = b_.CreateMul(piece, constant(blocks.in_piece), "", true, true);
      Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, constant(blocks.in_piece),
                                              b_.CreateSub(constant(blocks.count), first));
      const Values sums = sum_blocks(i, blocks, first, count, blocks.in_piece);
      for (size_t r = 0; r < sums.size(); ++r) b_.CreateStore(sums[r], slot(r, piece));
      return Values{};
    });
  });
  return pairwise(i, blocks, constant(blocks.pieces), blocks.pieces, [&](Value* piece) {
    Values sums;
    for (size_t r = 0; r < types.size(); ++r) sums.push_back(b_.CreateLoad(types[r]->getType(), slot(r, piece)));
    return sums;
  });
}

// Combines part(0), part(1) ... as a binary counter carries: the sum of 2^k parts waits on level k.
Values KernelEmitter::pairwise(const Instruction& i, const Blocks& blocks, Value* count, int64_t most,
                               const std::function<Values(Value*)>& part) {
  const Values types = identities(i, blocks.step > 1);
  const int64_t levels = std::bit_width(static_cast<uint64_t>(most));
  Values stacks;
  for (Value* v : types) stacks.push_back(local(llvm::ArrayType::get(v->getType(), static_cast<uint64_t>(levels))));
  const Slot slot = [&](size_t r, Value* level) { return b_.CreateInBoundsGEP(types[r]->getType(), stacks[r], level); };
  counted(b_.getInt64(0), count, 1, {}, [&](Value* number, const Values&) {
    carry_up(i, number, part(number), slot);
    return Values{};
  });
  if (llvm::isa<llvm::ConstantInt>(count)) return fold_levels(i, most, types, slot);
  // Nothing that waits is a negative zero, so that an identity below it changes no bit.
  return counted(b_.getInt64(0), b_.getInt64(static_cast<uint64_t>(levels)), 1, types,
                 [&](Value* level, const Values& total) {
                   Value* const set = b_.CreateTrunc(b_.CreateLShr(count, level), b_.getInt1Ty());
                   return where_any(set, total, [&] { return combine(i, waiting(types, level, slot), total); });
                 });
}

Values KernelEmitter::waiting(const Values& types, Value* level, const Slot& slot) {
  Values v;
  for (size_t r = 0; r < types.size(); ++r) v.push_back(b_.CreateLoad(types[r]->getType(), slot(r, level)));
  return v;
}

// Part `number` joins those that wait for it.
void KernelEmitter::carry_up(const Instruction& i, Value* number, const Values& part, const Slot& slot) {
  Values entering = part;
  llvm::BasicBlock *before = b_.GetInsertBlock(), *head = block("carry"), *up = block("up"), *rest = block("rest");
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  entering.push_back(b_.getInt64(0));
  Values running = phis(entering, before);
  Value* const level = running.pop_back_val();
  b_.CreateCondBr(b_.CreateTrunc(b_.CreateLShr(number, level), b_.getInt1Ty()), up, rest);
  b_.SetInsertPoint(up);
  const Values joined = combine(i, waiting(part, level, slot), running);
  llvm::cast<llvm::PHINode>(level)->addIncoming(b_.CreateAdd(level, b_.getInt64(1)), b_.GetInsertBlock());
  join(running, joined, b_.GetInsertBlock());
  b_.CreateBr(head);
  b_.SetInsertPoint(rest);
  for (size_t r = 0; r < running.size(); ++r) b_.CreateStore(running[r], slot(r, level));
}

// All that waits after `count` parts.
Values KernelEmitter::fold_levels(const Instruction& i, int64_t count, const Values& types, const Slot& slot) {
  Values total;
  for (int64_t level = 0; (count >> level) != 0; ++level) {
    if (((count >> level) & 1) == 0) continue;
    const Values sum = waiting(types, b_.getInt64(static_cast<uint64_t>(level)), slot);
    total = total.empty() ? sum : combine(i, sum, total);
  }
  return total;
}

// What follows the last whole group of units.
Values KernelEmitter::sum_rest(const Instruction& i, const Blocks& blocks) {
  const bool vectorised = blocks.step > 1;
  const int64_t step = blocks.step, extent = i.extent;
  const bool ragged = extent % step != 0, repeatable = extent >= step && analysis_.facts(i).idempotent;
  const auto constant = [&](int64_t n) { return b_.getInt64(static_cast<uint64_t>(n)); };
  return counted(constant(blocks.grouped), constant(extent), step, identities(i, vectorised),
                 [&](Value* index, const Values& carries) {
                   if (!ragged) return combine(i, carries, contributions(i, index, vectorised));
                   Value* valid;
                   Values v;
                   if (repeatable) {
                     // The last vector starts earlier; its lanes below `index` have been counted.
                     Value* base = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, constant(extent - step));
                     valid = b_.CreateNot(first_lanes(b_.CreateSub(index, base)));
                     v = contributions(i, base, vectorised);
                   } else {
                     valid = first_lanes(b_.CreateSub(constant(extent), index));
                     mask_ = valid;
                     v = contributions(i, index, vectorised);
                     mask_ = nullptr;
                   }
                   return combine(i, carries, masked(i, v, valid));
                 });
}

}  // namespace calque::codegen
