#pragma once
// The part of a primitive that the graph depends on: name, arity, effect and typing rule. The full definition
// (evaluation, derivatives, batching, lowering) is the struct under lib/primitives from which the descriptor is built.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/attribute.h"
#include "calque/ir/shape.h"

namespace calque {

class Graph;

/// Index of a primitive in the registry. Not stable between versions: texts and caches use the name.
using PrimitiveId = uint16_t;

/// The input of a typing rule.
struct TypingInput {
  std::span<const Type* const> operands;
  const Attributes& attributes;
  std::span<const Graph> subgraphs;
};

/// The descriptor of a primitive.
struct Primitive {
  std::string name;
  PrimitiveId id = 0;
  std::string_view doc;  ///< one sentence that defines it
  int min_operands = 0;
  int max_operands = 0;  ///< -1: any number
  int min_subgraphs = 0;
  int max_subgraphs = 0;  ///< -1: any number
  /// Has a side effect: never removed as dead, never reordered with other effects.
  bool has_effect = false;
  /// Appends the result types. Throws ShapeError, DTypeError or CompileError; the message starts with the primitive's
  /// name and has no location, which the builder appends.
  void (*infer)(const TypingInput& input, std::vector<Type>& results) = nullptr;
};

/// The primitive of that name, or null.
const Primitive* find_primitive(std::string_view name);
/// The primitive with that id.
const Primitive& primitive(PrimitiveId id);
/// Number of registered primitives.
size_t num_primitives();

}  // namespace calque
