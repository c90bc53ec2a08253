#include "kernel/contraction.h"

#include <optional>

#include "plan/contraction.h"

namespace calque::kernel {

namespace {

using Dims = plan::Contraction::Dims;

/// Parts of the index of several dimensions from the row-major position among them.
void take_apart(Emitter& e, Id position, const Shape& shape, const Dims& dims, Ids& parts) {
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

/// The step in memory from one row-major position among the dimensions to the next, where it is always the same.
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

  void build(const std::function<void(const Index&, Id)>& epilogue) { batch(0, epilogue); }

 private:
  void batch(size_t level, const std::function<void(const Index&, Id)>& epilogue) {
    if (level == c_.lhs_batch.size()) return product(epilogue);
    const int64_t extent = shape(0)[c_.lhs_batch[level]];
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
    const bool swapped = plan::product_of(graph_, equation_) == plan::Product::tiled_swapped;
    const DType factor = graph_.dtype(equation_.operand(0));
    Emitter::Product p{c_.rows, c_.columns, c_.depth, factor, Elements::accumulator(factor)};
    if (swapped) std::swap(p.rows, p.columns);
    const auto left = [&](Id free, Id summed) {
      return element(0, c_.lhs_batch, c_.lhs_free, c_.lhs_summed, free, summed);
    };
    const auto right = [&](Id free, Id summed) {
      return element(1, c_.rhs_batch, c_.rhs_free, c_.rhs_summed, free, summed);
    };
    e_.contraction(
        p, [&](Id m, Id k) { return swapped ? right(m, k) : left(m, k); },
        [&](Id k, Id n) { return swapped ? left(n, k) : right(n, k); },
        [&](Id m, Id n, Id sum) { epilogue(swapped ? result_index(n, m) : result_index(m, n), sum); });
  }

  Id element(size_t operand, const Dims& batch, const Dims& free, const Dims& summed, Id at_free, Id at_summed) {
    const Value v = equation_.operand(operand);
    if (const auto memory = frame_.memory(v)) {
      const auto f = common_stride(*memory, shape(operand), free), s = common_stride(*memory, shape(operand), summed);
      if (f && s) {
        Id at = e_.index(memory->first);
        for (size_t i = 0; i < batch.size(); ++i) at = e_.add(at, e_.mul(batch_[i], memory->strides[batch[i]]));
        at = e_.add(at, e_.add(e_.mul(at_free, *f), e_.mul(at_summed, *s)));
        return e_.load(memory->buffer, at);
      }
    }
    Ids parts(shape(operand).size(), kNone);
    for (size_t i = 0; i < batch.size(); ++i) parts[batch[i]] = batch_[i];
    take_apart(e_, at_free, shape(operand), free, parts);
    take_apart(e_, at_summed, shape(operand), summed, parts);
    return elements_.element(frame_, v, Index::of_parts(parts));
  }

  Index result_index(Id m, Id n) {
    Ids parts = batch_;
    const auto append = [&](Id position, const Shape& of, const Dims& dims) {
      Ids all(of.size(), kNone);
      take_apart(e_, position, of, dims, all);
      for (const size_t d : dims) parts.push_back(all[d]);
    };
    append(m, shape(0), c_.lhs_free);
    append(n, shape(1), c_.rhs_free);
    return Index::of_parts(parts);
  }

  const Shape& shape(size_t operand) const { return graph_.shape(equation_.operand(operand)); }

  Elements& elements_;
  Emitter& e_;
  Frame& frame_;
  const Equation& equation_;
  const Graph& graph_;
  const plan::Contraction c_;
  Ids batch_;
};

}  // namespace

void build_contraction(Elements& elements, Frame& frame, const Equation& equation,
                       const std::function<void(const Index& at, Id sum)>& epilogue) {
  ContractionBuilder(elements, frame, equation).build(epilogue);
}

}  // namespace calque::kernel
