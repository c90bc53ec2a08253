#pragma once
// Ceres Solver with compiled residuals and Jacobians: cost functions of one observation, and problems in which all
// observations of a kind are evaluated by one call. Not part of calque.h: it needs Ceres (the target calque::ceres).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/SparseCore>
#include <ceres/cost_function.h>
#include <ceres/evaluation_callback.h>
#include <ceres/loss_function.h>
#include <ceres/manifold.h>
#include <ceres/problem.h>
#include <ceres/sized_cost_function.h>
#include <ceres/solver.h>

#include "calque/calque.h"
#include "calque/eigen.h"

namespace calque::ceres {

namespace detail {

template <class G>
auto compile(G g, const char* name, Loc loc) {
  JitOptions options;
  options.name = name;
  options.branches = branches::all;
  return jit(std::move(g), std::move(options), loc);
}
template <class V, class B>
struct Functions {
  V values;
  B both;
};
/// The compiled residuals of g, and residuals with Jacobians.
template <class G>
auto compile_both(const G& g, Loc loc) {
  return Functions{compile(g, "residuals", loc),
                   compile(residuals_and_jacobians(g, loc), "residuals_and_jacobians", loc)};
}

inline bool all_finite(std::span<const double> x) {
  return std::ranges::all_of(x, [](double e) { return std::isfinite(e); });
}
inline void copy(std::span<const double> from, double* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size_bytes());
}

/// One call of the compiled function of a functor, for Ceres.
template <class F, int R, int... N>
class CompiledCost final : public ::ceres::SizedCostFunction<R, N...> {
  /// Members that are numbers are arguments of one compiled function for all such functors; others are constants.
  static constexpr bool is_argument = calque::detail::node<F>::is_struct;

 public:
  CompiledCost(F f, Loc loc) : functor_(std::move(f)), functions_(functions_for(*this, loc)) {}

  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    if (jacobians == nullptr) {
      const Array<double> r = call(functions_->values, parameters);
      copy(r.host(), residuals);
    } else {
      const auto [r, j] = call(functions_->both, parameters);
      copy(r.host(), residuals);
      size_t block = 0;
      const auto write = [&](const Array<double>& jacobian) {
        if (double* to = jacobians[block++]) copy(jacobian.host(), to);
      };
      std::apply([&](const auto&... parts) { (write(parts), ...); }, j);
    }
    return all_finite({residuals, static_cast<size_t>(R)});
  }

 private:
  static auto make(const F& f, Loc loc) {
    if constexpr (is_argument) {
      return compile_both(functor<R>(loc), loc);
    } else {
      return compile_both(functor<R>(f, loc), loc);
    }
  }
  using Functions = decltype(make(std::declval<const F&>(), Loc()));

  template <class Function>
  auto call(const Function& function, double const* const* parameters) const {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      if constexpr (is_argument) {
        return function(functor_, Eigen::Map<const Eigen::Matrix<double, N, 1>>(parameters[I])...);
      } else {
        return function(Eigen::Map<const Eigen::Matrix<double, N, 1>>(parameters[I])...);
      }
    }(std::make_index_sequence<sizeof...(N)>());
  }
  /// Compiled here, since errors of traces cannot pass through Ceres' threads.
  static std::shared_ptr<const Functions> compiled(const CompiledCost& cost, Loc loc) {
    const auto functions = std::make_shared<const Functions>(make(cost.functor_, loc));
    const std::array<double, std::max({N...})> zeros{};
    std::array<const double*, sizeof...(N)> parameters;
    parameters.fill(zeros.data());
    (void)cost.call(functions->values, parameters.data());
    (void)cost.call(functions->both, parameters.data());
    return functions;
  }
  static std::shared_ptr<const Functions> functions_for(const CompiledCost& cost, Loc loc) {
    if constexpr (is_argument || std::is_empty_v<F>) {
      static const std::shared_ptr<const Functions> shared = compiled(cost, loc);
      return shared;
    } else {
      return compiled(cost, loc);
    }
  }

  F functor_;
  std::shared_ptr<const Functions> functions_;
};

}  // namespace detail

/// A cost function of Ceres with R residuals and blocks of N numbers, whose residuals and Jacobians are one compiled
/// function of a cost functor, as `functor<R>(f)` takes them. As new AutoDiffCostFunction of Ceres: a ceres::Problem
/// that it is added to owns it. It can be evaluated by several threads at once.
///
/// A functor that is a struct over its number type with its numbers as members, without constructors, `Seen<double>{u,
/// v}`, is an argument of the function: any number of them shares one. The members of other functors are constants,
/// and each object compiles a function of its own. For many observations a `Problem` is faster than either.
///
/// Where the functor returns false, or a residual is not finite, so does the evaluation. Throws as `functor` when the
/// cost function is made.
template <int R, int... N, class F>
[[nodiscard("a ceres::Problem that it is added to owns it")]]
::ceres::SizedCostFunction<R, N...>* cost_function(F f, Loc loc = Loc::current()) {
  static_assert(R > 0 && sizeof...(N) > 0 && ((N > 0) && ...),
                "calque: cost_function<R, N...>: the number of residuals and the size of each block are positive");
  return new detail::CompiledCost<F, R, N...>(std::move(f), loc);
}

namespace detail {

/// The compiled functions of a manifold. Jacobians are by the step at 0, and by y at x.
template <class P, class M>
class CompiledManifold final : public ::ceres::Manifold {
 public:
  CompiledManifold(P plus, M minus, int ambient, int tangent, Loc loc)
      : ambient_(ambient),
        tangent_(tangent),
        plus_(compile(plus, "plus", loc)),
        minus_(compile(minus, "minus", loc)),
        plus_jacobian_(compile(PlusJacobianOf{plus, tangent, loc}, "plus_jacobian", loc)),
        minus_jacobian_(compile(MinusJacobianOf{minus, loc}, "minus_jacobian", loc)) {
    // Compiled here, since errors of traces cannot pass through Ceres.
    const std::vector<double> point(static_cast<size_t>(ambient), 0.5), step(static_cast<size_t>(tangent));
    require("plus", plus_(vector(point.data(), ambient_), vector(step.data(), tangent_)), ambient_, loc);
    require("minus", minus_(vector(point.data(), ambient_), vector(point.data(), ambient_)), tangent_, loc);
    (void)plus_jacobian_(vector(point.data(), ambient_));
    (void)minus_jacobian_(vector(point.data(), ambient_));
  }

  int AmbientSize() const override { return ambient_; }
  int TangentSize() const override { return tangent_; }
  bool Plus(const double* x, const double* step, double* y) const override {
    return write(plus_(vector(x, ambient_), vector(step, tangent_)), y);
  }
  bool PlusJacobian(const double* x, double* jacobian) const override {
    return write(plus_jacobian_(vector(x, ambient_)), jacobian);
  }
  bool Minus(const double* y, const double* x, double* step) const override {
    return write(minus_(vector(y, ambient_), vector(x, ambient_)), step);
  }
  bool MinusJacobian(const double* x, double* jacobian) const override {
    return write(minus_jacobian_(vector(x, ambient_)), jacobian);
  }

 private:
  struct PlusJacobianOf {
    P plus;
    int64_t tangent;
    Loc location;

    template <class X>
    auto operator()(const X& x) const {
      const auto moved = [&](const auto& step) { return plus(x, step); };
      return jacfwd(moved, location)(zeros<double>({tangent}, location));
    }
  };
  struct MinusJacobianOf {
    M minus;
    Loc location;

    template <class X>
    auto operator()(const X& x) const {
      return jacrev([&](const auto& y) { return minus(y, x); }, location)(x);
    }
  };

  static Eigen::Map<const Eigen::VectorXd> vector(const double* x, int size) { return {x, size}; }
  static bool write(const Array<double>& from, double* to) {
    copy(from.host(), to);
    return all_finite(from.host());
  }
  static void require(const char* which, const Array<double>& result, int size, Loc loc) {
    if (result.shape() == Shape{size}) return;
    throw ShapeError(std::string("manifold: ") + which + " must return a vector of " + std::to_string(size) +
                     " elements, got shape " + to_string(result.shape()) + where_text(loc));
  }
  template <class F>
  using Compiled = decltype(compile(std::declval<F>(), "", Loc()));

  int ambient_, tangent_;
  Compiled<P> plus_;
  Compiled<M> minus_;
  Compiled<PlusJacobianOf> plus_jacobian_;
  Compiled<MinusJacobianOf> minus_jacobian_;
};

}  // namespace detail

/// A manifold of Ceres, for `SetManifold`, in vectors of `Ambient` numbers with steps of `Tangent` numbers: plus(x,
/// step) is x moved by a step, and minus(y, x) the step from x to y, functions of arrays. Their Jacobians are derived
/// and compiled. A ceres::Problem that it is given to owns it. Manifolds of products are ceres::ProductManifold.
///   problem->SetManifold(pose, cq::ceres::manifold<7, 6>([](auto x, auto step) { return cq::se3_plus(x, step); },
///                                                        [](auto y, auto x) { return cq::se3_minus(y, x); }));
/// Throws ShapeError when the results have other sizes, and as the functions do.
template <int Ambient, int Tangent, class Plus, class Minus>
[[nodiscard("a ceres::Problem that it is given to owns it")]]
::ceres::Manifold* manifold(Plus plus, Minus minus, Loc loc = Loc::current()) {
  static_assert(
      0 < Tangent && Tangent <= Ambient,
      "calque: manifold<Ambient, Tangent>: steps have at least one element and at most as many as the points");
  return new detail::CompiledManifold<Plus, Minus>(std::move(plus), std::move(minus), Ambient, Tangent, loc);
}

class BlocksOf;

/// Parameter blocks of one size, one after another in memory of the user, which must live as long as a problem with
/// them.
class Blocks {
 public:
  /// Throws ShapeError unless there are blocks of a positive size.
  Blocks(double* data, int64_t count, int64_t size, Loc loc = Loc::current())
      : data_(data), count_(count), size_(size) {
    if (data == nullptr || count < 1 || size < 1) {
      throw ShapeError("Blocks: there must be blocks with elements, got " + std::to_string(count) + " of size " +
                       std::to_string(size) + where_text(loc));
    }
  }
  /// One block of one number.
  Blocks(double& number) : Blocks(&number, 1, 1) {}
  /// One block.
  template <size_t N>
  Blocks(std::array<double, N>& block) : Blocks(block.data(), 1, static_cast<int64_t>(N)) {}
  /// A block for each element.
  template <size_t N>
  Blocks(std::vector<std::array<double, N>>& blocks, Loc loc = Loc::current())
      : Blocks(blocks.empty() ? nullptr : blocks.front().data(), static_cast<int64_t>(blocks.size()),
               static_cast<int64_t>(N), loc) {}
  /// A block for each column; of a vector, one block.
  template <int Rows, int Columns>
  Blocks(Eigen::Matrix<double, Rows, Columns>& columns, Loc loc = Loc::current())
      : Blocks(columns.data(), columns.cols(), columns.rows(), loc) {}

  /// The elements of all blocks.
  double* data() const { return data_; }
  /// The number of blocks.
  int64_t count() const { return count_; }
  /// The number of elements of a block.
  int64_t size() const { return size_; }
  /// The address of a block, by which Ceres knows it. Throws ShapeError for an index out of range.
  double* block(int64_t i, Loc loc = Loc::current()) const {
    if (i < 0 || i >= count_) {
      throw ShapeError("Blocks: block " + std::to_string(i) + " of " + std::to_string(count_) + where_text(loc));
    }
    return data_ + i * size_;
  }
  /// The blocks of observations: those with these indices, an array, vector or span of int32_t.
  template <class I>
  BlocksOf operator[](const I& indices) const;

 private:
  double* data_;
  int64_t count_, size_;
};

/// The block of each observation. Blocks without indices are those of the observations in order, and a single block is
/// that of all.
class BlocksOf {
 public:
  BlocksOf(const Blocks& of) : blocks(of) {}
  template <class B>
    requires(!std::same_as<std::remove_cvref_t<B>, BlocksOf> && std::convertible_to<B&, Blocks>)
  BlocksOf(B& of) : blocks(of) {}
  BlocksOf(const Blocks& of, Array<int32_t> at) : blocks(of), indices(std::move(at)) {}

  Blocks blocks;
  Array<int32_t> indices;  // empty: none were given
};

template <class I>
BlocksOf Blocks::operator[](const I& indices) const {
  if constexpr (std::same_as<I, Array<int32_t>>) {
    return {*this, indices};
  } else {
    static_assert(std::convertible_to<const I&, std::span<const int32_t>>,
                  "calque: Blocks: indices are an array, vector or span of int32_t");
    return {*this, Array<int32_t>::from(std::span<const int32_t>(indices))};
  }
}

namespace detail {

/// The elements of all blocks at the point where kinds were evaluated.
struct Parameters {
  Blocks blocks;
  Array<double> values;

  void read() {
    const int64_t n = blocks.count() * blocks.size();
    values = Array<double>::from(std::span<const double>(blocks.data(), static_cast<size_t>(n)),
                                 {blocks.count(), blocks.size()});
  }
};

/// Observations with the same functor, evaluated together.
class Kind {
 public:
  Kind(int64_t count, std::vector<const Parameters*> parameters, std::vector<Array<int32_t>> indices, Loc loc)
      : count_(count), parameters_(std::move(parameters)), indices_(std::move(indices)), location_(loc) {}
  virtual ~Kind() = default;

  int64_t count() const { return count_; }
  int num_residuals() const { return num_residuals_; }
  const std::vector<const Parameters*>& parameters() const { return parameters_; }
  /// The index of block k of an observation.
  int64_t index(size_t k, int64_t observation) const {
    const Array<int32_t>& of = indices_[k];
    if (of.size() > 0) return of.host()[static_cast<size_t>(observation)];
    return parameters_[k]->blocks.count() == 1 ? 0 : observation;
  }
  std::span<const double> residuals() const { return residuals_.host(); }
  std::span<const double> jacobian(size_t k) const { return jacobians_[k].host(); }

  /// Forgets results at another point.
  void reset() { residuals_ = {}, jacobians_.clear(), values_ = nullptr; }
  /// Computes what is missing at the parameters that were read.
  void evaluate(bool jacobians) {
    if (values_ != nullptr && (!jacobians || !jacobians_.empty())) return;
    run(jacobians);
    values_ = residuals_.host().data();
    num_residuals_ = static_cast<int>(residuals_.size() / count_);
    slopes_.clear();
    for (const Array<double>& j : jacobians_) slopes_.push_back(j.host().data());
    sources_.clear();
    for (size_t k = 0; k < parameters_.size(); ++k) {
      const Blocks& blocks = parameters_[k]->blocks;
      sources_.push_back({parameters_[k]->values.host().data(),
                          indices_[k].size() > 0 ? indices_[k].host().data() : nullptr,
                          static_cast<size_t>(blocks.size()), blocks.count() == 1});
    }
  }
  /// In words: the first observation whose residuals are not finite, or nothing.
  std::string failure() const {
    const std::span<const double> r = residuals();
    const auto found = std::ranges::find_if(r, [](double e) { return !std::isfinite(e); });
    if (found == r.end()) return {};
    const int64_t at = found - r.begin();
    return "residual " + std::to_string(at % num_residuals_) + " of observation " +
           std::to_string(at / num_residuals_) + " of " + std::to_string(count_) + " is " +
           (std::isnan(*found) ? "NaN: the functor returned false or computed it" : "infinite") + where_text(location_);
  }
  /// For Ceres, from any thread: copies, where the observation is at the point that was evaluated.
  bool copy_to(int64_t observation, double const* const* parameters, double* residuals, double** jacobians) const {
    const auto r = static_cast<size_t>(num_residuals_), i = static_cast<size_t>(observation);
    if (!evaluated_at(i, parameters) || (jacobians != nullptr && slopes_.empty())) {
      run_one(observation, parameters, residuals, jacobians);
      return all_finite({residuals, r});
    }
    // Ceres asks in an order near that of the observations, each of which it does much else with.
    constexpr size_t kAhead = 4, kLine = 64 / sizeof(double);
    const size_t next = std::min(i + kAhead, static_cast<size_t>(count_) - 1);
    copy({values_ + i * r, r}, residuals);
    for (size_t k = 0; jacobians != nullptr && k < slopes_.size(); ++k) {
      if (jacobians[k] == nullptr) continue;
      const size_t n = r * sources_[k].size;
      for (size_t e = 0; e < n; e += kLine) __builtin_prefetch(slopes_[k] + next * n + e);
      copy({slopes_[k] + i * n, n}, jacobians[k]);
    }
    return all_finite({residuals, r});
  }

 protected:
  virtual void run(bool jacobians) = 0;
  virtual void run_one(int64_t observation, double const* const* parameters, double* residuals,
                       double** jacobians) const = 0;

  int64_t count_;
  std::vector<const Parameters*> parameters_;
  std::vector<Array<int32_t>> indices_;   // [0]: see BlocksOf
  Array<double> residuals_;               // [count, R]
  std::vector<Array<double>> jacobians_;  // [count, R, N] for each block

 private:
  /// The memory of a block's elements, in which observations are looked up.
  struct Source {
    const double* values;
    const int32_t* indices;  // nullptr: see index()
    size_t size;
    bool shared;
  };

  bool evaluated_at(size_t observation, double const* const* parameters) const {
    if (values_ == nullptr) return false;
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Source& s = sources_[k];
      const size_t at = s.indices != nullptr ? static_cast<size_t>(s.indices[observation]) : s.shared ? 0 : observation;
      if (std::memcmp(s.values + at * s.size, parameters[k], s.size * sizeof(double)) != 0) return false;
    }
    return true;
  }

  Loc location_;
  int num_residuals_ = 0;
  const double* values_ = nullptr;
  std::vector<const double*> slopes_;
  std::vector<Source> sources_;
};

/// The residuals of one observation as a vector.
template <class G>
struct Residuals {
  G g;
  Loc location;
  int64_t num_residuals;  // -1: not known before it is traced

  static constexpr int num_data = 1;
  bool shares_compiled_forms() const { return calque::detail::shareable(g); }

  template <class Data, class... X>
  auto operator()(const Data& data, const X&... x) const {
    const auto call = [&] {
      if constexpr (std::same_as<Data, std::tuple<>>) {
        return calque::detail::inlined(g, x...);
      } else {
        return calque::detail::inlined(g, data, x...);
      }
    };
    const auto result = calque::detail::block_tracer(call(), location);
    constexpr bool is_double = std::same_as<elem_t<decltype(result)>, double>;
    static_assert(is_double, "calque: Problem::add: the residuals are numbers of type double");
    return reshape(result, {-1}, location);
  }
};

/// A function of one observation for all of them: of the data, all blocks, and the indices of the blocks.
template <class G>
struct OverObservations {
  G g;
  Loc location;

  bool shares_compiled_forms() const { return calque::detail::shareable(g); }

  template <class Data, class X, class I>
  auto operator()(const Data& data, const X& blocks, const I& indices) const {
    const auto is_shared = [&](size_t k) { return indices[k].size() == 0 && blocks[k].shape()[0] == 1; };
    bool batched = !std::same_as<Data, std::tuple<>>;
    for (size_t k = 0; k < blocks.size(); ++k) batched = batched || !is_shared(k);
    VmapOptions axes{.in_axes = {0}};
    std::vector<typename X::value_type> rows;
    for (size_t k = 0; k < blocks.size(); ++k) {
      const bool gathered = indices[k].size() > 0, shared = batched && is_shared(k);  // else one observation in all
      axes.in_axes.push_back(shared ? AxisSpec(none) : AxisSpec(0));
      rows.push_back(gathered ? take(blocks[k], indices[k], 0, mode::clip, location)
                     : shared ? reshape(blocks[k], {-1}, location)
                              : blocks[k]);
    }
    return [&]<size_t... K>(std::index_sequence<K...>) {
      return vmap(g, axes, location)(data, rows[K]...);
    }(std::make_index_sequence<std::tuple_size_v<X>>());
  }
};
/// The first result alone; what only others need is eliminated.
template <class F>
struct FirstOf {
  F f;

  bool shares_compiled_forms() const { return calque::detail::shareable(f); }

  template <class... A>
  auto operator()(const A&... arguments) const {
    return f(arguments...).first;
  }
};

template <class G, class Data, size_t B>
class KindOf final : public Kind {
 public:
  KindOf(const G& g, Data data, int64_t count, std::vector<const Parameters*> parameters,
         std::vector<Array<int32_t>> indices, Loc loc)
      : Kind(count, std::move(parameters), std::move(indices), loc),
        data_(std::move(data)),
        values_(compile(FirstOf<Over>{over(g, loc)}, "residuals", loc)),
        both_(compile(over(g, loc), "residuals_and_jacobians", loc)) {}

 private:
  static auto over(const G& g, Loc loc) {
    const Residuals<G> one{g, loc, calque::detail::count_of(g)};
    return OverObservations{residuals_and_jacobians(one, loc), loc};
  }
  using Over = decltype(over(std::declval<const G&>(), Loc()));
  using Values = decltype(compile(std::declval<FirstOf<Over>>(), "", Loc()));
  using Both = decltype(compile(std::declval<Over>(), "", Loc()));

  void run(bool jacobians) override {
    std::array<Array<double>, B> blocks;
    std::array<Array<int32_t>, B> indices;
    for (size_t k = 0; k < B; ++k) blocks[k] = parameters_[k]->values, indices[k] = indices_[k];
    if (!jacobians) {
      residuals_ = values_(data_, blocks, indices);
      return;
    }
    auto [r, j] = both_(data_, blocks, indices);
    residuals_ = std::move(r);
    jacobians_.clear();
    std::apply([&](auto&... parts) { (jacobians_.push_back(std::move(parts)), ...); }, j);
  }
  /// As a batch of one.
  void run_one(int64_t observation, double const* const* parameters, double* residuals,
               double** jacobians) const override {
    std::array<Array<double>, B> blocks;
    std::array<Array<int32_t>, B> indices;
    for (size_t k = 0; k < B; ++k) {
      const int64_t size = parameters_[k]->blocks.size();
      blocks[k] = Array<double>::from({parameters[k], static_cast<size_t>(size)}, {1, size});
      indices[k] = Array<int32_t>::zeros({0});
    }
    const auto row = [&](const auto& leaf) { return leaf.at(range(observation, observation + 1)); };
    const auto [r, j] = both_(tree_map(row, data_), blocks, indices);
    copy(r.host(), residuals);
    size_t block = 0;
    const auto write = [&](const Array<double>& jacobian) {
      double* to = jacobians == nullptr ? nullptr : jacobians[block++];
      if (to != nullptr) copy(jacobian.host(), to);
    };
    std::apply([&](const auto&... parts) { (write(parts), ...); }, j);
  }

  Data data_;
  Values values_;
  Both both_;
};

/// One observation of a kind, for Ceres.
class ObservationCost final : public ::ceres::CostFunction {
 public:
  ObservationCost(const Kind& kind, int64_t observation) : kind_(kind), observation_(observation) {
    set_num_residuals(kind.num_residuals());
    for (const Parameters* p : kind.parameters()) {
      mutable_parameter_block_sizes()->push_back(static_cast<int32_t>(p->blocks.size()));
    }
  }
  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    return kind_.copy_to(observation_, parameters, residuals, jacobians);
  }

 private:
  const Kind& kind_;
  int64_t observation_;
};

}  // namespace detail

/// Residuals and their sparse Jacobian, for solvers of one's own.
struct Linearization {
  /// Of the kinds of observations in the order in which they were added, observation after observation.
  Eigen::VectorXd residuals;
  /// A column for each element of all blocks, in the order in which `Problem::add` saw them first.
  Eigen::SparseMatrix<double> jacobian;
};

/// A problem of Ceres whose residuals and Jacobians are evaluated by one compiled call for each kind of observations,
/// before Ceres' threads read them. Blocks are in memory of the user, where Ceres finds and leaves their values.
///   cq::ceres::Problem problem;
///   cq::ceres::Blocks cameras(camera_values), points(point_values);   // std::vector<std::array<double, 9>>, ...
///   problem.add(cq::functor<2>(), Seen<cq::Array<double>>{u, v}, {cameras[camera], points[point]},
///               new ceres::HuberLoss(1.0));
///   problem->SetParameterBlockConstant(cameras.block(0));             // what a ceres::Problem has
///   std::cout << problem.solve(options).BriefReport() << '\n';
/// Cost functions of Ceres can be added to it beside them. Ceres refuses inner iterations for problems with an
/// evaluation callback, as this one is.
class Problem : private ::ceres::EvaluationCallback {
 public:
  Problem() : Problem(::ceres::Problem::Options()) {}
  /// Throws Error for options with an evaluation callback: the problem has its own.
  explicit Problem(::ceres::Problem::Options options, Loc loc = Loc::current())
      : problem_(std::make_unique<::ceres::Problem>(with_callback(options, this, loc))) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// The problem of Ceres Solver, to which more residuals and parameters can be added.
  ::ceres::Problem* get() { return problem_.get(); }
  /// The same, for its members.
  ::ceres::Problem* operator->() { return problem_.get(); }

  /// Adds observations: g is `functor<R>()`, or any function of the data of one observation and its blocks that
  /// returns numbers of type double; the leaves of `data` have a row for each observation. With `none` for the data g
  /// is a function of the blocks alone. Each observation is a residual block of Ceres with this loss, which the
  /// problem owns (nullptr: squares).
  /// Everything is traced and compiled here. Throws ShapeError when numbers of observations differ or an index is out
  /// of range, Error when two blocks of an observation are the same, and as g does.
  template <class G, class Data, size_t B>
  void add(const G& g, const Data& data, const BlocksOf (&blocks)[B], ::ceres::LossFunction* loss = nullptr,
           Loc loc = Loc::current()) {
    if constexpr (std::same_as<Data, none_t>) {
      add_kind(g, std::tuple<>(), blocks, loss, loc);
    } else {
      static_assert(calque::detail::holds_data<Data>(),
                    "calque: Problem::add: the data are a tree of arrays with a row for each observation, or cq::none");
      add_kind(g, data, blocks, loss, loc);
    }
  }

  /// ceres::Solve. When it fails because residuals are not finite, the message of the summary says which.
  ::ceres::Solver::Summary solve(const ::ceres::Solver::Options& options) {
    ::ceres::Solver::Summary summary;
    failure_.clear();
    ::ceres::Solve(options, problem_.get(), &summary);
    if (summary.termination_type == ::ceres::FAILURE && !failure_.empty()) summary.message += " (" + failure_ + ")";
    return summary;
  }

  /// Which residual was not finite in the last evaluation, with the line that added it; empty if all were.
  const std::string& failure() const { return failure_; }

  /// Residuals and Jacobian of the observations that `add` added, at the blocks' values, without losses and manifolds:
  /// for a Gauss-Newton method of one's own. (ceres::Problem::Evaluate has those of losses and manifolds.)
  Linearization linearize() {
    PrepareForEvaluation(true, true);
    int64_t rows = 0, columns = 0;
    size_t entries = 0;
    for (const auto& kind : kinds_) {
      rows += kind->count() * kind->num_residuals();
      for (size_t k = 0; k < kind->parameters().size(); ++k) entries += kind->jacobian(k).size();
    }
    for (const detail::Parameters& p : parameters_) columns += p.blocks.count() * p.blocks.size();
    Linearization result{Eigen::VectorXd(rows), Eigen::SparseMatrix<double>(rows, columns)};
    std::vector<Eigen::Triplet<double>> triplets;
    triplets.reserve(entries);
    int64_t row = 0;
    for (const auto& kind : kinds_) {
      detail::copy(kind->residuals(), result.residuals.data() + row);
      for (size_t k = 0; k < kind->parameters().size(); ++k) add_triplets(*kind, k, row, triplets);
      row += kind->count() * kind->num_residuals();
    }
    result.jacobian.setFromTriplets(triplets.begin(), triplets.end());
    return result;
  }
  /// The first of the Jacobian's columns for these blocks. Throws Error when no observation has them.
  int64_t first_column(const Blocks& blocks, Loc loc = Loc::current()) const {
    int64_t column = 0;
    for (const detail::Parameters& p : parameters_) {
      if (p.blocks.data() == blocks.data()) return column;
      column += p.blocks.count() * p.blocks.size();
    }
    throw Error("first_column: no observation has these blocks" + where_text(loc));
  }

 private:
  static ::ceres::Problem::Options with_callback(::ceres::Problem::Options options, ::ceres::EvaluationCallback* own,
                                                 Loc loc) {
    if (options.evaluation_callback != nullptr) {
      throw Error("Problem: its evaluation callback is its own, and the options have another" + where_text(loc));
    }
    options.evaluation_callback = own;
    return options;
  }

  void PrepareForEvaluation(bool evaluate_jacobians, bool new_evaluation_point) override {
    if (new_evaluation_point || !read_) read_parameters();
    for (const auto& kind : kinds_) kind->evaluate(evaluate_jacobians);
    failure_.clear();
    for (const auto& kind : kinds_) {
      failure_ = kind->failure();
      if (!failure_.empty()) break;
    }
  }
  void read_parameters() {
    for (detail::Parameters& p : parameters_) p.read();
    for (const auto& kind : kinds_) kind->reset();
    read_ = true;
  }
  const detail::Parameters* parameters_of(const Blocks& blocks, Loc loc) {
    for (const detail::Parameters& p : parameters_) {
      if (p.blocks.data() != blocks.data()) continue;
      if (p.blocks.count() == blocks.count() && p.blocks.size() == blocks.size()) return &p;
      throw ShapeError("Problem::add: blocks were added as " + text(p.blocks) + " before, got " + text(blocks) +
                       where_text(loc));
    }
    return &parameters_.emplace_back(detail::Parameters{blocks, {}});
  }
  static std::string text(const Blocks& blocks) {
    return std::to_string(blocks.count()) + " of size " + std::to_string(blocks.size());
  }

  template <class G, class Data, size_t B>
  void add_kind(const G& g, const Data& data, const BlocksOf (&blocks)[B], ::ceres::LossFunction* loss, Loc loc) {
    const int64_t count = number_of_observations(calque::detail::collect_arrays(data), blocks, loc);
    check_indices(blocks, count, loc);
    if (count == 0) return;
    std::vector<const detail::Parameters*> parameters;
    std::vector<Array<int32_t>> indices;
    for (const BlocksOf& of : blocks) {
      parameters.push_back(parameters_of(of.blocks, loc));
      indices.push_back(of.indices.has_value() ? of.indices : Array<int32_t>::zeros({0}));
    }
    auto kind =
        std::make_unique<detail::KindOf<G, Data, B>>(g, data, count, std::move(parameters), std::move(indices), loc);
    read_parameters();
    kind->evaluate(false);
    kind->evaluate(true);
    std::array<double*, B> addresses;
    for (int64_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < B; ++k) addresses[k] = blocks[k].blocks.block(kind->index(k, i), loc);
      problem_->AddResidualBlock(new detail::ObservationCost(*kind, i), loss, addresses.data(), static_cast<int>(B));
    }
    kinds_.push_back(std::move(kind));
  }
  static int64_t number_of_observations(const std::vector<AnyArray>& data, std::span<const BlocksOf> blocks, Loc loc) {
    int64_t count = -1;
    std::string from;
    const auto agree = [&](int64_t n, const std::string& what) {
      if (count >= 0 && n != count) {
        throw ShapeError("Problem::add: " + from + " has " + std::to_string(count) + " observations, " + what + " " +
                         std::to_string(n) + where_text(loc));
      }
      if (count < 0) count = n, from = what;
    };
    for (size_t i = 0; i < data.size(); ++i) {
      if (data[i].rank() == 0) {
        throw ShapeError("Problem::add: leaf " + std::to_string(i) +
                         " of the data must have a row for each observation, got a number" + where_text(loc));
      }
      agree(data[i].shape()[0], "leaf " + std::to_string(i) + " of the data");
    }
    for (size_t k = 0; k < blocks.size(); ++k) {
      const BlocksOf& of = blocks[k];
      if (of.indices.has_value()) {
        if (of.indices.rank() != 1) {
          throw ShapeError("Problem::add: the indices of block " + std::to_string(k) + " must be a vector" +
                           where_text(loc));
        }
        agree(of.indices.size(), "the list of indices of block " + std::to_string(k));
      }
    }
    for (size_t k = 0; k < blocks.size(); ++k) {
      const BlocksOf& of = blocks[k];
      if (!of.indices.has_value() && of.blocks.count() != 1) {
        agree(of.blocks.count(), "block " + std::to_string(k) + ", which has no indices,");
      }
    }
    return std::max<int64_t>(count, count < 0 ? 1 : 0);
  }
  static void check_indices(std::span<const BlocksOf> blocks, int64_t count, Loc loc) {
    const auto index = [&](size_t k, int64_t i) -> int64_t {
      const BlocksOf& of = blocks[k];
      if (of.indices.has_value()) return of.indices.host()[static_cast<size_t>(i)];
      return of.blocks.count() == 1 ? 0 : i;
    };
    for (size_t k = 0; k < blocks.size(); ++k) {
      for (int64_t i = 0; i < count; ++i) {
        const auto observation = [i] { return "Problem::add: observation " + std::to_string(i); };
        if (const int64_t at = index(k, i); at < 0 || at >= blocks[k].blocks.count()) {
          throw ShapeError(observation() + " has index " + std::to_string(at) + " for block " + std::to_string(k) +
                           ", of which there are " + std::to_string(blocks[k].blocks.count()) + where_text(loc));
        }
        for (size_t other = 0; other < k; ++other) {
          if (blocks[k].blocks.data() == blocks[other].blocks.data() && index(k, i) == index(other, i)) {
            throw Error(observation() + " has the same block twice, as block " + std::to_string(other) + " and block " +
                        std::to_string(k) + where_text(loc));
          }
        }
      }
    }
  }
  void add_triplets(const detail::Kind& kind, size_t k, int64_t row,
                    std::vector<Eigen::Triplet<double>>& triplets) const {
    const Blocks& blocks = kind.parameters()[k]->blocks;
    const int64_t first = first_column(blocks);
    const double* value = kind.jacobian(k).data();
    for (int64_t i = 0; i < kind.count(); ++i) {
      const int64_t column = first + kind.index(k, i) * blocks.size();
      for (int64_t r = 0; r < kind.num_residuals(); ++r, ++row) {
        for (int64_t n = 0; n < blocks.size(); ++n) {
          triplets.emplace_back(static_cast<int>(row), static_cast<int>(column + n), *value++);
        }
      }
    }
  }

  bool read_ = false;
  std::deque<detail::Parameters> parameters_;
  std::vector<std::unique_ptr<detail::Kind>> kinds_;
  std::string failure_;
  std::unique_ptr<::ceres::Problem> problem_;  // destroyed first: its cost functions refer to the kinds
};

}  // namespace calque::ceres
