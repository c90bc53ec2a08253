#pragma once
// The context of typing rules: operands, attributes, and errors that start with the primitive's name. Graphs may come
// from untrusted texts, so rules must check every number before using it.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calque/ir/errors.h"
#include "calque/ir/primitive.h"
#include "calque/ir/shape.h"

namespace calque::primitives {

/// A set of element types.
using DTypeSet = uint16_t;
constexpr DTypeSet set_of(DType d) { return static_cast<DTypeSet>(1u << static_cast<int>(d)); }
constexpr bool contains(DTypeSet set, DType d) { return (set & set_of(d)) != 0; }

inline constexpr DTypeSet kBool = set_of(DType::bool_);
inline constexpr DTypeSet kSigned = set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);
inline constexpr DTypeSet kUnsigned = set_of(DType::u8) | set_of(DType::u16) | set_of(DType::u32) | set_of(DType::u64);
inline constexpr DTypeSet kInteger = kSigned | kUnsigned;
inline constexpr DTypeSet kFloat = set_of(DType::f16) | set_of(DType::bf16) | set_of(DType::f32) | set_of(DType::f64);
inline constexpr DTypeSet kComplex = set_of(DType::c64) | set_of(DType::c128);
inline constexpr DTypeSet kReal = kInteger | kFloat;
inline constexpr DTypeSet kNumber = kReal | kComplex;
inline constexpr DTypeSet kAny = kNumber | kBool;

/// The name of a set in messages: `bool or integer`, `f32 or f64`.
std::string describe(DTypeSet set);

/// True when the extents (zeros counted as ones) multiply to at most 2^56, so that no index computation overflows.
bool indexable(const Shape& shape);

/// The equation as seen by a typing rule.
class Typing {
 public:
  Typing(std::string_view name, const TypingInput& input, std::vector<Type>& results)
      : name_(name), input_(input), results_(results) {}

  std::string_view name() const { return name_; }
  size_t num_operands() const { return input_.operands.size(); }
  const Type& operand(size_t i) const { return *input_.operands[i]; }
  const Attributes& attributes() const { return input_.attributes; }
  const std::vector<int64_t>& ints(std::string_view attribute) const { return input_.attributes.ints(attribute); }
  int64_t integer(std::string_view attribute) const { return input_.attributes.integer(attribute); }
  std::span<const Graph> subgraphs() const { return input_.subgraphs; }

  /// Appends a result type. Throws ShapeError when an extent is negative or the shape is not indexable.
  void result(DType dtype, std::span<const int64_t> dims);
  void result(const Type& type);

  /// Throw an error with the message `name: text`.
  [[noreturn]] void shape_error(const std::string& text) const;
  [[noreturn]] void dtype_error(const std::string& text) const;
  [[noreturn]] void rule_error(const std::string& text) const;

  /// Checks that operand i has a dtype in the set.
  void accept(size_t i, DTypeSet set) const;
  /// Checks that the operands from `first` on have equal dtypes.
  void same_dtype(size_t first = 0) const;
  /// Checks that the operands from `first` on have equal shapes.
  void same_shape(size_t first = 0) const;
  void rank_is(size_t i, int rank, std::string_view what) const;
  /// Checks 0 <= axis < rank.
  void check_axis(std::string_view what, int64_t axis, int rank) const;
  /// Checks that the axes are distinct and in [0, rank), and strictly increasing when `sorted`.
  void check_axes(std::string_view what, std::span<const int64_t> axes, int rank, bool sorted) const;
  /// Checks that the list has `count` entries, one per dimension.
  void check_length(std::string_view what, std::span<const int64_t> list, size_t count) const;
  /// Checks `got` == `want` for signatures of sub-graphs; the message names `what` and the first difference.
  void match(const std::string& what, std::span<const Type> want, std::span<const Type> got) const;

 private:
  std::string_view name_;
  const TypingInput& input_;
  std::vector<Type>& results_;
};

/// The typing rule of elementwise primitives: operands of one dtype in the set and one shape, result dtype
/// `result(dtype)`.
void infer_elementwise(Typing& t, DTypeSet accepted, DType (*result)(DType));

/// True when `axis` is in the list.
bool has_axis(std::span<const int64_t> axes, int64_t axis);

/// `[1,2]`.
std::string to_text(std::span<const int64_t> list);

}  // namespace calque::primitives
