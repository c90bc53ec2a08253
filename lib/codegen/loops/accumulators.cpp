#include "codegen/loops/accumulators.h"

#include <algorithm>

#include "codegen/emit/emitter.h"

namespace calque::codegen {

using kernel::Combiner;
using llvm::Value;

namespace {

bool is_arg(Combiner c) { return c == Combiner::argmax || c == Combiner::argmin; }

DType accumulator_dtype(DType d) { return is_half(d) ? DType::f32 : d; }

}  // namespace

Value* combine(KernelEmitter& kernel, Combiner c, DType d, Value* a, Value* b) {
  ScalarOps& ops = kernel.ops();
  switch (c) {
    case Combiner::add:
      return ops.emit(ScalarOp::add, d, {a, b});
    case Combiner::mul:
      return ops.emit(ScalarOp::mul, d, {a, b});
    case Combiner::max:
      return ops.emit(ScalarOp::max, d, {a, b});
    case Combiner::min:
      return ops.emit(ScalarOp::min, d, {a, b});
    case Combiner::and_:
      return ops.emit(ScalarOp::and_, d, {a, b});
    case Combiner::or_:
      return ops.emit(ScalarOp::or_, d, {a, b});
    default:
      kernel.refuse("argmax and argmin come in pairs");
  }
}

Values Accumulators::identities(bool vectorised) const {
  Values v;
  const auto add = [&](size_t r, const Literal& literal) {
    const DType d = accumulator_dtype(k_.dtype(i_.results[r]));
    llvm::Type* type = k_.ops().register_type(d);
    llvm::Constant* c;
    if (i_.combiners[r] == Combiner::add && is_floating(d))
      c = llvm::ConstantFP::get(type, k_.target_emitter().empty_sum());
    else if (d == DType::f32)
      c = llvm::ConstantFP::get(type, llvm::APFloat(literal.as<float>()));
    else if (d == DType::f64)
      c = llvm::ConstantFP::get(type, llvm::APFloat(literal.as<double>()));
    else
      c = llvm::ConstantInt::get(type, literal.as<uint64_t>() & (~uint64_t{0} >> (64 - 8 * size_of(d))), false, true);
    v.push_back(vectorised || k_.is_vector(i_.results[r]) ? k_.splat(c) : c);
  };
  for (size_t r = 0; r < i_.results.size(); ++r) {
    add(r, kernel::identity(i_.combiners[r], accumulator_dtype(k_.dtype(i_.results[r]))));
    // The index of the identity loses every tie.
    if (is_arg(i_.combiners[r])) add(++r, Literal::of<int64_t>(INT64_MAX));
  }
  return v;
}

Values Accumulators::initial() const {
  Values v;
  for (size_t r = 0; r < i_.results.size(); ++r) {
    const DType d = k_.dtype(i_.results[r]);
    Reg value = k_.get(i_.operands[r]);
    if (is_half(d)) value = k_.widened(value, d);
    v.push_back(k_.as_value(value, k_.is_vector(i_.results[r])));
  }
  return v;
}

Values Accumulators::contributions(Value* index, bool vectorised) const {
  const kernel::Region& body = i_.regions[0];
  if (!body.parameters.empty()) k_.set(body.parameters[0], vectorised ? k_.linear(index) : k_.uniform(index));
  const kernel::Instruction* yield = k_.run(body);
  Values v;
  for (size_t r = 0; r < i_.results.size(); ++r) {
    const DType d = k_.dtype(i_.results[r]);
    Reg c = k_.get(yield->operands[r]);
    if (is_half(d)) c = k_.widened(c, d);
    v.push_back(k_.as_value(c, vectorised || k_.is_vector(i_.results[r])));
  }
  return v;
}

Values Accumulators::combine(const Values& a, const Values& b) const {
  llvm::IRBuilder<>& builder = k_.builder();
  Values out;
  for (size_t r = 0; r < i_.results.size(); ++r) {
    const DType d = accumulator_dtype(k_.dtype(i_.results[r]));
    const Combiner c = i_.combiners[r];
    if (!is_arg(c)) {
      out.push_back(codegen::combine(k_, c, d, a[r], b[r]));
      continue;
    }
    // b replaces a if it is better, or equal with a lower index. NaN is better than any number and equal to NaN.
    Value* better = k_.ops().emit(c == Combiner::argmax ? ScalarOp::gt : ScalarOp::lt, d, {b[r], a[r]});
    Value* equal = k_.ops().emit(ScalarOp::eq, d, {b[r], a[r]});
    if (is_floating(d)) {
      Value* a_nan = builder.CreateFCmpUNO(a[r], a[r]);
      Value* b_nan = builder.CreateFCmpUNO(b[r], b[r]);
      better = builder.CreateOr(better, builder.CreateAnd(b_nan, builder.CreateNot(a_nan)));
      equal = builder.CreateOr(equal, builder.CreateAnd(a_nan, b_nan));
    }
    Value* earlier = k_.ops().emit(ScalarOp::lt, DType::i64, {b[r + 1], a[r + 1]});
    Value* replaces = builder.CreateOr(better, builder.CreateAnd(equal, earlier));
    out.push_back(builder.CreateSelect(replaces, b[r], a[r]));
    out.push_back(builder.CreateSelect(replaces, b[r + 1], a[r + 1]));
    ++r;
  }
  return out;
}

bool Accumulators::is_idempotent() const {
  return std::ranges::none_of(i_.combiners, [](Combiner c) { return c == Combiner::add || c == Combiner::mul; });
}

Values Accumulators::combine_four(const Values& a) const {
  const auto n = static_cast<std::ptrdiff_t>(i_.results.size());
  const auto at = [&](std::ptrdiff_t number) { return Values(a.begin() + number * n, a.begin() + (number + 1) * n); };
  // In this order whatever C++ compiler builds the library: ptxas needs fewer registers for it than for the other.
  const Values upper = combine(at(2), at(3));
  return combine(combine(at(0), at(1)), upper);
}

Values Accumulators::masked(const Values& v, Value* mask) const {
  if (!mask) return v;
  const Values identity = identities(true);
  Values out;
  for (size_t r = 0; r < v.size(); ++r) out.push_back(k_.builder().CreateSelect(mask, v[r], identity[r]));
  return out;
}

Values Accumulators::fold_lanes(Values v) const {
  llvm::IRBuilder<>& builder = k_.builder();
  for (unsigned half = k_.vectors().lanes() / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned l = 0; l < half; ++l) {
      low.push_back(static_cast<int>(l));
      high.push_back(static_cast<int>(l + half));
    }
    Values a, b;
    for (Value* x : v) {
      a.push_back(builder.CreateShuffleVector(x, low));
      b.push_back(builder.CreateShuffleVector(x, high));
    }
    v = combine(a, b);
  }
  for (Value*& x : v) x = builder.CreateExtractElement(x, uint64_t{0});
  return v;
}

void Accumulators::set_results(const Values& v) const {
  for (size_t r = 0; r < v.size(); ++r) {
    Reg out = k_.of(v[r]);
    out.wide = is_half(k_.dtype(i_.results[r]));
    out.representable_in_16_bits = !out.wide;
    k_.set(i_.results[r], out);
  }
}

}  // namespace calque::codegen
