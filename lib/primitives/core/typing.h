#pragma once
// What a typing rule works with: operands, attributes, and errors that begin with the primitive's name. Rules see
// anything that a text may say, so every number is checked before it is computed with.
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

/// `bool or integer`, `f32 or f64`: how messages name a set.
std::string describe(DTypeSet set);

/// True when the extents (zeros counted as ones) multiply to at most 2^56, so that no index computation overflows.
bool indexable(const Shape& shape);

/// The view that a typing rule has of the equation.
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

  /// Adds a result. Throws ShapeError when an extent is negative or the array could not be indexed.
  void result(DType dtype, std::span<const int64_t> dims);
  void result(const Type& type);

  /// Each throws `name: text`.
  [[noreturn]] void shape_error(const std::string& text) const;
  [[noreturn]] void dtype_error(const std::string& text) const;
  [[noreturn]] void rule_error(const std::string& text) const;

  /// Operand i has a dtype of the set.
  void accept(size_t i, DTypeSet set) const;
  /// Operands [first, end) have equal dtypes.
  void same_dtype(size_t first = 0) const;
  /// Operands [first, end) have equal shapes.
  void same_shape(size_t first = 0) const;
  void rank_is(size_t i, int rank, std::string_view what) const;
  /// 0 <= axis < rank.
  void check_axis(std::string_view what, int64_t axis, int rank) const;
  /// All in [0, rank) and different; strictly increasing when `sorted`.
  void check_axes(std::string_view what, std::span<const int64_t> axes, int rank, bool sorted) const;
  /// The list has one entry for each of `count` dimensions.
  void check_length(std::string_view what, std::span<const int64_t> list, size_t count) const;
  /// `got` equals `want`, for sub-graphs: throws `name: what changes type, f32[3] in and f64[3] out` alike messages.
  void match(const std::string& what, std::span<const Type> want, std::span<const Type> got) const;

 private:
  std::string_view name_;
  const TypingInput& input_;
  std::vector<Type>& results_;
};

/// Operands of one dtype from the set and one shape; the result has dtype `result(dtype)`.
void infer_elementwise(Typing& t, DTypeSet accepted, DType (*result)(DType));

/// True when `axis` is in the list.
bool has_axis(std::span<const int64_t> axes, int64_t axis);

/// `[1,2]`.
std::string to_text(std::span<const int64_t> list);

}  // namespace calque::primitives
