#pragma once
// Updates of windows at run-time index vectors.
#include <optional>

#include "primitives/core/rule.h"
#include "primitives/elementwise/scalar.h"

namespace calque::primitives {

/// Typing of all scatters: (x, indices, updates) to x's type.
void infer_scatter(Typing& t, DTypeSet accepted);

/// Batching of all scatters.
void batch_scatter(Batching& b);

/// Combines windows of updates into x at positions given by index vectors, in row-major order of the updates.
///
/// Component k of an index vector (the last dimension of the indices) is the start along dimension
/// scatter_dims_to_operand_dims[k] of x. update_window_dims are the dimensions of updates that run over the window;
/// they correspond in order to the dimensions of x except the inserted (window extent 1) and the batching ones. The
/// other dimensions of updates are those of the indices except the last. A window not entirely inside x is dropped as a
/// whole.
template <class P, DTypeSet Accepted>
struct ScatterRule : Rule {
  static constexpr int min_operands = 3;
  static constexpr int max_operands = 3;
  static constexpr DTypeSet accepted = Accepted;
  static constexpr std::array attributes{AttributeSpec{"indices_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"inserted_window_dims", AttributeKind::integers},
                                         AttributeSpec{"operand_batching_dims", AttributeKind::integers},
                                         AttributeSpec{"scatter_dims_to_operand_dims", AttributeKind::integers},
                                         AttributeSpec{"update_window_dims", AttributeKind::integers}};
  static constexpr LowerKind kind = LowerKind::structural;
  static constexpr FusionKind fusion_kind = FusionKind::anchor;
  static constexpr Anchor anchor = Anchor::scatter;
  static constexpr int update_operand = 2;
  static void infer(Typing& t) { infer_scatter(t, Accepted); }
  /// Defined in scatter.cpp from P::combine.
  static void evaluate(Evaluation& e);
  static void batch(Batching& b) { batch_scatter(b); }
};

struct Scatter : ScatterRule<Scatter, kAny> {
  static constexpr std::string_view name = "scatter";
  static constexpr std::string_view doc = "x with windows replaced by updates; the last one in row-major order stays";
  static constexpr std::nullopt_t combiner = std::nullopt;  // the last update stays
  template <class T>
  static T combine(T, T update) {
    return update;
  }
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ScatterAdd : ScatterRule<ScatterAdd, kNumber> {
  static constexpr std::string_view name = "scatter_add";
  static constexpr std::string_view doc = "x with updates added; 16-bit floats accumulate in f32 and round once";
  static constexpr Combiner combiner = Combiner::add;
  template <class T>
  static T combine(T x, T update) {
    return scalar::add(x, update);
  }
  static void jvp(Jvp& j);
  static void transpose(Transposition& t);
};

struct ScatterMul : ScatterRule<ScatterMul, kNumber> {
  static constexpr std::string_view name = "scatter_mul";
  static constexpr std::string_view doc =
      "x with updates multiplied in; 16-bit floats accumulate in f32 and round once";
  static constexpr Combiner combiner = Combiner::mul;
  template <class T>
  static T combine(T x, T update) {
    return scalar::mul(x, update);
  }
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ScatterMin : ScatterRule<ScatterMin, kReal | kBool> {
  static constexpr std::string_view name = "scatter_min";
  static constexpr std::string_view doc = "the min of x and its updates";
  static constexpr Combiner combiner = Combiner::min;
  template <class T>
  static T combine(T x, T update) {
    return scalar::min(x, update);
  }
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

struct ScatterMax : ScatterRule<ScatterMax, kReal | kBool> {
  static constexpr std::string_view name = "scatter_max";
  static constexpr std::string_view doc = "the max of x and its updates";
  static constexpr Combiner combiner = Combiner::max;
  template <class T>
  static T combine(T x, T update) {
    return scalar::max(x, update);
  }
  static void jvp(Jvp& j);
  using transpose = NotLinear;
};

}  // namespace calque::primitives
