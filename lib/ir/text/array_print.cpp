// Arrays print as in NumPy. Long arrays are summarized, so that the time to print is bounded.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>

#include "calque/ir/any_array.h"

#include "ir/text/text.h"

namespace calque {
namespace {

constexpr int64_t kSummaryThreshold = 1000;
constexpr int64_t kEdge = 3;

constexpr int kDigits = 8;
constexpr size_t kLine = 75;

/// The double whose decimals are the shortest spelling of a narrower float: 0.1f becomes 0.1.
template <class T>
double shortest(T value) {
  std::string text;
  text::append_element(text, dtype_of<T>, &value);
  double read = static_cast<double>(static_cast<float>(value));
  std::from_chars(text.data(), text.data() + text.size(), read);
  return read;
}

double shortest(double value) { return value; }
double shortest(float value) { return std::isfinite(value) ? shortest<float>(value) : static_cast<double>(value); }

/// The format of the real numbers of one array: all fixed or all with exponents, decimal points aligned.
class RealFormat {
 public:
  explicit RealFormat(bool always_sign = false) : always_sign_(always_sign) {}

  /// Called for every number before the first is written.
  void see(double value) {
    const double magnitude = std::abs(value);
    if (!std::isfinite(value) || magnitude == 0) return;
    least_ = std::min(least_, magnitude);
    greatest_ = std::max(greatest_, magnitude);
  }
  void measure(double value) {
    const std::string text = digits(value);
    const size_t point = text.find('.');
    if (point == std::string::npos) {
      width_ = std::max(width_, text.size());
      return;
    }
    before_ = std::max(before_, point);
    after_ = std::max(after_, text.find('e') == std::string::npos ? text.size() - point : text.find('e') - point);
    if (exponential()) exponent_ = std::max(exponent_, text.size() - text.find('e'));
  }

  std::string text(double value, std::string_view unit = {}) const {
    std::string out = digits(value);
    const size_t width = std::max(width_, before_ + after_ + exponent_);
    const size_t point = out.find('.');
    if (point == std::string::npos) return std::string(width - out.size(), ' ') + out + std::string(unit);
    if (exponential()) {
      const size_t e = out.find('e');
      out.insert(e + 2, exponent_ - (out.size() - e), '0');  // behind its sign
      out.insert(e, after_ - (e - point), '0');
      return std::string(width - out.size(), ' ') + out + std::string(unit);
    }
    const size_t right = after_ - (out.size() - point);
    const size_t left = width - right - out.size();
    return std::string(left, ' ') + out + std::string(unit) + std::string(right, ' ');
  }

 private:
  bool exponential() const {
    return greatest_ >= least_ && (greatest_ >= 1e8 || least_ < 1e-4 || greatest_ / least_ > 1000.0);
  }

  std::string digits(double value) const {
    std::string out = std::signbit(value) && !std::isnan(value) ? "-" : always_sign_ ? "+" : "";
    if (std::isnan(value)) return out + "nan";
    if (std::isinf(value)) return out + "inf";
    const auto format = exponential() ? std::chars_format::scientific : std::chars_format::fixed;
    std::array<char, 400> buffer;
    const double magnitude = std::abs(value);
    std::string text(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format).ptr);
    if (fraction(text) > kDigits) {
      text.assign(buffer.data(),
                  std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, format, kDigits).ptr);
    }
    const size_t e = std::min(text.find('e'), text.size());
    std::string tail = text.substr(e);
    text.resize(e);
    if (text.find('.') == std::string::npos) text += '.';
    while (text.back() == '0') text.pop_back();
    return out + text + tail;
  }

  static int fraction(const std::string& text) {
    const size_t point = text.find('.');
    if (point == std::string::npos) return 0;
    return static_cast<int>(std::min(text.find('e'), text.size()) - point - 1);
  }

  bool always_sign_;
  double least_ = std::numeric_limits<double>::infinity(), greatest_ = 0;
  size_t before_ = 0, after_ = 0, exponent_ = 0, width_ = 0;
};

class Printer {
 public:
  Printer(std::ostream& out, const AnyArray& array)
      : out_(out),
        array_(array),
        strides_(row_major_strides(array.shape())),
        summary_(array.size() > kSummaryThreshold) {}

  void print() {
    walk(0, 0, [this](int64_t at) { see(at); });
    walk(0, 0, [this](int64_t at) { measure(at); });
    if (array_.rank() == 0) {
      std::string t = text(0);
      const bool real = is_floating(array_.dtype());
      out_ << t << (real && t.back() == '.' ? "0" : "");
    } else {
      dimension(0, 0);
    }
  }

 private:
  template <class F>
  void real_parts(int64_t at, F&& f) const {
    visit_dtype(array_.dtype(), [&]<class T>() {
      const T value = array_.data_as<T>()[at];
      if constexpr (is_complex(dtype_of<T>)) {
        f(shortest(value.real()), shortest(value.imag()));
      } else if constexpr (is_floating(dtype_of<T>)) {
        f(shortest(value), 0.0);
      }
    });
  }

  void see(int64_t at) {
    real_parts(at, [&](double re, double im) {
      real_.see(re);
      imaginary_.see(im);
    });
  }

  void measure(int64_t at) {
    real_parts(at, [&](double re, double im) {
      real_.measure(re);
      imaginary_.measure(im);
    });
    width_ = std::max(width_, text(at).size());
    if (is_bool(array_.dtype()) && array_.rank() != 0) width_ = 5;
  }

  std::string text(int64_t at) const {
    std::string out;
    real_parts(at, [&](double re, double im) {
      out = real_.text(re);
      if (is_complex(array_.dtype())) out += imaginary_.text(im, "j");
    });
    if (!out.empty()) return out;
    return visit_dtype(array_.dtype(), [&]<class T>() -> std::string {
      if constexpr (std::is_same_v<T, bool>) {
        return array_.data_as<bool>()[at] ? "True" : "False";
      } else if constexpr (std::is_integral_v<T>) {
        return std::to_string(array_.data_as<T>()[at]);
      } else {
        return {};
      }
    });
  }

  /// Calls `f(i)` for the indices of a dimension that are shown, and `f(-1)` for the ellipsis.
  template <class F>
  void shown(size_t axis, F&& f) const {
    const int64_t n = array_.shape()[axis];
    const bool abbreviated = summary_ && n > 2 * kEdge;
    for (int64_t i = 0; i < n; ++i) {
      if (abbreviated && i == kEdge) {
        f(int64_t{-1});
        i = n - kEdge;
      }
      f(i);
    }
  }

  /// Calls `f` with the offset of every element that is shown.
  template <class F>
  void walk(size_t axis, int64_t offset, F&& f) const {
    if (axis == array_.shape().size()) {
      f(offset);
      return;
    }
    shown(axis, [&](int64_t i) {
      if (i >= 0) walk(axis + 1, offset + i * strides_[axis], f);
    });
  }

  void dimension(size_t axis, int64_t offset) {
    const size_t rank = array_.shape().size();
    if (axis + 1 == rank) {
      row(axis, offset);
      return;
    }
    out_ << '[';
    bool first = true;
    shown(axis, [&](int64_t i) {
      if (!first) out_ << std::string(rank - axis - 1, '\n') << std::string(axis + 1, ' ');
      first = false;
      if (i < 0) {
        out_ << "...";
      } else {
        dimension(axis + 1, offset + i * strides_[axis]);
      }
    });
    out_ << ']';
  }

  void row(size_t axis, int64_t offset) {
    out_ << '[';
    size_t column = axis + 1;
    bool first = true;
    shown(axis, [&](int64_t i) {
      std::string t = i < 0 ? "..." : text(offset + i * strides_[axis]);
      if (i >= 0) t.insert(0, width_ - t.size(), ' ');
      if (!first && column + 1 + t.size() > kLine) {
        out_ << '\n' << std::string(axis + 1, ' ');
        column = axis + 1;
      } else if (!first) {
        out_ << ' ';
        ++column;
      }
      first = false;
      out_ << t;
      column += t.size();
    });
    out_ << ']';
  }

  std::ostream& out_;
  const AnyArray& array_;
  Shape::Dims strides_;
  bool summary_;
  RealFormat real_, imaginary_{true};
  size_t width_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, const AnyArray& array) {
  if (array.empty()) return out << "<empty>";
  if (!array.has_data()) return out << "<" << array.type() << " without data>";
  if (array.size() == 0) return out << "[]";
  Printer(out, array).print();
  return out;
}

}  // namespace calque
