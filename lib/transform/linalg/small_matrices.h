#pragma once
// What the expansions of small matrices share: the elements of a matrix are arrays over the batch dimensions.
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "primitives/core/writer.h"
#include "primitives/linalg/lu.h"

namespace calque::transform {

using primitives::Term;
using primitives::Writer;

/// What there is for each element of a matrix, row by row.
template <class E>
class Grid {
 public:
  Grid(int64_t rows, int64_t columns) : rows_(rows), columns_(columns), all_(static_cast<size_t>(rows * columns)) {}
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  E& operator()(int64_t i, int64_t j) { return all_[static_cast<size_t>(i * columns_ + j)]; }
  const E& operator()(int64_t i, int64_t j) const { return all_[static_cast<size_t>(i * columns_ + j)]; }

 private:
  int64_t rows_, columns_;
  std::vector<E> all_;
};
using TermMatrix = Grid<Term>;

/// The exchange of row k with one of the rows below it, or with none: is[i - k - 1] says whether it is row i.
struct Exchange {
  int64_t k;
  std::vector<Value> is;

  /// Exchanges the elements of a column, of which column(i) is that of row i.
  template <class Column>
  void apply(const Writer& w, const Column& column) const {
    const Term before = column(k);
    Term pivot = before;
    for (size_t i = 0; i < is.size(); ++i) {
      const Term here{&w, is[i]};
      Term& element = column(k + 1 + static_cast<int64_t>(i));
      pivot = select(here, element, pivot);
      element = select(here, before, element);
    }
    column(k) = pivot;
  }
};

/// What the pass knows of values of the graph that it writes, by their ids, so that what reads them next does not slice
/// the whole.
struct Known {
  std::unordered_map<uint32_t, Grid<Value>> elements;             ///< of matrices; invalid: not known
  std::unordered_map<uint32_t, std::vector<Value>> rows;          ///< of matrices: over the batch and the columns
  std::unordered_map<uint32_t, primitives::LuFactors> factors;    ///< of matrices that are factored
  std::unordered_map<uint32_t, std::vector<Exchange>> exchanges;  ///< of orders of rows, in the order of steps
  std::unordered_map<uint32_t, Value> is_odd;                     ///< of orders of rows
};

/// The batch dimensions, then `rows` and `columns`.
Shape with_dims(const Shape& batch, int64_t rows, int64_t columns);

/// Whether right-hand sides [..., n, k] are computed element by element, as arrays over the batch dimensions: those of
/// few columns. Of others rows of all columns are the arrays.
bool by_elements(const Writer& w, Value sides, const Known& known);

/// The elements of matrices [..., rows, columns]: those that are known, those of the operands if a few cheap operations
/// computed the matrices (symmetrization, a multiple of the identity that is added), else slices.
class Elements {
 public:
  Elements(const Writer& w, Value matrices, Known& known);

  Shape batch() const;
  /// Element (i, j) of each matrix: [...].
  Term at(int64_t i, int64_t j) const;
  /// Row i of each matrix: [..., columns].
  Term row(int64_t i) const;
  /// All of them.
  TermMatrix all() const;

 private:
  Value slice(Value matrices, int64_t i, int64_t j, int64_t columns) const;
  /// Element (i, j) of a value of the shape of the matrices, or of its transpose.
  Value element(Value of, int64_t i, int64_t j, int depth) const;
  /// Of what an equation computes; invalid if it is no cheap operation.
  Value computed(const Equation& e, int64_t i, int64_t j, int depth) const;
  /// Of a broadcast.
  Value broadcast(const Equation& e, int64_t i, int64_t j, int depth) const;

  const Writer& w_;
  Known& known_;
  Value matrices_;
  Shape shape_;
  const std::vector<Value>* rows_ = nullptr;
};

/// The matrices of these elements, which are known from then on.
Value assemble(const Writer& w, const TermMatrix& elements, const Shape& batch, Known& known);
/// The matrices of these rows, [..., columns] each, which are known from then on.
Value assemble_rows(const Writer& w, const std::vector<Term>& rows, Known& known);

}  // namespace calque::transform
