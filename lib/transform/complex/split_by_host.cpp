#include "calque/ir/host_function.h"

#include "primitives/list.h"
#include "reference/evaluate.h"
#include "transform/complex/split_complex.h"
#include "transform/complex/split_equations.h"

namespace calque::transform {

using namespace primitives;

namespace {

/// What a complex equation computes on the host, called with joined numbers. The function sees complex arrays over the
/// same memory.
class OnComplexNumbers : public HostFunction {
 public:
  explicit OnComplexNumbers(std::vector<Type> operands) : operands_(std::move(operands)) {}

  std::vector<AnyArray> call(std::span<const AnyArray> joined) const final {
    std::vector<AnyArray> operands;
    for (size_t i = 0; i < operands_.size(); ++i)
      operands.emplace_back(operands_[i], joined[i].storage(), joined[i].device());
    std::vector<AnyArray> results = compute(operands);
    for (AnyArray& result : results) result = AnyArray(joined_type(result.type()), result.storage(), result.device());
    return results;
  }

 protected:
  virtual std::vector<AnyArray> compute(std::span<const AnyArray> operands) const = 0;

 private:
  std::vector<Type> operands_;
};

/// The function of a host_call.
class UserFunction final : public OnComplexNumbers {
 public:
  UserFunction(std::vector<Type> operands, std::vector<Type> results, std::shared_ptr<const Opaque> function)
      : OnComplexNumbers(std::move(operands)), results_(std::move(results)), function_(std::move(function)) {}
  std::string label() const override { return function_->label(); }

 private:
  std::vector<AnyArray> compute(std::span<const AnyArray> operands) const override {
    return call_host_function(*function_, operands, results_);
  }
  std::vector<Type> results_;
  std::shared_ptr<const Opaque> function_;
};

/// Any other equation, evaluated by the reference evaluator.
class EvaluatedEquation final : public OnComplexNumbers {
 public:
  EvaluatedEquation(std::vector<Type> operands, const Equation& e)
      : OnComplexNumbers(std::move(operands)),
        primitive_(e.definition()),
        attributes_(e.attributes()),
        subgraphs_(e.subgraphs()) {}
  std::string label() const override { return primitive_.name; }
  std::string_view primitive() const { return primitive_.name; }

 private:
  std::vector<AnyArray> compute(std::span<const AnyArray> operands) const override {
    return reference::evaluate_primitive(primitive_, operands, attributes_, subgraphs_);
  }
  const Primitive& primitive_;
  Attributes attributes_;
  std::vector<Graph> subgraphs_;
};

}  // namespace

std::string_view evaluated_primitive(const Opaque& function) {
  const auto* evaluated = dynamic_cast<const EvaluatedEquation*>(&function);
  return evaluated == nullptr ? std::string_view() : evaluated->primitive();
}

void split_by_host(const ComplexEquation& s) {
  std::vector<Type> types, results, joined_results;
  ValueList operands;
  for (size_t i = 0; i < s.e.operands().size(); ++i) {
    types.push_back(s.type(i));
    operands.push_back(s.is_complex(i) ? s.joined(i) : s.real(i));
  }
  for (const Value v : s.e.results()) {
    results.push_back(s.values.from().type(v));
    joined_results.push_back(joined_type(results.back()));
  }
  std::shared_ptr<const Opaque> function;
  if (s.e.id() == id_of<HostCall>)
    function = std::make_shared<UserFunction>(std::move(types), std::move(results),
                                              s.e.attributes().get<std::shared_ptr<const Opaque>>("function"));
  else
    function = std::make_shared<EvaluatedEquation>(std::move(types), s.e);
  const Equation& call = s.w.append(id_of<HostCall>, std::move(operands),
                                    {{"function", std::move(function)}, {"results", std::move(joined_results)}});
  for (size_t i = 0; i < s.e.results().size(); ++i) {
    const Value v = s.e.result(i);
    s.values.is_complex(v) ? s.values.set_joined(v, call.result(i)) : s.values.set_real(v, call.result(i));
  }
}

}  // namespace calque::transform
