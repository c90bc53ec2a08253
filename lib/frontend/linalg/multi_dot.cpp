// The product of several matrices in the cheapest order.
#include "frontend/ops/common.h"

namespace calque::detail::ops::linalg {
namespace {

/// The order in which matrices [dims[i], dims[i + 1]] are multiplied with the fewest multiplications, by the dynamic
/// programme of Cormen, Leiserson, Rivest and Stein, Introduction to Algorithms, section 15.2.
class Chain {
 public:
  explicit Chain(const Ints& dims) : count_(dims.size() - 1), last_(count_ * count_, 0) {
    std::vector<double> cost(count_ * count_, 0);
    for (size_t length = 2; length <= count_; ++length) {
      for (size_t i = 0; i + length <= count_; ++i) {
        const size_t j = i + length - 1;
        double best = __builtin_inf();
        for (size_t k = i; k < j; ++k) {
          const double product =
              static_cast<double>(dims[i]) * static_cast<double>(dims[k + 1]) * static_cast<double>(dims[j + 1]);
          const double total = cost[i * count_ + k] + cost[(k + 1) * count_ + j] + product;
          if (total < best) {
            best = total;
            last_[i * count_ + j] = k;
          }
        }
        cost[i * count_ + j] = best;
      }
    }
  }

  /// The product of the matrices i to j.
  Handle product(std::span<const Handle> xs, size_t i, size_t j, Location at) const {
    if (i == j) return xs[i];
    const size_t k = last_[i * count_ + j];
    const Handle left = product(xs, i, k, at);
    return matmul(left, product(xs, k + 1, j, at), at);
  }

 private:
  size_t count_;
  std::vector<size_t> last_;  ///< of the matrices i to j: after which one the last product divides them
};

}  // namespace

Handle multi_dot(std::span<const Operand> xs, Location at) {
  const Site s{"linalg::multi_dot", at};
  if (xs.size() < 2) s.shape_error("needs two or more arrays, got " + std::to_string(xs.size()));
  const std::vector<Handle> values = promoted(xs, s);
  Ints dims;
  for (size_t i = 0; i < values.size(); ++i) {
    const Type t = type(values[i]);
    const bool first = i == 0, last = i + 1 == values.size();
    if (t.shape.rank() != 2 && !(t.shape.rank() == 1 && (first || last))) {
      s.shape_error(std::string(first || last ? "the first and the last array must be vectors or matrices"
                                              : "the arrays between the first and the last must be matrices") +
                    ", got " + to_string(t));
    }
    // A vector is a row as the first array, a column as the last one.
    const bool vector = t.shape.rank() == 1;
    const int64_t rows = vector && first ? 1 : t.shape[0];
    const int64_t columns = !vector ? t.shape[1] : first ? t.shape[0] : 1;
    if (first) {
      dims.push_back(rows);
    } else if (dims.back() != rows) {
      s.shape_error("inner dimensions differ, got " + to_string(type(values[i - 1])) + " and " + to_string(t));
    }
    dims.push_back(columns);
  }
  return Chain(dims).product(values, 0, values.size() - 1, at);
}

}  // namespace calque::detail::ops::linalg
