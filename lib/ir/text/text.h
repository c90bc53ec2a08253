#pragma once
// Spelling of the leaves of the text form. Everything appended here is parsed back to the same bits.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "calque/ir/attribute.h"
#include "calque/ir/dtype.h"
#include "calque/ir/location.h"
#include "calque/ir/shape.h"

namespace calque::text {

void append_int(std::string& out, int64_t value);
void append_shape(std::string& out, const Shape& shape);
void append_type(std::string& out, const Type& type);
/// `"a\n\"b\""`: quotes, backslashes and bytes outside printable ASCII are escaped.
void append_quoted(std::string& out, std::string_view text);
/// Whether this is how a text begins, after white space and comments. Not by tokens: what is not a token is for the
/// parser to report.
bool begins_with(std::string_view text, std::string_view word);
/// An identifier unchanged, anything else quoted.
void append_name(std::string& out, std::string_view name);
/// The shortest decimal that reads back as the same bits, always with a point or an exponent: `3.0`, `1e+20`.
void append_float(std::string& out, double value);
/// The element of `dtype` at `bits`: `true`, `-3`, `0.5`, `-0`, `inf`, `nan`, `nan(0x7fc00001)`, `(1,-2)`.
void append_element(std::string& out, DType dtype, const void* bits);
void append_attribute(std::string& out, const AttributeValue& value);
/// `loc("file":line:column)`.
void append_location(std::string& out, const Location& location);
void append_base64(std::string& out, const void* data, size_t bytes);

/// Letters, digits, `_` and `.`, not starting with a digit or a point.
bool is_identifier(std::string_view text);

/// Stores the real number `token` (as append_element spells it, or any decimal or hexadecimal float) at `bits`. Returns
/// false when it is not a number of this dtype or out of its range. `dtype` must not be complex.
bool read_element(std::string_view token, DType dtype, void* bits);
/// The bytes of a base64 text, or nullopt when it is malformed.
std::optional<std::string> read_base64(std::string_view text);

/// The largest size of a value in bytes: up to it, sizes and offsets never overflow 64 bits.
inline constexpr int64_t kMaxBytes = int64_t{1} << 47;
/// Whether the product of the extents, zeros left out, times the element's size is at most kMaxBytes.
bool addressable(const Type& type);

}  // namespace calque::text
