#include "math/cost.h"

#include <vector>

#include "math/counting_backend.h"
#include "math/elementary/integer_power.h"
#include "math/functions.h"

namespace calque::math {

namespace {

template <class Function>
FunctionCost counted(Function function) {
  CountingBackend::counts = {};
  function();
  const OperationCounts& c = CountingBackend::counts;
  return {c.common, c.bytes, c.cold, c.loops != 0};
}

template <class T>
std::vector<FunctionCost> cost_table() {
  using F = Lane<T, CountingBackend>;
  std::vector<FunctionCost> table(num_primitives());
  for (size_t id = 0; id < table.size(); ++id)
    if (primitives::rules(static_cast<PrimitiveId>(id)).kind(dtype_of<T>) == primitives::LowerKind::function)
      table[id] = counted([&] { function_of(static_cast<PrimitiveId>(id), F(1), F(1)); });
  // Processors have an estimate instruction as fast as a division.
  if (sizeof(T) == 4) table[primitives::id_of<primitives::Rsqrt>].operations = 1;
  return table;
}

FunctionCost cost_of_integer_power(DType dtype) {
  using I = Lane<int64_t, CountingBackend>;
  FunctionCost cost = counted([] { integer_power(I(1), I(1)); });
  cost.bytes = static_cast<int>(size_of(dtype));
  return cost;
}

}  // namespace

FunctionCost cost_of(PrimitiveId id, DType dtype) {
  // Never destroyed: functions may be compiled during static destruction.
  static const auto& singles = *new std::vector<FunctionCost>(cost_table<float>());
  static const auto& doubles = *new std::vector<FunctionCost>(cost_table<double>());
  using primitives::id_of;
  if (id == id_of<primitives::RandomBits32>) return {.operations = primitives::Threefry::kOperations, .bytes = 4};
  if (id == id_of<primitives::RandomBits64>) return {.operations = primitives::Threefry::kOperations, .bytes = 8};
  if (is_floating(dtype)) return (dtype == DType::f64 ? doubles : singles)[id];
  return id == id_of<primitives::Pow> && is_integer(dtype) ? cost_of_integer_power(dtype) : FunctionCost{};
}

}  // namespace calque::math
