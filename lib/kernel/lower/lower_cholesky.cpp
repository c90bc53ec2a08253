// Lowers batched_cholesky: one matrix for each iteration of a parallel loop, in a local buffer, so that matrices share
// the lanes of vectors, or each has a thread of a GPU.
//
// Left-looking, in tiles of 4 x 4 elements, whose sums stay in registers: 8 loads for 16 products. Rows and columns are
// padded with those of an identity matrix to whole tiles.
#include <array>
#include <limits>

#include "kernel/lower/group_builder.h"
#include "primitives/linalg/matrix.h"
#include "primitives/registry.h"

namespace calque::kernel {

using namespace primitives;

namespace {

constexpr int64_t kTile = 4;
/// Elements of a row that are loaded or stored together: whole cache lines in most cases.
constexpr int64_t kRun = 16;

class CholeskyBuilder {
 public:
  CholeskyBuilder(Emitter& emitter, DType dtype, int64_t n, bool add_transpose)
      : e_(emitter),
        dtype_(dtype),
        n_(n),
        padded_((n + kTile - 1) / kTile * kTile),
        row_(padded_ + 1),
        add_transpose_(add_transpose),
        buffer_(e_.local(dtype, padded_ * row_)) {}

  using Load = std::function<Id(Id row, Id column)>;
  using Store = std::function<void(Id row, Id column, Id value)>;

  void load(const Load& element) {
    const Id zero = number(0), one = number(1);
    rows(n_, [&](Id row) {
      const Id first = e_.mul(row, row_);
      runs([&](Id column) { put(e_.add(first, column), element(row, column)); });
      for (int64_t c = n_; c < padded_; ++c) put(e_.add(first, e_.index(c)), zero);
    });
    for (int64_t r = n_; r < padded_; ++r)
      for (int64_t c = 0; c < padded_; ++c) put(e_.index(r * row_ + c), r == c ? one : zero);
  }

  /// Whether the matrix is positive definite.
  Id factor() {
    const Id yes = e_.constant(DType::bool_, Literal::of<bool>(true));
    const int64_t tiles = padded_ / kTile;
    return e_.loop(
        LoopKind::sequential, tiles, std::array{yes}, {}, e_.depth(), [&](Id tile, std::span<const Id> carries) {
          const Id columns = e_.mul(tile, kTile);
          Diagonal diagonal = factor_diagonal(columns, carries[0]);
          const Id next = e_.add(columns, e_.index(kTile));
          e_.while_loop(
              std::array{next}, e_.depth(), [&](std::span<const Id> c) { return Ids{less(c[0], e_.index(padded_))}; },
              [&](std::span<const Id> c) {
                factor_below(c[0], columns, diagonal);
                return Ids{e_.add(c[0], e_.index(kTile))};
              });
          return Ids{diagonal.is_definite};
        })[0];
  }

  void store(Id is_definite, const Store& to) {
    const Id zero = number(0), nan = number(std::numeric_limits<double>::quiet_NaN());
    rows(n_, [&](Id row) {
      const Id first = e_.mul(row, row_);
      runs([&](Id column) {
        const Id l = op(id_of<Select>, {is_definite, get(e_.add(first, column)), nan});
        const Id is_lower = e_.scalar(id_of<Le>, DType::bool_, {column, row});
        to(row, column, op(id_of<Select>, {is_lower, l, zero}));
      });
    });
  }

 private:
  using Tile = std::array<std::array<Id, kTile>, kTile>;
  struct Diagonal {
    Tile l;                             ///< below and on the diagonal
    std::array<Id, kTile> reciprocals;  ///< of the diagonal
    Id is_definite;
  };

  // ---- scalars
  Id number(double value) { return e_.constant(dtype_, make_literal(dtype_, value)); }
  Id op(PrimitiveId primitive, std::initializer_list<Id> operands) { return e_.scalar(primitive, dtype_, operands); }
  Id less(Id a, Id b) { return e_.scalar(id_of<Lt>, DType::bool_, {a, b}); }
  Id minus_product(Id sum, Id a, Id b) { return op(id_of<Sub>, {sum, op(id_of<Mul>, {a, b})}); }
  Id get(Id index) { return e_.load(buffer_, index, true); }
  void put(Id index, Id value) { e_.store(buffer_, index, value); }
  /// The element of row `row` + r and column `column` + c.
  Id at(Id row, int64_t r, Id column, int64_t c) {
    return e_.add(e_.add(e_.mul(row, row_), column), e_.index(r * row_ + c));
  }

  // ---- loops
  void rows(int64_t count, const std::function<void(Id)>& body) {
    e_.loop(LoopKind::sequential, count, {}, {}, e_.depth(), [&](Id row, std::span<const Id>) {
      body(row);
      return Ids{};
    });
  }
  /// Calls `body` for the columns of a row, so that the elements of a run are accessed together.
  void runs(const std::function<void(Id)>& body) {
    const auto run = [&](Id first, int64_t length) {
      for (int64_t c = 0; c < length; ++c) body(e_.add(first, e_.index(c)));
    };
    const int64_t whole = n_ / kRun;
    if (whole == 1) run(e_.index(0), kRun);
    if (whole > 1) rows(whole, [&](Id number) { run(e_.mul(number, kRun), kRun); });
    run(e_.index(whole * kRun), n_ % kRun);
  }
  /// The sums minus the products of rows of the factor: of tile row p and tile column q, over the columns before
  /// `end`. `sums` lists the tile's elements by row; of a tile on the diagonal, those below it and on it.
  Ids subtract_products(Id row, Id column, Id end, const Ids& sums, bool on_diagonal) {
    Ids initial{e_.index(0)};
    for (const Id sum : sums) initial.push_back(sum);
    const Ids last = e_.while_loop(
        initial, e_.depth(), [&](std::span<const Id> c) { return Ids{less(c[0], end)}; },
        [&](std::span<const Id> c) {
          std::array<Id, kTile> left, right;
          for (int64_t p = 0; p < kTile; ++p) left[static_cast<size_t>(p)] = get(at(row, p, c[0], 0));
          for (int64_t q = 0; q < kTile; ++q)
            right[static_cast<size_t>(q)] = on_diagonal ? left[static_cast<size_t>(q)] : get(at(column, q, c[0], 0));
          Ids next{e_.add(c[0], e_.index(1))};
          size_t n = 1;
          for (size_t p = 0; p < kTile; ++p)
            for (size_t q = 0; q < (on_diagonal ? p + 1 : kTile); ++q)
              next.push_back(minus_product(c[n++], left[p], right[q]));
          return next;
        });
    Ids out;
    for (size_t i = 1; i < last.size(); ++i) out.push_back(last[i]);
    return out;
  }

  /// The matrix's element before it is factored.
  Id original(Id row, int64_t p, Id column, int64_t q) {
    const Id a = get(at(row, p, column, q));
    return add_transpose_ ? op(id_of<Add>, {a, get(at(column, q, row, p))}) : a;
  }

  Diagonal factor_diagonal(Id start, Id is_definite) {
    Ids sums;
    for (int64_t p = 0; p < kTile; ++p)
      for (int64_t q = 0; q <= p; ++q) sums.push_back(original(start, p, start, q));
    sums = subtract_products(start, start, start, sums, true);
    Diagonal d{{}, {}, is_definite};
    Tile rest{};
    for (size_t p = 0, n = 0; p < kTile; ++p)
      for (size_t q = 0; q <= p; ++q) rest[p][q] = sums[n++];
    for (size_t q = 0; q < kTile; ++q) {
      const Id pivot = rest[q][q];
      d.is_definite =
          e_.scalar(id_of<And>, DType::bool_, {d.is_definite, e_.scalar(id_of<Gt>, DType::bool_, {pivot, number(0)})});
      d.l[q][q] = op(id_of<Sqrt>, {pivot});
      d.reciprocals[q] = op(id_of<Div>, {number(1), d.l[q][q]});
      for (size_t p = q + 1; p < kTile; ++p) d.l[p][q] = op(id_of<Mul>, {rest[p][q], d.reciprocals[q]});
      for (size_t p = q + 1; p < kTile; ++p)
        for (size_t c = q + 1; c <= p; ++c) rest[p][c] = minus_product(rest[p][c], d.l[p][q], d.l[c][q]);
    }
    for (int64_t p = 0; p < kTile; ++p)
      for (int64_t q = 0; q <= p; ++q) put(at(start, p, start, q), d.l[static_cast<size_t>(p)][static_cast<size_t>(q)]);
    return d;
  }

  void factor_below(Id row, Id column, const Diagonal& diagonal) {
    Ids sums;
    for (int64_t p = 0; p < kTile; ++p)
      for (int64_t q = 0; q < kTile; ++q) sums.push_back(original(row, p, column, q));
    sums = subtract_products(row, column, column, sums, false);
    for (size_t p = 0; p < kTile; ++p) {
      Id* const x = &sums[p * kTile];
      for (size_t q = 0; q < kTile; ++q) {
        x[q] = op(id_of<Mul>, {x[q], diagonal.reciprocals[q]});
        for (size_t c = q + 1; c < kTile; ++c) x[c] = minus_product(x[c], x[q], diagonal.l[c][q]);
        put(at(row, static_cast<int64_t>(p), column, static_cast<int64_t>(q)), x[q]);
      }
    }
  }

  Emitter& e_;
  const DType dtype_;
  const int64_t n_, padded_;
  const int64_t row_;  ///< elements of a row in the buffer: odd, so that rows lie in different sets of a cache
  const bool add_transpose_;
  const int32_t buffer_;
};

}  // namespace

void GroupBuilder::cholesky(const Equation& e) {
  const Graph& g = memory_.graph;
  const Value a = e.operand(0);
  const Shape& shape = g.shape(a);
  const Operand to = destination(e.result());
  if (shape.num_elements() == 0) return;
  emitter_.loop(LoopKind::parallel, shape[0], {}, {}, emitter_.depth(), [&](Id matrix, std::span<const Id>) {
    CholeskyBuilder builder(emitter_, g.dtype(a), shape[1], e.attributes().get<bool>("add_transpose"));
    out_.views.emplace_back();  // of the local buffer, as long as the kernel is built
    const auto index = [&](Id row, Id column) { return Index::of_parts({matrix, row, column}); };
    builder.load([&](Id row, Id column) { return elements_.element(frame_, a, index(row, column)); });
    builder.store(builder.factor(), [&](Id row, Id column, Id value) { put(to, shape, index(row, column), value); });
    return Ids{};
  });
}

}  // namespace calque::kernel
