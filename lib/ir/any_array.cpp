// Arrays print as NumPy prints them; what is long is summarised, so that printing never takes long.
#include "calque/ir/any_array.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace calque {
namespace {

constexpr int64_t kSummaryThreshold = 1000;
constexpr int64_t kEdge = 3;

std::string real_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 40> buffer;
  const double magnitude = std::abs(value);
  const bool scientific = magnitude != 0 && (magnitude >= 1e16 || magnitude < 1e-4);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::general;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, scientific ? digits - 1 : digits).ptr;
  std::string text(buffer.data(), end);
  const size_t exponent = text.find('e');
  std::string tail;
  if (exponent != std::string::npos) {
    tail = text.substr(exponent);
    text.resize(exponent);
  }
  if (text.find('.') == std::string::npos) {
    text += '.';
  } else {
    while (text.back() == '0') text.pop_back();
  }
  return text + tail;
}

template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (is_complex(dtype_of<T>)) {
    std::string imaginary = real_text(static_cast<double>(value.imag()), 8);
    if (imaginary.front() != '-') imaginary.insert(imaginary.begin(), '+');
    return real_text(static_cast<double>(value.real()), 8) + imaginary + "j";
  } else if constexpr (sizeof(T) == 2) {
    return real_text(static_cast<float>(value), std::is_same_v<T, float16> ? 4 : 3);
  } else {
    return real_text(static_cast<double>(value), 8);
  }
}

class Printer {
 public:
  Printer(std::ostream& out, const AnyArray& array)
      : out_(out),
        array_(array),
        strides_(row_major_strides(array.shape())),
        summary_(array.size() > kSummaryThreshold) {}

  void print() {
    if (array_.rank() == 0) {
      out_ << text(0);
      return;
    }
    widen(0, 0);
    dimension(0, 0);
  }

 private:
  std::string text(int64_t at) const {
    return visit_dtype(array_.dtype(), [&]<class T>() { return element_text(array_.data_as<T>()[at]); });
  }

  /// Calls `f(i)` for the indices of a dimension that are shown, and with -1 for those left out.
  template <class F>
  void shown(size_t axis, F&& f) const {
    const int64_t n = array_.shape()[axis];
    const bool cut = summary_ && n > 2 * kEdge;
    for (int64_t i = 0; i < n; ++i) {
      if (cut && i == kEdge) {
        f(int64_t{-1});
        i = n - kEdge;
      }
      f(i);
    }
  }

  void widen(size_t axis, int64_t offset) {
    shown(axis, [&](int64_t i) {
      if (i < 0) return;
      const int64_t at = offset + i * strides_[axis];
      if (axis + 1 == array_.shape().size()) {
        width_ = std::max(width_, text(at).size());
      } else {
        widen(axis + 1, at);
      }
    });
  }

  void dimension(size_t axis, int64_t offset) {
    const size_t rank = array_.shape().size();
    const bool innermost = axis + 1 == rank;
    out_ << '[';
    bool first = true;
    shown(axis, [&](int64_t i) {
      if (!first) {
        if (innermost) {
          out_ << ' ';
        } else {
          out_ << std::string(rank - axis - 1, '\n') << std::string(axis + 1, ' ');
        }
      }
      first = false;
      if (i < 0) {
        out_ << "...";
      } else if (innermost) {
        const std::string t = text(offset + i * strides_[axis]);
        out_ << std::string(width_ - t.size(), ' ') << t;
      } else {
        dimension(axis + 1, offset + i * strides_[axis]);
      }
    });
    out_ << ']';
  }

  std::ostream& out_;
  const AnyArray& array_;
  Shape::Dims strides_;
  bool summary_;
  size_t width_ = 0;
};

}  // namespace

std::string to_string(const Device& device) {
  switch (device.kind) {
    case Device::Kind::cpu:
      return "cpu";
    case Device::Kind::gpu:
      return "gpu:" + std::to_string(device.index);
    case Device::Kind::gpu_sim:
      return "gpu_sim";
  }
  return {};
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << to_string(device); }

AnyArray AnyArray::uninitialized(const Type& type) {
  return AnyArray(type,
                  detail::Storage::allocate(static_cast<size_t>(type.shape.num_elements()) * size_of(type.dtype)));
}

std::ostream& operator<<(std::ostream& out, const AnyArray& array) {
  if (array.empty()) return out << "<empty>";
  if (!array.has_data()) return out << "<" << array.type() << " without data>";
  if (array.size() == 0) return out << "[]";
  Printer(out, array).print();
  return out;
}

bool identical(const AnyArray& a, const AnyArray& b) {
  if (a.type() != b.type() || a.empty() != b.empty()) return false;
  if (a.empty() || a.storage() == b.storage()) return true;
  if (!a.has_data() || !b.has_data()) return a.storage().content_hash(a.bytes()) == b.storage().content_hash(b.bytes());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace calque
