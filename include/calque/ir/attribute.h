#pragma once
// Attributes are the static parameters of an equation: named, typed values, kept sorted by name so that printing,
// hashing and comparing are one pass.
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "calque/ir/dtype.h"
#include "calque/ir/shape.h"

namespace calque {

/// A C++ object that the text form cannot represent (a host function). Compared by identity; prints as `<label>`;
/// parsing yields an UnboundOpaque, which cannot run.
class Opaque {
 public:
  virtual ~Opaque() = default;
  /// The name under which it prints.
  virtual std::string label() const = 0;
  /// A number unique among all opaques of this process, past ones included: the key for hashes and caches.
  uint64_t identity() const { return identity_; }

 protected:
  Opaque() : identity_(next_identity()) {}
  Opaque(const Opaque&) : identity_(next_identity()) {}
  Opaque& operator=(const Opaque&) { return *this; }

 private:
  static uint64_t next_identity();
  uint64_t identity_;
};

/// The object that `parse` creates for `<label>`. It prints as in the text; evaluating or compiling it is an error.
class UnboundOpaque final : public Opaque {
 public:
  explicit UnboundOpaque(std::string label) : label_(std::move(label)) {}
  /// The label in the text.
  std::string label() const override { return label_; }

 private:
  std::string label_;
};

/// The value of an attribute: bool `true`, integer `3`, float `0.5`, string `"x"`, dtype `f32`, integer list `[1,2]`,
/// type list `(f32[2], i32[])`, opaque `<label>`.
using AttributeValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<Type>,
                                    std::shared_ptr<const Opaque>>;

/// The value as the text form spells it.
std::string to_string(const AttributeValue& value);
/// Prints as `to_string`.
std::ostream& operator<<(std::ostream& out, const AttributeValue& value);

/// A copy of `text` that lives as long as the program; equal texts return the same data pointer. Thread-safe.
std::string_view intern(std::string_view text);

/// One named parameter.
struct Attribute {
  std::string_view name;  ///< a string literal, or interned
  AttributeValue value;
};

/// The parameters of an equation, sorted by name.
class Attributes {
 public:
  Attributes() = default;
  /// The items in any order; of two with one name the later one wins.
  Attributes(std::initializer_list<Attribute> items);

  /// Adds an attribute or replaces its value. `name` must be a string literal or interned.
  void set(std::string_view name, AttributeValue value);
  /// The value of the attribute, or null.
  const AttributeValue* find(std::string_view name) const;
  /// True when there is an attribute of that name.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The value of attribute `name`, of type T. Throws CompileError that names it when it is missing or of another type.
  template <class T>
  const T& get(std::string_view name) const {
    const AttributeValue* v = find(name);
    if (!v || !std::holds_alternative<T>(*v)) missing(name);
    return std::get<T>(*v);
  }
  /// `get` for integer lists.
  const std::vector<int64_t>& ints(std::string_view name) const { return get<std::vector<int64_t>>(name); }
  /// `get` for integers.
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }

  /// True without attributes.
  bool empty() const { return items_.empty(); }
  /// Number of attributes.
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  /// Equal names and values; floats compare by bits.
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  [[noreturn]] static void missing(std::string_view name);
  std::vector<Attribute> items_;
};

}  // namespace calque
