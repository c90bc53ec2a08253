// The names of the element types occur in texts, messages and caches: they must never change.
#include "calque/ir/dtype.h"

#include <array>
#include <ostream>

namespace calque {
namespace {

constexpr std::array<std::string_view, kDTypeCount> kNames = {"bool", "i8",  "i16",  "i32", "i64", "u8",  "u16", "u32",
                                                              "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};

}  // namespace

std::string_view name(DType d) { return kNames[static_cast<size_t>(d)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::ostream& operator<<(std::ostream& out, DType d) { return out << name(d); }

}  // namespace calque
