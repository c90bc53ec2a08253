#include "calque/conformance/case.h"

#include <array>
#include <cmath>
#include <limits>

namespace calque::cli {
namespace {

/// Decodes into `to`, which must be filled exactly.
void decode_base64(const std::string& text, unsigned char* to, size_t bytes) {
  static const std::array<int8_t, 256> kDigits = [] {
    std::array<int8_t, 256> digits;
    digits.fill(-1);
    const std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < letters.size(); ++i) {
      digits[static_cast<unsigned char>(letters[i])] = static_cast<int8_t>(i);
    }
    return digits;
  }();
  size_t length = text.size();
  while (length > 0 && text[length - 1] == '=') --length;
  if (length * 3 / 4 != bytes) {
    throw CaseError("data: expected " + std::to_string(bytes) + " bytes, got " + std::to_string(length * 3 / 4));
  }
  uint32_t buffer = 0;
  int bits = 0;
  for (size_t i = 0; i < length; ++i) {
    const int8_t digit = kDigits[static_cast<unsigned char>(text[i])];
    if (digit < 0) throw CaseError("data: is not base64");
    buffer = buffer << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    *to++ = static_cast<unsigned char>(buffer >> bits & 0xff);
  }
}

template <class T>
T as(const Json& json, const char* what) {
  try {
    return json.get<T>();
  } catch (const Json::exception&) {
    throw CaseError(std::string(what) + ": cannot be read from " + json.dump());
  }
}

}  // namespace

bool is_array(const Json& argument) { return argument.is_object() && argument.contains("dtype"); }

DType read_dtype(const Json& json) {
  const auto name = as<std::string>(json, "dtype");
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) throw Unsupported("dtype " + name);
  return *dtype;
}

AnyArray read_array(const Json& json) {
  if (!is_array(json) || !json.contains("shape") || !json.contains("data")) {
    throw CaseError("expected an array, got " + json.dump().substr(0, 80));
  }
  const Type type{read_dtype(json["dtype"]), Shape(as<std::vector<int64_t>>(json["shape"], "shape"))};
  AnyArray array = AnyArray::uninitialized(type);
  decode_base64(as<std::string>(json["data"], "data"), static_cast<unsigned char*>(array.mutable_data()),
                array.bytes());
  return array;
}

double read_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto text = as<std::string>(json, "number");
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw CaseError("number: cannot be read from " + json.dump());
}

/// A literal of a C++ type of 32 bits, but with all digits of its value.
template <class T>
detail::Operand literal_of(DType dtype, T value) {
  detail::WeakLiteral literal = detail::literal_operand(value).weak();
  literal.dtype = dtype;
  return detail::Operand(literal);
}

detail::Operand read_literal(const Json& json) {
  if (json.is_object() && json.size() == 1) {
    const Json& value = *json.begin();
    const std::string& kind = json.begin().key();
    if (kind == "bool") return detail::literal_operand(as<bool>(value, "bool"));
    if (kind == "int") {
      if (!value.is_number_integer()) throw CaseError("int: cannot be read from " + value.dump());
      if (value.is_number_unsigned()) return literal_of(DType::i32, value.get<uint64_t>());
      return literal_of(DType::i32, value.get<int64_t>());
    }
    if (kind == "float") return literal_of(DType::f32, read_number(value));
    if (kind == "complex" && value.is_array() && value.size() == 2) {
      return literal_of(DType::c64, std::complex<double>(read_number(value[0]), read_number(value[1])));
    }
  }
  throw CaseError("expected an array or a literal, got " + json.dump().substr(0, 80));
}

const Json& Params::get(const char* name) const {
  if (!has(name)) throw CaseError(std::string("params: ") + name + " is missing");
  return (*json_)[name];
}

int64_t Params::integer(const char* name) const { return as<int64_t>(get(name), name); }
bool Params::flag(const char* name) const { return has(name) && as<bool>(get(name), name); }
std::string Params::text(const char* name) const { return as<std::string>(get(name), name); }
std::vector<int64_t> Params::integers(const char* name) const { return as<std::vector<int64_t>>(get(name), name); }
std::vector<int> Params::axis_list(const char* name) const { return as<std::vector<int>>(get(name), name); }

}  // namespace calque::cli
