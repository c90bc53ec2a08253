#pragma once
// What the graph itself must know of a primitive: its name, arity, effect and typing rule. The whole definition
// (evaluation, derivatives, batching, lowering) is the struct under lib/primitives that this descriptor is made from.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/attribute.h"
#include "calque/ir/shape.h"

namespace calque {

class Graph;

/// Position of a primitive in the registry. Not stable between versions: texts and caches use the name.
using PrimitiveId = uint16_t;

/// What a typing rule sees.
struct TypingInput {
  std::span<const Type* const> operands;
  const Attributes& attributes;
  std::span<const Graph> subgraphs;
};

struct Primitive {
  std::string name;
  PrimitiveId id = 0;
  std::string_view doc;
  int min_operands = 0;
  int max_operands = 0;  ///< -1: any number
  int min_subgraphs = 0;
  int max_subgraphs = 0;  ///< -1: any number
  /// Runs for its effect: kept though unused, never reordered against other effects.
  bool has_effect = false;
  /// Appends the result types. Throws ShapeError, DTypeError or CompileError whose message starts with the
  /// primitive's name and has no location; the builder appends the user's.
  void (*infer)(const TypingInput& input, std::vector<Type>& results) = nullptr;
};

/// The primitive of that name, or null.
const Primitive* find_primitive(std::string_view name);
/// By position in the registry.
const Primitive& primitive(PrimitiveId id);
/// How many there are.
size_t num_primitives();

}  // namespace calque
