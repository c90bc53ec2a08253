#include "kernel/lower/lower_contraction.h"

#include <optional>

#include "plan/analysis/product_queries.h"

namespace calque::kernel {

namespace {

using Dims = plan::Contraction::Dims;

/// Computes the index parts of several dimensions from the row-major position in them.
void delinearize(Emitter& e, Id position, const Shape& shape, const Dims& dims, Ids& parts) {
  int64_t inner = 1;
  for (const size_t d : dims) inner *= shape[d];
  bool first = true;
  for (const size_t d : dims) {
    if (shape[d] == 1) {
      parts[d] = e.index(0);
      continue;
    }
    inner /= shape[d];
    const Id quotient = inner == 1 ? position : e.div(position, inner);
    parts[d] = first ? quotient : e.mod(quotient, shape[d]);
    first = false;
  }
}

/// The stride in memory from one row-major position in the dimensions to the next, if it is constant.
std::optional<int64_t> common_stride(const Operand& operand, const Shape& shape, const Dims& dims) {
  int64_t stride = 0, expected = -1;
  for (size_t i = dims.size(); i-- > 0;) {
    const size_t d = dims[i];
    if (shape[d] == 1) continue;
    if (expected < 0) {
      stride = operand.strides[d];
    } else if (operand.strides[d] != expected) {
      return std::nullopt;
    }
    expected = operand.strides[d] * shape[d];
  }
  return stride;
}

class ContractionBuilder {
 public:
  ContractionBuilder(Elements& elements, Frame& frame, const Equation& equation)
      : elements_(elements),
        e_(elements.emitter()),
        frame_(frame),
        equation_(equation),
        graph_(frame.graph()),
        c_(plan::contraction_of(graph_, equation)) {}

  void build(const std::function<void(const Index&, Id)>& epilogue) {
    split_columns();
    batch(0, epilogue);
  }

 private:
  /// Columns are vectors of elements that should have one stride. Where the column dimensions are not contiguous with
  /// each other in memory, or a column has to be delinearized to compute an element, the outer dimensions become loops
  /// outside the product.
  void split_columns() {
    constexpr int64_t kLongRow = 16;
    const size_t side = swapped_ ? 0 : 1;
    Dims& free = swapped_ ? c_.lhs_free : c_.rhs_free;
    const auto memory = frame_.memory(equation_.operand(side));
    if (memory && common_stride(*memory, shape(side), free)) return;
    Dims inner;
    int64_t extent = 1;
    for (size_t i = free.size(); i-- > 0;) {
      Dims longer = inner;
      longer.insert(0, free[i]);
      const bool one = extent == 1 || shape(side)[free[i]] == 1;
      if (!one && !(memory && common_stride(*memory, shape(side), longer))) break;
      inner = longer;
      extent *= shape(side)[free[i]];
    }
    if (extent < kLongRow) return;
    for (size_t i = 0; i + inner.size() < free.size(); ++i) outer_.push_back(free[i]);
    free = inner;
    (swapped_ ? c_.rows : c_.columns) = extent;
  }

  void batch(size_t level, const std::function<void(const Index&, Id)>& epilogue) {
    const size_t batches = c_.lhs_batch.size();
    if (level == batches + outer_.size()) return product(epilogue);
    const int64_t extent =
        level < batches ? shape(0)[c_.lhs_batch[level]] : shape(swapped_ ? 0 : 1)[outer_[level - batches]];
    if (extent == 1) {
      batch_.push_back(e_.index(0));
      batch(level + 1, epilogue);
    } else {
      e_.loop(LoopKind::parallel, extent, {}, {}, e_.depth(), [&](Id at, std::span<const Id>) {
        batch_.push_back(at);
        batch(level + 1, epilogue);
        return Ids{};
      });
    }
    batch_.pop_back();
  }

  void product(const std::function<void(const Index&, Id)>& epilogue) {
    const DType factor = graph_.dtype(equation_.operand(0));
    Emitter::Product p{c_.rows, c_.columns, c_.k, factor, Elements::accumulator(factor)};
    if (swapped_) std::swap(p.rows, p.columns);
    const auto left = [&](Id free, Id k) { return element(0, c_.lhs_batch, c_.lhs_free, c_.lhs_contracted, free, k); };
    const auto right = [&](Id free, Id k) { return element(1, c_.rhs_batch, c_.rhs_free, c_.rhs_contracted, free, k); };
    e_.contraction(
        p, [&](Id m, Id k) { return swapped_ ? right(m, k) : left(m, k); },
        [&](Id k, Id n) { return swapped_ ? left(n, k) : right(n, k); },
        [&](Id m, Id n, Id accumulator) { epilogue(swapped_ ? result_index(n, m) : result_index(m, n), accumulator); });
  }

  Id element(size_t operand, const Dims& batch, const Dims& free, const Dims& contracted, Id at_free, Id k) {
    const Value v = equation_.operand(operand);
    if (const auto memory = frame_.memory(v)) {
      const auto f = common_stride(*memory, shape(operand), free),
                 s = common_stride(*memory, shape(operand), contracted);
      if (f && s) {
        Id at = e_.index(memory->first);
        for (size_t i = 0; i < batch.size(); ++i) at = e_.add(at, e_.mul(batch_[i], memory->strides[batch[i]]));
        for (size_t i = 0; i < outer_.size() && has_columns(operand); ++i)
          at = e_.add(at, e_.mul(batch_[batch.size() + i], memory->strides[outer_[i]]));
        at = e_.add(at, e_.add(e_.mul(at_free, *f), e_.mul(k, *s)));
        return e_.load(memory->buffer, at);
      }
    }
    Ids parts(shape(operand).size(), kNone);
    for (size_t i = 0; i < batch.size(); ++i) parts[batch[i]] = batch_[i];
    for (size_t i = 0; i < outer_.size() && has_columns(operand); ++i) parts[outer_[i]] = batch_[batch.size() + i];
    delinearize(e_, at_free, shape(operand), free, parts);
    delinearize(e_, k, shape(operand), contracted, parts);
    return elements_.element(frame_, v, Index::of_parts(parts));
  }

  Index result_index(Id m, Id n) {
    const size_t batches = c_.lhs_batch.size();
    Ids parts;
    for (size_t i = 0; i < batches; ++i) parts.push_back(batch_[i]);
    const auto append = [&](Id position, size_t operand, const Dims& dims) {
      Ids all(shape(operand).size(), kNone);
      delinearize(e_, position, shape(operand), dims, all);
      for (size_t i = 0; i < outer_.size() && has_columns(operand); ++i) parts.push_back(batch_[batches + i]);
      for (const size_t d : dims) parts.push_back(all[d]);
    };
    append(m, 0, c_.lhs_free);
    append(n, 1, c_.rhs_free);
    return Index::of_parts(parts);
  }

  /// Whether the operand's free dimensions are the columns.
  bool has_columns(size_t operand) const { return operand == (swapped_ ? 0 : 1); }
  const Shape& shape(size_t operand) const { return graph_.shape(equation_.operand(operand)); }

  Elements& elements_;
  Emitter& e_;
  Frame& frame_;
  const Equation& equation_;
  const Graph& graph_;
  plan::Contraction c_;
  const bool swapped_ = plan::product_of(graph_, equation_) == plan::Product::tiled_swapped;
  Dims outer_;  ///< free dimensions of the columns' operand that are loops outside the product
  Ids batch_;   ///< indices of the batch loops, then of those loops
};

}  // namespace

void build_contraction(Elements& elements, Frame& frame, const Equation& equation,
                       const std::function<void(const Index& at, Id accumulator)>& epilogue) {
  ContractionBuilder(elements, frame, equation).build(epilogue);
}

}  // namespace calque::kernel
