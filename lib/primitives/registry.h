#pragma once
// The rules of primitives as a table by id, built from the structs, for passes that are generic over primitives.
#include <optional>

#include "calque/ir/graph.h"

#include "primitives/core/rule.h"
#include "primitives/list.h"

namespace calque::primitives {

/// The rules of one primitive, in addition to `Primitive`.
struct Rules {
  /// How the equation is lowered, by the dtype of its first operand (of its result where there is none).
  LowerKind (*kind)(DType dtype) = nullptr;
  /// Emits one element of a result at `index`. Null unless the kind is elementwise or mapped.
  Scalar (*lower)(Lowering& lowering, const Equation& equation, size_t result, std::span<const Scalar> index) = nullptr;
  /// Emits an elementwise primitive composed of others. Null unless the primitive defines `compose`.
  Scalar (*compose)(Lowering& lowering, std::span<const Scalar> operands) = nullptr;
  ScalarOp scalar_op = ScalarOp::unsupported;
  std::string_view intrinsic;  ///< of ScalarOp::intrinsic
  FusionKind fusion_kind = FusionKind::elementwise;
  std::optional<Anchor> anchor;
  std::optional<Routine> routine;
  uint32_t (*routine_flags)(const Attributes&) = nullptr;  ///< null: there are none
  std::optional<Combiner> combiner;
  int update_operand = -1;  ///< -1: the result is a new array
  bool always_reads = false;
  DefinedBits defined_bits = DefinedBits::never;
  void (*evaluate)(Evaluation& evaluation) = nullptr;
  /// Null if the derivative is zero, or if `no_jvp` states why there is none.
  void (*jvp)(Jvp& jvp) = nullptr;
  std::string_view no_jvp;
  bool jvp_computes_results = false;
  /// Null if `no_transpose` states why there is none.
  void (*transpose)(Transposition& transposition) = nullptr;
  std::string_view no_transpose;
  void (*batch)(Batching& batching) = nullptr;
  std::span<const AttributeSpec> attributes;
};

/// The rules of the primitive with that id.
const Rules& rules(PrimitiveId id);

/// The primitive that names this operation.
PrimitiveId primitive_of(ScalarOp op);

/// How an equation of this graph is lowered.
LowerKind lower_kind(const Graph& graph, const Equation& equation);

/// The table entry of one primitive, filled in by the source file of its family.
struct Registration {
  Primitive* primitive;
  Rules* rules;
};

/// Fills in the entries of the primitives in a family's list. Instantiated by the family's source file
/// (registration.h), where the definitions of its rules are.
template <class Family>
void register_family(std::span<const Registration> table);

}  // namespace calque::primitives
