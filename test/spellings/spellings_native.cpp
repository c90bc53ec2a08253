// Spellings of structs, conversions, Eigen parameters, graphs and functions, with the types that must come out. With
// -DNEG=n (1..20) it must not compile, and the first error names the cause (negatives_native.cmake).
// LINES: 16
#include <algorithm>

#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
using TF = cq::Tracer<float>;
using TD = cq::Tracer<double>;
using TI = cq::Tracer<int32_t>;
using V3 = cq::Vector<double, 3>;
using M3 = cq::Matrix<double, 3, 3>;
#define IS(T, ...) static_assert(std::is_same_v<__VA_ARGS__, T>)
#define SAME(T, ...) static_assert(std::is_same_v<T, std::remove_cvref_t<decltype(__VA_ARGS__)>>)
template <class S>
struct State {
  Eigen::Matrix<S, 3, 1> p, v;
  S m;
};
template <class S>
struct Pose {
  Eigen::Matrix<S, 3, 3> r;
  State<S> s;
  std::vector<S> gains;
  std::array<S, 2> ab;
  std::optional<S> extra;
};
template <class S>
struct Outer {
  State<S> s;
  S m;
};  // an Eigen member only deep inside
template <class S>
struct Fleet {
  std::vector<State<S>> all;
  std::map<std::string, S> named;
  std::optional<Eigen::Matrix<S, Eigen::Dynamic, 1>> last;
  std::tuple<S, Eigen::Matrix<S, 2, 1>> t;
};
template <class S, int N>
struct Arm {
  Eigen::Matrix<S, N, 1> q;
  std::array<S, N> l;
};
template <int N, class S>
struct ArmFirst {
  Eigen::Matrix<S, N, 1> q;
};
template <class S, class T, int N>
struct Two {
  Eigen::Matrix<S, N, 1> q;
  T w;
};
template <int R, int C, class S>
struct Sizes {
  Eigen::Matrix<S, R, C> q;
};
template <class S, class T>
struct Mix {
  Eigen::Matrix<S, 3, 1> q;
  T w;
};  // S is a number, T an array
template <class A, class B>
struct Both {
  A a;
  B b;
};
template <class S>
struct Kept {
  Eigen::Matrix<S, 3, 1> q;
  int depth;
  std::string name;
  std::vector<int> dims;
  bool on;
  double plain;
};
template <class S>
struct Defaults {
  Eigen::Matrix<S, 3, 1> q = Eigen::Matrix<S, 3, 1>::Zero();
  S m = S(1);
};
template <class A>
struct Layer {
  A w, b;
};
template <class A>
struct Opt {
  std::optional<A> b;
  A w;
};
template <class A>
struct Params {
  A k;
  std::vector<A> more;
};
template <class T>
struct OfElements {
  cq::Array<T> w;
};
template <class S>
struct Fixed {
  Eigen::Matrix<S, 3, 1> q;
  Eigen::Vector3d axis;
};
template <class S>
struct Base {
  Eigen::Matrix<S, 3, 1> q;
};
template <class S>
struct Rotated {
  Eigen::Quaternion<S> q;
};
struct Net {
  cq::Function<F(F)> f;
};
#ifndef NEG
void rebinding() {
  IS(State<TD>, cq::to_tracer_t<State<double>>);
  IS(State<double>, cq::to_array_t<State<double>>);
  IS(State<double>, cq::to_array_t<State<TD>>);
  IS(State<TD>, cq::to_tracer_t<State<TD>>);
  IS(Pose<float>, cq::to_array_t<Pose<TF>>);
  IS(Outer<double>, cq::to_array_t<Outer<TD>>);
  IS(Fleet<double>, cq::to_array_t<Fleet<TD>>);
  IS(Defaults<double>, cq::to_array_t<Defaults<TD>>);
  using A3 = Arm<double, 3>;
  using AT = Arm<TD, 3>;
  IS(AT, cq::to_tracer_t<A3>);
  IS(A3, cq::to_array_t<AT>);
  using B3 = ArmFirst<3, double>;
  using BT = ArmFirst<3, TD>;
  IS(BT, cq::to_tracer_t<B3>);
  IS(B3, cq::to_array_t<BT>);
  using S2 = Sizes<2, 3, float>;
  using S2T = Sizes<2, 3, TF>;
  IS(S2T, cq::to_tracer_t<S2>);
  IS(S2, cq::to_array_t<S2T>);
  using W = Two<double, F, 3>;
  using WT = Two<TD, TF, 3>;
  IS(WT, cq::to_tracer_t<W>);
  IS(W, cq::to_array_t<WT>);
  using X = Mix<double, D>;
  using XT = Mix<TD, TD>;
  IS(XT, cq::to_tracer_t<X>);
  IS(X, cq::to_array_t<XT>);  // both double: a probe tells them apart
  using B = Both<State<double>, D>;
  using Bt = Both<State<TD>, TD>;
  IS(Bt, cq::to_tracer_t<B>);
  IS(B, cq::to_array_t<Bt>);
  IS(std::vector<State<double>>, cq::to_array_t<std::vector<State<TD>>>);
  IS(Layer<D>, cq::to_array_t<Layer<TD>>);
  IS(Layer<TD>, cq::to_tracer_t<Layer<double>>);
  IS(Layer<TD>, cq::to_tracer_t<Layer<Eigen::VectorXd>>);
  IS(Layer<TD>, cq::to_tracer_t<Layer<std::vector<double>>>);
  IS(Layer<D>, cq::to_array_t<Layer<V3>>);
  IS(Layer<V3>, cq::to_carry_t<Layer<V3>>);
  IS(State<cq::Tracer<bool>>, cq::to_tracer_t<State<bool>>);
  IS(State<bool>, cq::to_array_t<State<cq::Tracer<bool>>>);
  IS(State<int64_t>, cq::to_array_t<cq::to_tracer_t<State<long long>>>);  // not State<long long>: like()
  IS(TD, cq::to_tracer_t<std::vector<double>>);
  IS(TD, cq::to_tracer_t<std::span<const double>>);
  IS(cq::Tracer<bool>, cq::to_tracer_t<std::vector<bool>>);
  IS(std::vector<TD>, cq::to_tracer_t<std::vector<std::vector<double>>>);
  IS(std::tuple<TI>, cq::to_tracer_t<std::tuple<std::vector<int>>>);
  using AR = std::array<TD, 2>;
  using AN = std::array<double, 2>;
  IS(AR, cq::to_tracer_t<AN>);
  IS(Params<D>, cq::to_array_t<Params<TD>>);  // no Eigen member: arrays
}
void structs() {
  auto step = cq::jit([](const auto& s, auto dt) {
    auto r = s;
    r.p += dt * s.v;
    r.m = s.m * 2.0;
    return r;
  });
  State<double> s{{0, 0, 1}, {1, 2, 3}, 2.0};
  s = step(s, 0.5);
  SAME(State<double>, step(s, 0.5));
  State<float> sf{};
  SAME(State<float>, step(sf, 0.5f));
  auto id = cq::jit([](const auto& t) { return t; });
  SAME(Pose<double>, id(Pose<double>{}));
  SAME(Pose<bool>, id(Pose<bool>{}));
  SAME(Fleet<double>, id(Fleet<double>{}));
  SAME(Kept<float>, id(Kept<float>{}));
  SAME(Outer<double>, id(Outer<double>{}));
  SAME(Defaults<double>, id(Defaults<double>{}));
  SAME(std::vector<State<double>>, id(std::vector<State<double>>{s}));
  using O = std::optional<State<double>>;
  SAME(O, id(O{}));
  using BO = Both<State<double>, D>;
  SAME(BO, id(BO{}));
  SAME(Opt<D>, id(Opt<Eigen::VectorXd>{}));
  SAME(Opt<D>, id(Opt<Eigen::Vector3d>{}));
  auto rotate = cq::jit([](const auto& q) {
    auto r = q;
    r.r = q.r * q.r;
    r.s.v = q.r * q.s.v;
    for (auto& g : r.gains) g = g + 1.0;
    r.ab[1] = q.ab[0] * q.ab[1];
    if (q.extra) r.extra = *q.extra * 2.0;
    SAME(V3, r.s.v);
    SAME(std::vector<TD>, r.gains);
    return r;
  });
  SAME(Pose<double>, rotate(Pose<double>{}));
  auto typed = cq::jit([](const State<TD>& s) -> State<TD> { return {s.p + s.v, s.v, s.m}; });
  SAME(State<double>, typed(s));
  auto nested = cq::jit([step](const auto& s) {
    auto r = step(s, 0.5);
    SAME(State<TD>, r);
    return step(r, 1.0);
  });
  SAME(State<double>, nested(s));
  auto energy = [](const auto& s) { return 0.5 * s.m * s.v.dot(s.v) + s.p(2); };
  SAME(State<double>, cq::grad(energy)(s));
  State<double> g = cq::like(s, cq::grad(energy)(s));
  auto [val, gs] = cq::value_and_grad(energy)(s);
  SAME(D, val);
  SAME(State<double>, gs);
  auto [y, ds] = cq::jvp(step, std::tuple{s, 0.5}, std::tuple{s, 0.0});
  SAME(State<double>, ds);
  auto [y2, pull] = cq::vjp(step, s, 0.5);
  auto [cs, ct] = pull(y2);
  SAME(State<double>, cs);
  SAME(D, ct);
  auto inner = cq::jit([energy](const auto& s) {
    auto g = cq::grad(energy)(s);
    SAME(State<TD>, g);
    auto u = cq::fori_loop(
        0, 3,
        [](auto i, auto s) {
          SAME(State<TD>, s);
          SAME(TI, i);
          s.p += s.v * 0.1;
          return s;
        },
        s);
    SAME(State<TD>, u);
    auto c = cq::cond(
        s.m > 0.0, [](auto a) { return a; },
        [](auto a) {
          a.m = a.m * 2.0;
          return a;
        },
        u);
    SAME(State<TD>, c);
    return c;
  });
  SAME(State<double>, inner(s));
  (void)g;
  (void)y;
}
void conversions() {
  Params<double> p{};
  Params<D> r{};
  SAME(Params<double>, cq::like(p, r));
  SAME(Params<double>, cq::to<Params<double>>(r));
  std::map<std::string, double> m;
  auto loss = [](const auto& p) { return p.at("a") * p.at("a"); };
  SAME(decltype(m), cq::like(m, cq::grad(loss)(m)));
  SAME(decltype(m), cq::to<std::map<std::string, double>>(cq::grad(loss)(m)));
  using MV = std::map<std::string, std::vector<double>>;
  using MA = std::map<std::string, D>;
  SAME(MV, cq::to<MV>(MA{}));
  using T = std::tuple<double, Eigen::Vector3d, std::vector<double>, D, std::optional<double>>;
  SAME(T, cq::to<T>(std::tuple<D, D, D, D, std::optional<D>>{}));
  SAME(Layer<Eigen::MatrixXd>, cq::to<Layer<Eigen::MatrixXd>>(Layer<D>{}));
  SAME(double, cq::to<double>(D{}));
  SAME(std::vector<bool>, cq::to<std::vector<bool>>(cq::Array<bool>{}));
  SAME(std::vector<long long>, cq::to<std::vector<long long>>(cq::Array<int64_t>{}));
  using FV = Fleet<double>;
  SAME(FV, cq::like(FV{}, FV{}));
  SAME(State<long long>, cq::like(State<long long>{}, State<int64_t>{}));
  auto sq = cq::jit([](auto x) {
    SAME(TD, x);
    return x * x;
  });
  std::vector<double> v{1, 2, 3}, w = sq(v);
  w = sq(v);
  const std::vector<double> cw = sq(std::span<const double>(v));
  std::vector<double> w3(sq(v));
  auto lam = [](const std::vector<double>&) {};
  lam(sq(v));
  Eigen::VectorXd e = sq(v);
  e = sq(e);
  Eigen::VectorXd e2(sq(e)), e3{sq(e)};
  Eigen::ArrayXd ea = sq(v);
  double d = cq::jit([](auto x) { return sum(x); })(v);
  std::vector<std::complex<double>> z = cq::Array<std::complex<double>>{};
  std::vector<bool> b = cq::Array<bool>{};
  std::vector<uint64_t> u = cq::Array<uint64_t>{};
  static_assert(!std::is_convertible_v<F, std::vector<double>>);
  SAME(D, cq::grad([](auto x) { return sum(x * x); })(v));
  (void)e2;
  (void)e3;
  (void)ea;
  (void)d;
  (void)cw;
  (void)w3;
  cq::jit([](auto x) {
    V3 r = x;
    auto y = cq::to<V3>(x);
    SAME(V3, y);
    SAME(TD, cq::to<TD>(r));
    SAME(State<TD>, cq::like(State<TD>{}, State<TD>{}));
    V3 g = cq::grad([](auto a) { return a.dot(a); })(r);
    return (r + y + g).eval();
  })(v);
}
void eigen() {
  Eigen::Matrix3d A;
  Eigen::Vector3d x;
  auto h = cq::jit([](const M3& A, const V3& x) -> V3 { return A * x + A.transpose() * x; });
  Eigen::Vector3d z = h(A, x);
  SAME(D, h(A, x));
  SAME(D, h(A * A, A.col(0)));
  SAME(D, h(D{}, D{}));
  std::vector<double> zs = h(A, std::vector<double>{1, 2, 3});
  auto two = cq::jit([](const cq::Matrix<double>& M, const cq::Vector<double>& y, auto t, int) -> cq::Vector<double> {
    SAME(TD, t);
    return M * y * 2 + y * t;
  });
  SAME(D, two(Eigen::MatrixXd(2, 2), Eigen::VectorXd(2), 1.0, cq::static_arg(3)));
  auto g = cq::grad([](const V3& x) { return x.dot(x); });
  Eigen::Vector3d gx = g(x);
  SAME(D, cq::jacfwd([](const V3& x) -> V3 { return x * 2.0; })(x));
  SAME(D, cq::vmap([](const V3& x) -> V3 { return x * 2.0; })(Eigen::MatrixXd(5, 3)));
  auto loop = cq::jit([](const V3& x0) -> V3 {
    return cq::fori_loop(0, 10, [](auto, const V3& x) -> V3 { return x * 0.5 + V3(x.cross(x)); }, x0);
  });
  SAME(D, loop(x));
  auto carries = cq::jit([](const M3& P, auto n) {
    auto [c, ys] = cq::scan(
        [](const M3& P, auto i) {
          M3 q = P * P.transpose();
          return std::pair{q, q.trace() * i};
        },
        P, cq::arange<double>(4));
    SAME(M3, c);
    SAME(TD, ys);
    auto [c2, y2] = cq::scan([](auto c, auto) { return std::pair{c, c}; }, P, n);
    SAME(M3, c2);
    SAME(TD, y2);
    auto w =
        cq::while_loop([](const auto& s) { return s.norm() < 1.0; }, [](const auto& s) { return (s * 2.0).eval(); }, P);
    SAME(M3, w);
    auto f = cq::fori_loop(
        0, 3,
        [&P](auto, auto v) {
          SAME(V3, v);
          return (P * v).eval();
        },
        Eigen::Vector3d(1, 0, 0));
    SAME(V3, f);
    auto k = cq::cond(
        true,
        [](auto a) {
          SAME(M3, a);
          return a;
        },
        [](auto a) -> M3 { return a * 2.0; }, P);
    SAME(M3, k);
    auto t = cq::fori_loop(
        0, 3,
        [](auto, auto s) {
          auto [a, b] = s;
          return std::tuple{V3(a * b), b};
        },
        std::tuple{V3(P.col(0)), 1.0});
    using TV = std::tuple<V3, TD>;
    SAME(TV, t);
    SAME(TD, cq::map([](auto r) { return r; }, P));
    auto l = cq::fori_loop(0, 2, [](auto, auto s) { return s; }, Layer<M3>{P, P});
    SAME(Layer<M3>, l);
    return std::pair{c, ys};
  });
  auto [c, ys] = carries(A, 3.0);
  SAME(D, c);
  Eigen::Matrix3d cc = c;
  SAME(D, cq::jit([](auto x, auto y) {
         auto b = x(1) + x.dot(y) + x.norm() + x.squaredNorm() + x.sum() + double(x.rows() + x.cols());
         SAME(TD, x(0, 1));
         SAME(TD, x.transpose());
         SAME(TD, x.dot(cq::Array<float>{}));
         SAME(TF, cq::Tracer<std::complex<float>>{}.norm());
         return b;
       })(x, x));
  Eigen::Quaterniond q;
  SAME(D, cq::jit([](const auto& c) { return norm(c); })(q.coeffs()));
  SAME(D, cq::jit([](auto a) { return a; })(x.segment<2>(0)));
  SAME(D, cq::jit([](auto a) { return a; })(x.head(2)));
  (void)z;
  (void)zs;
  (void)gx;
  (void)cc;
}
void values() {
  Layer<F> net{}, grads{};
  auto next = cq::tree_map([](auto a, auto b) { return a - 0.1 * b; }, net, grads);
  SAME(Layer<F>, next);
  SAME(Layer<F>, cq::tree_map([](auto a, auto b) { return a - 0.1f * cq::cast<float>(b); }, net, Layer<D>{}));
  SAME(Layer<D>, cq::tree_map([](auto a) { return cq::cast<double>(a); }, net));
  SAME(Layer<F>, cq::tree_map([](auto a, auto b) { return a + b; }, Layer<Eigen::MatrixXf>{}, net));
  SAME(State<double>, cq::tree_map(
                          [](auto a, auto b) {
                            SAME(D, a);
                            return a + b;
                          },
                          State<double>{}, State<double>{}));
  SAME(State<float>, cq::tree_map([](auto a) { return cq::cast<float>(a); }, State<double>{}));
  using T = std::tuple<F, std::vector<D>>;
  SAME(T, cq::tree_map([](auto a) { return -a; }, T{}));
  SAME(D, cq::tree_map([](auto a) { return -a; }, D{}));
  SAME(F, cq::tree_reduce([](auto a, auto b) { return a + sum(b); }, 0.0f, net));
  SAME(D, cq::tree_reduce([](auto a, auto b) { return a + sum(b); }, 0.0, net));
  SAME(Layer<F>, cq::zeros_like(net));
  SAME(State<double>, cq::zeros_like(State<double>{}));
  SAME(D, cq::zeros_like(Eigen::VectorXd(2)));
  SAME(std::vector<F>, cq::tree_leaves(net));
  SAME(std::vector<D>, cq::tree_leaves(State<double>{}));
  auto [flat, unravel] = cq::ravel(net);
  SAME(F, flat);
  auto back = unravel(flat * 2.0);
  SAME(Layer<F>, back);
  auto [fs, us] = cq::ravel(State<double>{});
  SAME(State<double>, us(fs));
  auto [fd, ud] = cq::ravel(std::tuple{F{}, D{}});
  SAME(D, fd);
  auto jac = cq::jacfwd([us](auto v) {
    auto s = us(v);
    SAME(State<TD>, s);
    return s.v.dot(s.p);
  })(fs);
  SAME(D, jac);
  (void)ud;
  auto inside = cq::jit([](const auto& n, auto t) {
    auto [f, un] = cq::ravel(n);
    SAME(TF, f);
    auto z = cq::tree_map([](auto a) { return a * 2.0; }, n);
    SAME(Layer<TF>, z);
    SAME(std::vector<TF>, cq::tree_leaves(n));
    return un(f * t);
  });
  SAME(Layer<F>, inside(net, 3.0f));
}
void graphs() {
  D xs = {1, 2};
  F w = {1};
  cq::Graph graph = cq::jit([](auto x) { return sum(x); }).trace(xs);
  SAME(std::vector<cq::AnyArray>, graph(xs));
  auto k = cq::jit([graph](auto x) {
    SAME(std::vector<cq::AnyTracer>, graph(x));
    return graph(x)[0].template as<double>();
  });
  SAME(D, k(xs));
  SAME(D, cq::grad([graph](auto x) { return graph(x)[0].template as<double>(); })(xs));
  SAME(D, cq::grad(graph)(xs));
  SAME(std::vector<cq::AnyArray>, cq::vmap(graph)(xs));
  SAME(std::vector<cq::AnyArray>, cq::jit(graph)(xs));
  SAME(std::vector<cq::AnyArray>, cq::jit([graph](auto x) { return graph(x); })(xs));
  auto f = cq::jit([](auto x) { return tanh(x); });
  cq::Function<F(F)> fn = f;
  fn = f;
  SAME(F, fn(w));
  Net n{f};
  Net n2{cq::jit([](auto x) { return tanh(x); })};
  std::vector<Net> nets{n, n2};
  SAME(F, nets[1].f(F{1, 2}));
  std::map<std::string, cq::Function<F(F)>> table{{"a", f}, {"b", cq::grad([](auto x) { return sum(x); })}};
  static_assert(std::is_copy_constructible_v<Net>);
  SAME(TF, fn(TF{}));
  SAME(D, cq::grad([fn](auto x) { return sum(fn(x)); })(w) * 1.0 + D{});
  cq::Function<Eigen::Vector3d(Eigen::Matrix3d, Eigen::Vector3d)> h =
      cq::jit([](const M3& A, const V3& x) -> V3 { return A * x; });
  SAME(Eigen::Vector3d, h(Eigen::Matrix3d(), Eigen::Vector3d()));
  cq::Function<State<double>(State<double>, double)> st = cq::jit([](auto s, auto t) {
    s.m = s.m * t;
    return s;
  });
  cq::Function<Params<double>(Params<double>)> pp = cq::jit([](auto p) { return p; });
  cq::Function<double(double, double)> sc = cq::compile<double(double, double)>([](auto x, auto y) { return x * y; });
  cq::Function<std::vector<double>(std::vector<double>)> vv = cq::jit([](auto x) { return x; });
  cq::Function<F(F)> plain = [](const F& a) { return a; };
  cq::Function<F(F)> none;
  if (none) none(w);
  cq::Function ded = cq::jit([](const cq::Tracer<float>& x, const V3& y) { return std::pair{x * 2.0f, V3(y * 2.0)}; });
  using Ded = cq::Function<std::pair<F, Eigen::Vector3d>(F, Eigen::Vector3d)>;
  IS(Ded, decltype(ded));
  (void)st;
  (void)pp;
  (void)sc;
  (void)vv;
  (void)plain;
}
#else
void negative() {
  Eigen::Matrix3d A;
  Eigen::Vector3d x;
  F w;
  auto id = cq::jit([](const auto& t) { return t; });
  (void)A;
  (void)x;
  (void)w;
#if NEG == 1
  cq::jit([](const M3& A, const V3& x) { return A * x; })(A, x);  // unevaluated
#elif NEG == 2
  cq::jit([](const M3& A) { return std::tuple{A.transpose(), 1.0}; })(A);
#elif NEG == 3
  cq::jit([](const V3& x0) -> V3 { return cq::fori_loop(0, 3, [](auto, const V3& x) { return x * 0.5; }, x0); })(x);
#elif NEG == 4
  id(OfElements<float>{});
#elif NEG == 5
  id(Fixed<double>{});
#elif NEG == 6
  id(Rotated<double>{});
#elif NEG == 7
  cq::jit([](const Eigen::Vector3d& v) { return v; })(x);  // a typed parameter of numbers
#elif NEG == 8
  cq::to<State<float>>(State<double>{});
#elif NEG == 9
  cq::to<Params<double>>(Opt<D>{});
#elif NEG == 10
  cq::jit([](auto s) { return cq::to<State<double>>(s); })(State<double>{});
#elif NEG == 11
  cq::hessian([](const auto& s) { return s.v.dot(s.v); })(State<double>{});
#elif NEG == 12
  cq::jit([](auto s) {
    auto [c, ys] = cq::scan([](auto c, auto) { return std::pair{c, c}; }, s, cq::arange<double>(3));
    return c;
  })(State<double>{});
#elif NEG == 13
  cq::tree_map([](auto a, auto) { return a; }, Layer<F>{}, Opt<State<double>>{});
#elif NEG == 14
  cq::tree_leaves(std::tuple{F{}, D{}});
#elif NEG == 15
  cq::Function<D(F)> f = cq::jit([](auto x) { return x; });
#elif NEG == 16
  cq::Function<F(F)> f = cq::jit([](auto x, auto y) { return x + y; });
#elif NEG == 17
  cq::jit([](auto x) {
    std::vector<double> v{1, 2};
    return std::span<const double>(v);
  })(x);
#elif NEG == 18
  cq::jit([](auto k) {
    int n = k;
    return k * n;
  })(3);  // int(k)
#elif NEG == 19
  cq::jit([](const V3& x) -> V3 {
    return cq::while_loop([](auto s) { return s.norm() < 1.0; }, [](auto s) { return s.norm(); }, x);
  })(x);
#elif NEG == 20
  struct Wrong {
    cq::Array<float> a;
    Eigen::Vector3d v;
  };
  id(Wrong{});
#endif
}
#endif
int main() {}
