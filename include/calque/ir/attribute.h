#pragma once
// Attributes are the static parameters of an equation: typed values under names, kept sorted by name so that
// printing, hashing and equality need no more than a walk.
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

/// An object that only C++ knows (a host function). Compared by identity; prints as `<label>`; a text gives back an
/// UnboundOpaque, which cannot run.
class Opaque {
 public:
  virtual ~Opaque() = default;
  virtual std::string label() const = 0;
  /// A number that no other opaque of this process has, or had: what hashes and caches may keep.
  uint64_t identity() const { return identity_; }

 protected:
  Opaque() : identity_(next_identity()) {}
  Opaque(const Opaque&) : identity_(next_identity()) {}
  Opaque& operator=(const Opaque&) { return *this; }

 private:
  static uint64_t next_identity();
  uint64_t identity_;
};

/// What `parse` makes of `<label>`: it prints as the text had it, and evaluating or compiling it is an error.
class UnboundOpaque final : public Opaque {
 public:
  explicit UnboundOpaque(std::string label) : label_(std::move(label)) {}
  std::string label() const override { return label_; }

 private:
  std::string label_;
};

/// bool `true`, integer `3`, float `0.5`, string `"x"`, dtype `f32`, integer list `[1,2]`, type list `(f32[2], i32[])`,
/// opaque `<label>`.
using AttributeValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<Type>,
                                    std::shared_ptr<const Opaque>>;

std::string to_string(const AttributeValue& value);
std::ostream& operator<<(std::ostream& out, const AttributeValue& value);

/// A copy of `text` that lives as long as the program; equal texts give the same data pointer. Thread-safe.
std::string_view intern(std::string_view text);

/// One named parameter.
struct Attribute {
  std::string_view name;  // a literal or interned
  AttributeValue value;
};

/// The parameters of an equation, sorted by name.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<Attribute> items);

  /// Adds or replaces.
  void set(std::string_view name, AttributeValue value);
  const AttributeValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// The parameter `name` of type T. Throws CompileError that names it when it is missing or of another type.
  template <class T>
  const T& get(std::string_view name) const {
    const AttributeValue* v = find(name);
    if (!v || !std::holds_alternative<T>(*v)) missing(name);
    return std::get<T>(*v);
  }
  const std::vector<int64_t>& ints(std::string_view name) const { return get<std::vector<int64_t>>(name); }
  int64_t integer(std::string_view name) const { return get<int64_t>(name); }

  bool empty() const { return items_.empty(); }
  size_t size() const { return items_.size(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  friend bool operator==(const Attributes& a, const Attributes& b);

 private:
  [[noreturn]] static void missing(std::string_view name);
  std::vector<Attribute> items_;
};

}  // namespace calque
