#pragma once
// The parts of a line of a conformance file: arrays, literals, parameters. A malformed case throws CaseError and counts
// as failed; it is never skipped.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "calque/detail/axes.h"
#include "calque/detail/operand.h"

namespace calque::cli {

using Json = nlohmann::json;

/// The case violates the format.
struct CaseError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// The case needs a feature that the library does not have.
struct Unsupported : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Whether this is `{"dtype": ..., "shape": ..., "data": ...}`, not a literal.
bool is_array(const Json& argument);
/// Decodes an array from base64 data: little-endian, row-major. Throws Unsupported for an unknown dtype.
AnyArray read_array(const Json& json);
/// `{"int": 3}`, `{"float": "inf"}`, `{"complex": [re, im]}` as weak operands, `{"bool": true}` as a strong one.
detail::Operand read_literal(const Json& json);
/// A number, or "inf", "-inf", "nan".
double read_number(const Json& json);
DType read_dtype(const Json& json);

/// The `params` of a function call. Reading a parameter that is missing or of another type throws CaseError.
class Params {
 public:
  explicit Params(const Json& call) : json_(call.contains("params") ? &call["params"] : nullptr) {}

  bool has(const char* name) const { return json_ && json_->contains(name) && !(*json_)[name].is_null(); }
  const Json& get(const char* name) const;
  int64_t integer(const char* name) const;
  int64_t integer(const char* name, int64_t absent) const { return has(name) ? integer(name) : absent; }
  int axis(const char* name = "axis") const { return static_cast<int>(integer(name)); }
  double number(const char* name) const { return read_number(get(name)); }
  bool flag(const char* name) const;
  std::string text(const char* name) const;
  std::vector<int64_t> integers(const char* name) const;
  std::vector<int> axis_list(const char* name) const;
  /// All of them when absent.
  Axes axes() const { return has("axes") ? Axes(axis_list("axes")) : Axes(); }
  DType dtype() const { return read_dtype(get("dtype")); }
  Shape shape(const char* name = "shape") const { return Shape(integers(name)); }

 private:
  const Json* json_;
};

}  // namespace calque::cli
