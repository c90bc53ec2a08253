// Every spelling of the interface with its result type: this file must compile and link. With -DNEG=n (1..9, not 3) it
// must not compile, and holds nothing but that snippet; negatives.cmake has the expected messages. Parts whose
// functions a version of the library lacks are compiled when their macro is defined: SPELL_LINALG.
#include <algorithm>

#include <calque/calque.h>
#include <calque/eigen.h>
namespace cq = calque;
using F = cq::Array<float>;
using D = cq::Array<double>;
using TF = cq::Tracer<float>;
using TD = cq::Tracer<double>;
#define SAME(T, ...) static_assert(std::is_same_v<T, std::remove_cvref_t<decltype(__VA_ARGS__)>>)
template <class A>
struct Layer {
  A w, b;
};
template <class A, int N>
struct Sized {
  A w;
  std::array<A, N> b;
  int depth = N;
};
template <int N, class A>
struct SizedFirst {
  A w;
};
template <class A>
struct Body {
  A p;
  Layer<A> inner;
  std::optional<A> maybe;
  std::map<std::string, A> named;
  std::vector<int> dims;
  bool on;
};
struct Plain {
  int n;
  double x;
  std::string s;
};
struct Holds {
  F a;
  int n;
};
template <class A>
struct MatrixAndVector {
  A w;
  Eigen::Vector3d axis;
};
template <class A>
struct CArray {
  A w[2];
  int n;
};
#ifdef NEG
void negative() {
  F w = {1};
  auto id = cq::jit([](const auto& t) { return t; });
#if NEG == 1
  id(Holds{w, 1});
#elif NEG == 2
  cq::jit([](auto) {})(w);
#elif NEG == 3
  cq::jit([](auto x) { return x && true; })(w > w);
#elif NEG == 4
  cq::jit([](auto x) {
    return cq::while_loop([](auto s) { return s < 1; }, [](auto s) { return s * cq::zeros<double>({}); }, x);
  })(w);
#elif NEG == 5
  cq::jit([](auto x) {
    double d = x;
    return x + d;
  })(w);
#elif NEG == 6
  cq::jit([](auto x) {
    x += cq::zeros<double>({});
    return x;
  })(w);
#elif NEG == 7
  id(CArray<F>{{w, w}, 1});
#elif NEG == 8
  cq::grad([](auto x) { return std::tuple{x, x}; })(w);
#elif NEG == 9
  id(MatrixAndVector<F>{w, {}});
#endif
}
#else
void arrays() {
  cq::Array<float> a = {{1, 2, 3}, {4, 5, 6}};
  cq::Array<float> c3 = {{{1}, {2}}, {{3}, {4}}};
  cq::Array<double> s = 3.0;
  cq::Array<std::complex<float>> z{{{1, 2}, {3, 4}}};
  F copy{a};
  F again = {a};
  float buf[6] = {};
  auto b = F::from(std::span<const float>(buf), cq::Shape{2, 3});
  auto v = F::wrap(buf, {2, 3}, [](float*) {});
  std::vector<F> list{a, b};
  float q = a;
  float q2{a};
  float q3 = a.item() + a(1, 2);
  static_assert(!std::is_convertible_v<F, double>);
  static_assert(std::is_convertible_v<D, double>);
  static_assert(!std::is_convertible_v<TF, F>);
  static_assert(std::is_convertible_v<F, TF>);
  SAME(F, a + b);
  SAME(D, a * s);
  SAME(F, 0.1 * a);
  SAME(F, -a);
  SAME(F, a % 2);
  SAME(cq::Array<bool>, a == b);
  SAME(cq::Array<bool>, a != 1);
  SAME(F, sin(a));
  SAME(F, sum(a, {0, 1}));
  SAME(F, a.T());
  SAME(D, D{}.T());
  SAME(cq::Array<uint16_t>, cq::Array<uint16_t>{}.T());
  SAME(F, min(a, b));
  SAME(D, max(a, s));
  a += b;
  a -= 0.1 * b;
  a *= 2;
  a = a / 3;
  cq::Array<int32_t> i{1, 2};
  SAME(cq::Array<int32_t>, i / 2);
  SAME(D, i * 0.5);
  SAME(F, i * 0.5F);
  SAME(cq::Array<int32_t>, i & 1);
  SAME(cq::Array<int16_t>, cq::Array<int8_t>{} + cq::Array<uint8_t>{});
  SAME(F, cq::Array<uint64_t>{} * cq::Array<int8_t>{});
  SAME(cq::Array<bool>, (a > b) && (a < b));
  if ((a > b).item()) return;
  if (sum(a) > 2.0f) return;
  SAME(cq::Array<bool>, !(a > b));
  SAME(cq::Array<bool>, cq::all(a > b));
  SAME(cq::Array<bool>, all(a > b));
  SAME(cq::Array<bool>, any(a > b));
  SAME(F, cq::concatenate({a, b}, 0));
  SAME(F, a.at(0, cq::all, cq::range(0, cq::none, 2), cq::newaxis));
  SAME(float, a.host()[0]);
  std::cout << a << a.shape();
  a.to(cq::gpu());
  (void)q;
  (void)q2;
  (void)q3;
  (void)v;
  (void)c3;
  (void)z;
  (void)copy;
  (void)again;
  {
    using namespace std;
    SAME(F, min(a, b));
    SAME(F, sin(a));
    SAME(F, pow(a, 2.0));
    SAME(F, abs(a));
  }
  {
    using std::sin;
    SAME(F, sin(a));
    SAME(double, sin(1.0));
  }
  Eigen::MatrixXf m = a;
  Eigen::Matrix<float, 2, 3> m23 = a;
  Eigen::MatrixXf m2(a), m3{a};
  m = a;
  (void)m23;
  (void)m2;
  (void)m3;
  static_assert(!std::is_convertible_v<F, Eigen::MatrixXd>);
}
void tracers() {
  F w = {1, 2, 3};
  D wd = {1, 2, 3};
  cq::Array<int32_t> wi = {1, 2};
  auto f = cq::jit([=](auto x) {
    SAME(TF, x);
    auto n = x.shape()[0];
    cq::Tracer<bool> mask = x > 0;
    auto y = x;
    SAME(TF, x * 2.0);
    SAME(TF, x * 2);
    SAME(TF, x + w);
    SAME(TF, w - x);
    SAME(TD, x * wd);
    SAME(TD, wd / x);
    SAME(TF, x * wi);
    SAME(cq::Tracer<bool>, wd == x);
    SAME(cq::Tracer<bool>, x != wd);
    SAME(TF, min(x, w));
    SAME(TD, max(wd, x));
    SAME(TF, max(x, 0));
    SAME(TF, pow(x, 2));
    SAME(TF, where(mask, x, 0));
    SAME(TF, where(x > w, w, x));
    SAME(TD, where(mask, 1.0, 0.0));
    SAME(cq::Tracer<bool>, mask & true);
    SAME(cq::Tracer<bool>, mask | mask);
    SAME(cq::Tracer<bool>, mask == true);
    SAME(cq::Tracer<bool>, !mask && mask);
    SAME(cq::Tracer<bool>, all(mask));
    SAME(cq::Tracer<bool>, cq::all(mask, {0}));
    SAME(cq::Tracer<bool>, any(mask));
    SAME(TD, mask * 2.0);
    SAME(TF, mask * x);
    SAME(TF, x * mask);
    SAME(cq::Tracer<bool>, mask ^ mask);
    SAME(cq::Tracer<bool>, (w > 1) & mask);
    x += w;
    x *= 2.0;
    x -= 0.1 * x;
    y = n > 2 ? x : w;
    y = w;
    SAME(TF, x[0]);
    SAME(TF, x[n - 1][cq::all]);
    SAME(TF, x.at(0, cq::all, cq::range(0, n, 2), cq::newaxis));
    SAME(TF, x.set(0, cq::range(0, n), 1.0));
    SAME(TF, x.T());
    SAME(TD, cq::Tracer<double>{}.T());
    SAME(cq::Tracer<int8_t>, cq::Tracer<int8_t>{}.T());
    SAME(TF, x.at(cq::Array<int32_t>{1, 2}));
    SAME(TF, cq::zeros<float>({2}));
    SAME(TF, cq::zeros<float>({}) * w);
    SAME(TF, cq::concatenate({x, y}, 0));
    SAME(TD, cq::concatenate(std::tuple{x, wd}, 0));
    SAME(TF, cq::stack(std::vector{x, y}, 0));
    SAME(std::vector<TF>, split(x, 2, 0));
    SAME(std::vector<TF>, split(x, {1, 3}, 0));
    auto [vals, idx] = top_k(x, 2);
    SAME(cq::Tracer<int32_t>, idx);
    SAME(TF, vals);
    SAME(cq::Tracer<int32_t>, searchsorted(w, x, cq::side::left));
    SAME(TF, sort(x, 0));
    SAME(cq::Tracer<int32_t>, argsort(x, 0, cq::descending));
    SAME(TF, quantile(x, 0.5, -1));
    SAME(TF, pad(x, 0.0, {1}, {-1}));
    SAME(TF, layer_norm(x, -1));
    SAME(TF, layer_norm(x, w, w, -1, 1e-6));
    SAME(TF, norm(x, {0}));
    SAME(TF, conv(x, w, {.strides = {1, 1}, .padding = cq::same, .dilation = {1, 1}, .groups = 1}));
    SAME(TF, conv(x, w, {.padding = {{1, 1}, {0, 2}}}));
    SAME(TF, take(x, wi, 0, cq::mode::fill));
    SAME(TF, scatter_add(x, wi, 1.0));
    SAME(TF, gather(x, wi, wi));
    SAME(TF, sum(x, {-1}, cq::keepdims));
    SAME(TF, cq::einsum("i,i->", x, w));
    SAME(TD, cq::cast<double>(x));
    SAME(TD, cast<double>(x));
    SAME(cq::Tracer<int32_t>, bitcast<int32_t>(x));
    SAME(cq::Tracer<int32_t>, argmax(x, 0));
    SAME(TF, softmax(x, -1));
    SAME(TF, transpose(x));
    SAME(TF, transpose(x, {1, 0}));
    SAME(TF, fma(x, 2.0, w));
    SAME(TF, clip(x, 0, 1));
    SAME(TF, abs(x));
    SAME(float, abs(1.0f));
    {
      using namespace std;
      SAME(TF, min(x, y));
      SAME(TF, sin(x));
      SAME(TF, max(x, 1.0));
    }
    if (sum(x) > 0) y = -y;
    std::cout << x;
    return x + y;
  });
  SAME(F, f(w));
  SAME(TD, cq::Tracer<float>{} + cq::Tracer<double>{});
  SAME(cq::Tracer<int16_t>, cq::Tracer<int8_t>{} * cq::Array<uint8_t>{});
  SAME(cq::Tracer<int16_t>, cq::Array<int8_t>{} * cq::Tracer<uint8_t>{});
  SAME(cq::Tracer<bool>, cq::Tracer<int8_t>{} == cq::Tracer<uint8_t>{});
  SAME(cq::Tracer<std::complex<float>>, cq::Tracer<std::complex<float>>{} * 2.0);
  SAME(TF, abs(cq::Tracer<std::complex<float>>{}));
  SAME(TD, cq::Tracer<int32_t>{} * 0.5);
  SAME(TF, sqrt(cq::Tracer<int32_t>{}));
  SAME(cq::Array<cq::bfloat16>, exp(cq::Array<cq::bfloat16>{}));
  static_assert(!std::is_convertible_v<TF, double>);
  static_assert(!std::is_convertible_v<Eigen::Matrix<TF, 3, 1>, TF>);
  static_assert(std::is_constructible_v<TF, Eigen::Matrix<TF, 3, 1>>);
}
void trees() {
  F w = {1};
  auto id = cq::jit([](const auto& t) { return t; });
  SAME(Layer<F>, id(Layer<F>{w, w}));
  SAME(Layer<F>, id(Layer<Eigen::MatrixXf>{}));
  SAME(Layer<D>, id(Layer<double>{1, 2}));
  using S3 = Sized<F, 3>;
  SAME(S3, id(S3{}));
  using SF = SizedFirst<3, F>;
  SAME(SF, id(SF{}));
  SAME(Body<F>, id(Body<F>{}));
  SAME(std::vector<Layer<F>>, id(std::vector<Layer<F>>{}));
  SAME(Plain, id(Plain{1, 2, "a"}));
  SAME(D, id(2.0));
  SAME(cq::Array<int32_t>, id(2));
  SAME(cq::Array<int64_t>, id(2LL));
  SAME(cq::Array<int32_t>, id(std::vector<int>{1}));
  SAME(cq::Array<int32_t>, id(cq::static_arg(3)));
  using M = std::map<std::string, F>;
  SAME(M, id(M{}));
  SAME(std::optional<F>, id(std::optional<F>{w}));
  auto lay = cq::jit([](const auto& l, auto x) { return Layer{l.w * 2.0, x}; });
  SAME(Layer<F>, lay(Layer<F>{w, w}, w));
  auto [lw, lb] = lay(Layer<F>{w, w}, w);
  SAME(F, lw);
  SAME(F, lb);
  auto outer = cq::jit([lay](auto x) {
    auto l = lay(Layer{x, x}, 1.0f);
    SAME(Layer<TF>, l);
    return l.w;
  });
  SAME(F, outer(w));
  SAME(F, cq::jit([w](auto) { return w; })(w));
  SAME(D, cq::jit([](auto) { return 2.0; })(w));
}
void transforms() {
  D x = {1};
  F w = {1};
  auto f = [](auto x, auto w) { return sum(x * w); };
  SAME(D, cq::grad(f)(x, w));
  using G2 = std::tuple<D, F>;
  SAME(G2, cq::grad(f, cq::argnums<0, 1>)(x, w));
  auto [v, g] = cq::value_and_grad(f)(x, w);
  SAME(D, v);
  SAME(D, g);
  auto [v2, g2] = cq::value_and_grad(f, cq::argnums<1>)(x, w);
  SAME(std::tuple<F>, g2);
  SAME(D, cq::grad(f)(2.0, 3.0));
  auto [y, dy] = cq::jvp(f, std::tuple{x, w}, std::tuple{x, w});
  SAME(D, y);
  auto [y2, pull] = cq::vjp(f, x, w);
  auto [dx, dw] = pull(y2);
  SAME(F, dw);
  auto [y3, lin] = cq::linearize(f, x, w);
  SAME(D, lin(x, w));
  auto [y4, dy4] =
      cq::jvp([](auto t) { return std::get<0>(t); }, cq::args(std::tuple{x, w}), cq::args(std::tuple{x, w}));
  SAME(D, dy4);
  SAME(D, cq::vmap(f, {.in_axes = {0, cq::none}, .out_axes = {0}})(x, w));
  SAME(D, cq::vmap(f, {.in_axes = {{0, {0, cq::none}}, 0}})(x, w));
  SAME(D, cq::jacfwd(f)(x, w));
  SAME(D, cq::jacrev(f)(x, w));
  SAME(D, cq::hessian(f)(x, w));
  SAME(Layer<D>, cq::jacfwd([](auto l) { return l.w; })(Layer<D>{x, x}));
  SAME(Layer<Layer<D>>, cq::hessian([](auto l) { return sum(l.w); })(Layer<D>{x, x}));
  SAME(Layer<F>, cq::grad([](const auto& l) { return sum(l.w); })(Layer<F>{w, w}));
  auto nest = cq::jit(cq::vmap(cq::grad(cq::checkpoint(cq::jit(f))), {.in_axes = {0, cq::none}}));
  SAME(D, nest(x, w));
  SAME(D, cq::jit([f](auto x) {
         auto [y, pull] = cq::vjp(f, x, x);
         auto [a, b] = pull(y);
         SAME(TD, a);
         auto [l, dl] = cq::linearize([f, a](auto u) { return f(u, a); }, x);
         return dl(b);
       })(x));
  Eigen::VectorXd e = cq::grad([](auto x) { return sum(x * x); })(Eigen::VectorXd(3));
  (void)e;
  (void)dx;
  (void)dy;
  (void)v2;
  (void)y3;
  (void)y4;
}
void control_flow() {
  D x = {1};
  auto cg = cq::jit([](auto x, auto n) {
    auto s = cq::fori_loop(
        0, n,
        [x](auto i, auto s) {
          SAME(cq::Tracer<int64_t>, i);
          return s * x;
        },
        D(1.0));
    SAME(TD, s);
    auto t = cq::while_loop([](auto s) { return std::get<1>(s) < 3; },
                            [x](auto s) {
                              auto [a, k] = s;
                              return std::tuple{a * x, k + 1};
                            },
                            std::tuple{D(1.0), 0});
    auto [c, ys] = cq::scan([x](auto c, auto i) { return std::pair{c + x, std::tuple{c, i}}; }, 0.0, x,
                            {.reverse = true, .unroll = 4});
    SAME(TD, c);
    auto o = cq::cond(true, [](auto a) { return a; }, [x](auto) { return x; }, 1.0);
    SAME(TD, o);
    SAME(TD, cq::map([](auto r) { return sum(r); }, x));
    auto in = cq::jit([](auto) { return 1; })(x);
    SAME(cq::Tracer<int32_t>, in);
    return s + std::get<0>(t) + std::get<0>(ys) + c;
  });
  SAME(D, cg(x, int64_t{3}));
}
void random_numbers() {
  D x = {1};
  auto key = cq::random::key(42);
  SAME(cq::random::Key, key);
  SAME(cq::Array<float>, cq::random::gamma<float>(key, 2.5, {3, 4}));
  SAME(cq::Array<double>, cq::random::loggamma<double>(key, cq::Array<double>{1, 2}, {2}));
  SAME(cq::Array<float>, cq::random::beta(key, 0.5, 1.5, {3}));
  SAME(cq::Array<float>, cq::random::dirichlet<float>(key, cq::Array<float>{1, 2}, {3}));
  SAME(cq::Array<float>, cq::random::chisquare<float>(key, 3, {3}));
  SAME(cq::Array<float>, cq::random::t<float>(key, 3, {3}));
  SAME(cq::Array<int64_t>, cq::random::poisson<int64_t>(key, 3.5, {3}));
  auto noise = cq::jit([](auto k, auto x) {
    auto [a, b] = cq::random::split(k);
    SAME(TF, cq::random::uniform<float>(a, {3, 4}));
    return std::pair{x + cq::random::normal<float>(b, x.shape()), a};
  });
  auto [nx, nk] = noise(key, x);
  SAME(cq::random::Key, nk);
  SAME(D, nx);
}
void triangular_systems() {
  D x = {1};
  SAME(D, cq::linalg::cholesky(x));
  SAME(F, cq::linalg::cholesky(cq::Array<int32_t>{1}));
  SAME(D, cq::linalg::triangular_solve(x, x, {.lower = true, .transpose = false, .unit_diagonal = false}));
  SAME(D, cq::linalg::cho_solve(x, x));
}
void norms_and_matrices() {
  D x = {1}, m = {{1, 2}, {3, 4}};
  cq::Array<int32_t> i = {1};
  cq::Array<std::complex<float>> z = {1.0f};
  SAME(D, cq::linalg::norm(x));
  SAME(F, cq::linalg::norm(z, cq::linalg::ord::one));
  SAME(F, cq::linalg::norm(i, cq::linalg::ord::minus_inf, {0}, cq::keepdims));
  SAME(D, cq::linalg::norm(m, {0, 1}, cq::keepdims));
  SAME(D, cq::linalg::norm(x, 3));
  SAME(D, cq::linalg::norm(m, 1.5, -1));
  SAME(D, cq::linalg::multi_dot(i, m, m, x));
  SAME(D, cq::linalg::multi_dot(std::vector{m, m, m}));
  SAME(cq::Array<int32_t>, cq::diag(i, -1));
  SAME(D, tril(m, 1));
  SAME(D, triu(m));
  SAME(D, kron(i, m));
  SAME(D, cq::vander(x, 3, true));
  SAME(cq::Array<int32_t>, cq::vander(cq::Array<bool>{true}));
  SAME(D, cq::toeplitz(x));
  SAME(D, cq::toeplitz(i, x));
  SAME(D, cq::block_diag(i, 2, m));
  SAME(D, cq::block_diag(i, i, i, i, x));
  SAME(D, cq::block_diag(std::vector{x, m}));
  SAME(D, inner(i, x));
  SAME(D, outer(x, x));
  SAME(D, vdot(x, x));
  SAME(D, vecdot(m, x));
  SAME(D, cross(D{1, 2, 3}, cq::Array<int32_t>{1, 2, 3}));
}
void factors_and_systems() {
  D x = {1};
  cq::Array<int32_t> i = {1};
  auto [q, r] = cq::linalg::qr(x);
  auto [p, l, u] = cq::linalg::lu(x);
  auto [packed, perm] = cq::linalg::lu_factor(i);
  auto [sign, log] = cq::linalg::slogdet(x);
  auto [solution, residuals, rank, values] = cq::linalg::lstsq(x, i, 1e-9);
  auto [w, v] = cq::linalg::eigh(x);
  auto [left, s, vh] = cq::linalg::svd(i);
  SAME(D, D(q));
  SAME(D, D(r));
  SAME(D, D(p));
  SAME(D, D(l));
  SAME(D, D(u));
  SAME(F, F(packed));
  SAME(cq::Array<int32_t>, cq::Array<int32_t>(perm));
  SAME(D, D(sign));
  SAME(D, D(log));
  SAME(D, D(solution));
  SAME(D, D(residuals));
  SAME(cq::Array<int32_t>, cq::Array<int32_t>(rank));
  SAME(D, D(values));
  SAME(D, D(w));
  auto [values_of_any, vectors_of_any] = cq::linalg::eig(x);
  SAME(cq::Array<std::complex<double>>, cq::Array<std::complex<double>>(values_of_any));
  SAME(cq::Array<std::complex<double>>, cq::Array<std::complex<double>>(vectors_of_any));
  SAME(cq::Array<std::complex<double>>, cq::linalg::eigvals(x));
  SAME(cq::Array<std::complex<float>>, cq::linalg::eigvals(i));
  SAME(D, D(v));
  SAME(F, F(left));
  SAME(F, F(s));
  SAME(F, F(vh));
  SAME(D, cq::linalg::eigvalsh(x));
  SAME(D, cq::linalg::svdvals(x));
  SAME(D, cq::linalg::pinv(x));
  SAME(D, cq::linalg::pinv(x, 1e-9));
  SAME(cq::Array<int32_t>, cq::linalg::matrix_rank(x));
  SAME(cq::Array<int32_t>, cq::linalg::matrix_rank(x, 1e-9));
  SAME(D, cq::linalg::cond(x));
  SAME(D, cq::linalg::cond(x, cq::linalg::ord::one));
  SAME(D, cq::linalg::lu_solve(x, i, x));
  SAME(D, cq::linalg::solve(x, x));
  SAME(D, cq::linalg::inv(x));
  SAME(D, cq::linalg::det(x));
  SAME(F, cq::linalg::det(i));
  SAME(D, cq::linalg::cho_factor(x));
  SAME(D, cq::linalg::solve_triangular(x, x, {.lower = false}));
  SAME(D, cq::linalg::matrix_power(x, -3));
  SAME(D, cq::linalg::expm(x));
  SAME(D, cq::linalg::norm(x));
}
#ifdef SPELL_LINALG
void linear_algebra() {
  D x = {1};
  auto [u, s, vt] = cq::linalg::svd(x);
  (void)u;
  (void)s;
  (void)vt;
}
#endif
void eigen() {
  D x = {1, 2, 3};
  auto f = cq::jit([](auto x) {
    Eigen::Matrix<TD, 3, 1> r = x;
    Eigen::Matrix<TD, Eigen::Dynamic, Eigen::Dynamic> m(x), o;
    o = m * m.transpose();
    TD back(o);
    Eigen::Matrix<TD, 3, 3> k = Eigen::Matrix<TD, 3, 3>::Identity() * 2.0;
    auto n = r.dot(r);
    SAME(TD, n);
    r += k * r;
    return std::tuple{r, k, back * n, Eigen::Matrix<TD, 3, 1>(r.cross(r)), r.norm() * x};
  });
  using R = std::tuple<D, D, D, D, D>;
  SAME(R, f(x));
  auto e = cq::jit([](auto x) {
    Eigen::Matrix<TD, 3, 1> r = x;
    return (r + r).eval();
  })(x);
  SAME(D, e);
  SAME(D, cq::jit([](auto x) {
         auto g = cq::jit([](auto x) {
           Eigen::Matrix<TD, 3, 1> r = x;
           return r;
         });
         auto y = g(x);
         SAME(TD, y);
         return y;
       })(x));
  Eigen::MatrixXf A(2, 2);
  SAME(F, cq::jit([](auto a) { return a; })(A * A));
  SAME(F, cq::jit([](auto a) { return a; })(A.row(0)));
  Eigen::Ref<Eigen::MatrixXf> ref(A);
  SAME(F, cq::jit([](auto a) { return a; })(ref));
  SAME(std::vector<F>, cq::jit([](auto a) { return a; })(std::vector<Eigen::MatrixXf>{A}));
}
struct Printer : cq::Interpreter {
  std::vector<cq::AnyArray> equation(const cq::Equation& e, const std::vector<cq::AnyArray>& v) override {
    std::cout << e.primitive();
    return cq::Interpreter::equation(e, v);
  }
};
void graphs() {
  D x = {1};
  auto f = cq::jit([](auto x) { return x + 1; },
                   {.name = "step", .device = cq::gpu(0), .donate = {0}, .fast_math = true, .strict = false});
  auto flushing = cq::jit([](auto x) { return x + 1; }, {.deterministic = true, .flush_subnormals = true});
  cq::Graph g = f.trace(x);
  for (cq::Equation& e : g.equations()) std::cout << e.primitive() << e.operands().size();
  if (cq::parse(print(g)) == g) g.verify();
  std::cout << f.lower(x).plan() << f.lower(x).ptx() << f.lower(x).graph();
  f.lower(x).export_object("f.o", {.triple = "aarch64-linux-gnu", .cpu = "x", .header = "f.h", .symbol = "f"});
  const cq::Graph cg = g;
  D y = cq::jit(cg)(x)[0].as<double>();
  D y2 = cq::jit(std::move(g))(x)[0].as<double>();
  Printer p;
  (void)p;
  (void)y;
  (void)y2;
}
#endif
int main() {}
