#pragma once
// A Lowering that computes immediately: every scalar is a value. It checks that a primitive's index map agrees with its
// evaluation, and that no operand is read out of bounds.
#include <stdexcept>
#include <string>
#include <vector>

#include "primitives/core/lowering.h"
#include "primitives/registry.h"
#include "reference/evaluate.h"

namespace calque::test {

class DirectLowering : public primitives::Lowering {
 public:
  using Scalar = primitives::Scalar;

  DirectLowering(const Graph& graph, const Equation& equation, std::span<const AnyArray> operands)
      : graph_(graph), equation_(equation), operands_(operands) {}

  /// Element number `linear` of the result, by the primitive's lowering rule.
  AnyArray element(size_t result, int64_t linear) {
    values_.clear();
    const Shape& shape = graph_.shape(equation_.result(result));
    std::vector<Scalar> index(shape.size());
    for (size_t d = shape.size(); d-- > 0; linear /= shape[d]) index[d] = Lowering::index(linear % shape[d]);
    const Scalar s = primitives::rules(equation_.id()).lower(*this, equation_, result, index);
    return values_[static_cast<size_t>(s.id)];
  }

  const Graph& graph() const override { return graph_; }

  Scalar operand(size_t i, std::span<const Scalar> index) override {
    const AnyArray& a = operands_[i];
    if (index.size() != a.shape().size()) throw std::logic_error("operand: wrong number of indices");
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      const int64_t k = integer(index[d]);
      if (k < 0 || k >= a.shape()[d]) throw std::logic_error("operand: index out of bounds");
      at = at * a.shape()[d] + k;
    }
    AnyArray element = AnyArray::uninitialized({a.dtype(), {}});
    const size_t width = size_of(a.dtype());
    std::memcpy(element.mutable_data(), static_cast<const char*>(a.data()) + static_cast<size_t>(at) * width, width);
    return add_value(std::move(element));
  }

  Scalar op(PrimitiveId id, DType result, std::span<const Scalar> operands) override {
    std::vector<AnyArray> arrays;
    for (const Scalar s : operands) arrays.push_back(values_[static_cast<size_t>(s.id)]);
    Attributes attributes;
    if (id == primitives::id_of<primitives::Convert> || id == primitives::id_of<primitives::Bitcast>) {
      attributes.set("dtype", result);
    }
    AnyArray value = reference::evaluate_primitive(primitive(id), arrays, attributes)[0];
    if (value.dtype() != result) throw std::logic_error("op: result dtype is not what the typing rule says");
    return add_value(std::move(value));
  }

  Scalar constant(DType dtype, const Literal& value) override {
    return add_value(reference::materialize(value, {dtype, {}}));
  }
  DType dtype(Scalar s) const override { return values_[static_cast<size_t>(s.id)].dtype(); }

  Scalar guarded(Scalar predicate, const std::function<Scalar()>& inside, Scalar otherwise) override {
    if (!*values_[static_cast<size_t>(predicate.id)].data_as<bool>()) return otherwise;
    const Scalar value = inside();
    if (dtype(value) != dtype(otherwise)) throw std::logic_error("guarded: the two sides differ in dtype");
    return value;
  }

  Scalar add(Scalar a, Scalar b) override { return Lowering::index(integer(a) + integer(b)); }
  Scalar sub(Scalar a, Scalar b) override { return Lowering::index(integer(a) - integer(b)); }
  Scalar mul(Scalar a, int64_t b) override { return Lowering::index(integer(a) * b); }
  Scalar div(Scalar a, int64_t b) override { return Lowering::index(not_negative(a, b) / b); }
  Scalar mod(Scalar a, int64_t b) override { return Lowering::index(not_negative(a, b) % b); }

  /// The number of div and mod operations.
  int divisions() const { return divisions_; }

 private:
  int64_t integer(Scalar s) const {
    if (dtype(s) != DType::i64) throw std::logic_error("index: expects i64");
    return *values_[static_cast<size_t>(s.id)].data_as<int64_t>();
  }
  int64_t not_negative(Scalar a, int64_t b) {
    ++divisions_;
    if (integer(a) < 0 || b <= 0) throw std::logic_error("div: expects a >= 0 and b > 0");
    return integer(a);
  }
  Scalar add_value(AnyArray value) {
    values_.push_back(std::move(value));
    return {static_cast<int32_t>(values_.size()) - 1};
  }

  const Graph& graph_;
  const Equation& equation_;
  std::span<const AnyArray> operands_;
  std::vector<AnyArray> values_;
  int divisions_ = 0;
};

}  // namespace calque::test
