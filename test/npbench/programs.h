#pragma once
// Programs of NPBench (a public suite of NumPy programs), written against the library: inputs and expected results are
// in data/<program>.
#include <complex>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "support/paths.h"

namespace calque::test {

/// The inputs of a program, and what it checks its results with.
class Case {
 public:
  explicit Case(const std::string& program) : folder_(source_file("test/npbench/data/" + program)) {
    std::ifstream in(folder_ + "/scalars.txt");
    std::string key, value;
    while (in >> key && std::getline(in, value)) scalars_[key] = value.substr(1);
  }
  int64_t i(const std::string& key) const { return std::stoll(scalars_.at(key)); }
  double d(const std::string& key) const { return std::stod(scalars_.at(key)); }
  template <class T = double>
  Array<T> in(const std::string& key) const {
    return load_npy<T>(folder_ + "/in_" + key + ".npy");
  }
  /// Compares a result with that of NumPy, to 1e-7 of its greatest element, or as `tolerance` says; 1e-4 of f32.
  template <class T>
  void out(int n, const Array<T>& got) const {
    const Array<T> want = load_npy<T>(folder_ + "/want_" + std::to_string(n) + ".npy");
    ASSERT_EQ(got.shape(), want.shape()) << "result " << n;
    double greatest = 0, worst = 0;
    const auto g = got.host(), w = want.host();
    for (size_t k = 0; k < w.size(); ++k) {
      greatest = std::max(greatest, magnitude(w[k]));
      const double error = magnitude(static_cast<T>(g[k] - w[k]));
      if (!(error <= worst)) worst = error;  // NaN stays
    }
    const bool is_float = std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
    EXPECT_LE(worst, (is_float ? 1e-4 : tolerance) * greatest) << "result " << n;
  }
  template <class F>
  void time(const F& call) const {
    call();
  }
  double tolerance = 1e-7;

 private:
  template <class T>
  static double magnitude(T x) {
    if constexpr (std::is_unsigned_v<T> || std::is_same_v<T, bool>) {
      return static_cast<double>(x);
    } else {
      return static_cast<double>(std::abs(x));
    }
  }
  std::string folder_;
  std::map<std::string, std::string> scalars_;
};

}  // namespace calque::test
