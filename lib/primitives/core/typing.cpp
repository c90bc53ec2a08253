#include "primitives/core/typing.h"

#include <algorithm>

#include <fmt/format.h>

#include "calque/ir/graph.h"

namespace calque::primitives {

std::string describe(DTypeSet set) {
  struct NamedSet {
    DTypeSet set;
    const char* name;
  };
  static constexpr NamedSet kNamedSets[] = {{kBool, "bool"},         {kInteger, "integer"}, {kSigned, "signed integer"},
                                            {kUnsigned, "unsigned"}, {kFloat, "float"},     {kComplex, "complex"}};
  std::vector<std::string> words;
  for (const NamedSet& g : kNamedSets) {
    if ((set & g.set) == g.set) {
      words.emplace_back(g.name);
      set = static_cast<DTypeSet>(set & ~g.set);
    }
  }
  for (int i = 0; i < kDTypeCount; ++i) {
    if (contains(set, static_cast<DType>(i))) words.emplace_back(calque::name(static_cast<DType>(i)));
  }
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

bool indexable(const Shape& shape) {
  constexpr int64_t kLimit = int64_t{1} << 56;
  int64_t product = 1;
  for (int64_t d : shape) {
    if (d < 0) return false;
    if (__builtin_mul_overflow(product, std::max<int64_t>(d, 1), &product) || product > kLimit) return false;
  }
  return true;
}

void Typing::result(DType dtype, std::span<const int64_t> dims) {
  for (int64_t d : dims) {
    if (d < 0) shape_error(fmt::format("expects extents that are not negative, got {}", to_text(dims)));
  }
  result(Type{dtype, Shape(dims)});
}

void Typing::result(const Type& type) {
  if (!indexable(type.shape)) shape_error(fmt::format("the result {} has too many elements", to_string(type)));
  results_.push_back(type);
}

void Typing::shape_error(const std::string& text) const { throw ShapeError(fmt::format("{}: {}", name_, text)); }
void Typing::dtype_error(const std::string& text) const { throw DTypeError(fmt::format("{}: {}", name_, text)); }
void Typing::rule_error(const std::string& text) const { throw CompileError(fmt::format("{}: {}", name_, text)); }

void Typing::accept(size_t i, DTypeSet set) const {
  if (!contains(set, operand(i).dtype)) {
    dtype_error(fmt::format("expects {}, got {}", describe(set), to_string(operand(i))));
  }
}

void Typing::same_dtype(size_t first) const {
  for (size_t i = first + 1; i < num_operands(); ++i) {
    if (operand(i).dtype != operand(first).dtype) {
      dtype_error(
          fmt::format("operands differ in dtype, got {} and {}", to_string(operand(first)), to_string(operand(i))));
    }
  }
}

void Typing::same_shape(size_t first) const {
  for (size_t i = first + 1; i < num_operands(); ++i) {
    if (operand(i).shape != operand(first).shape) {
      shape_error(
          fmt::format("operands differ in shape, got {} and {}", to_string(operand(first)), to_string(operand(i))));
    }
  }
}

void Typing::rank_is(size_t i, int rank, std::string_view what) const {
  if (operand(i).shape.rank() != rank) {
    shape_error(fmt::format("expects {} of rank {}, got {}", what, rank, to_string(operand(i))));
  }
}

void Typing::check_axis(std::string_view what, int64_t axis, int rank) const {
  if (axis < 0 || axis >= rank) shape_error(fmt::format("{} {} is out of range for rank {}", what, axis, rank));
}

void Typing::check_axes(std::string_view what, std::span<const int64_t> axes, int rank, bool sorted) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank) {
      shape_error(fmt::format("{} {}: {} is out of range for rank {}", what, to_text(axes), axes[i], rank));
    }
    // All are in range, so at most `rank` distinct ones can pass: the quadratic search is short.
    if (has_axis(axes.first(i), axes[i])) {
      shape_error(fmt::format("{} {}: {} occurs twice", what, to_text(axes), axes[i]));
    }
    if (sorted && i != 0 && axes[i] < axes[i - 1]) {
      shape_error(fmt::format("expects sorted {}, got {}", what, to_text(axes)));
    }
  }
}

void Typing::check_length(std::string_view what, std::span<const int64_t> list, size_t count) const {
  if (list.size() != count) {
    shape_error(fmt::format("expects {} entries of {}, got {}", count, what, to_text(list)));
  }
}

void Typing::match(const std::string& what, std::span<const Type> want, std::span<const Type> got) const {
  if (want.size() != got.size()) {
    rule_error(fmt::format("{}: expects {} values, got {}", what, want.size(), got.size()));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (want[i] == got[i]) continue;
    const std::string text = fmt::format("{} {}: expects {}, got {}", what, i, to_string(want[i]), to_string(got[i]));
    if (want[i].dtype != got[i].dtype) dtype_error(text);
    shape_error(text);
  }
}

void infer_elementwise(Typing& t, DTypeSet accepted, DType (*result)(DType)) {
  t.accept(0, accepted);
  for (size_t i = 1; i < t.num_operands(); ++i) {
    if (t.operand(i) == t.operand(0)) continue;
    t.same_dtype();
    t.same_shape();
  }
  t.result(Type{result(t.operand(0).dtype), t.operand(0).shape});
}

bool has_axis(std::span<const int64_t> axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::string to_text(std::span<const int64_t> list) { return fmt::format("[{}]", fmt::join(list, ",")); }

}  // namespace calque::primitives
