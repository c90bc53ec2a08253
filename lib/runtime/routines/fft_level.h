// The routines of one level: included by the source file of each, with CALQUE_LEVEL defined as its name.
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/routines/fft.h"
#include "runtime/routines/vectors_level.h"

namespace calque::runtime::CALQUE_LEVEL {
namespace {

template <class T>
struct VectorOf {
  static constexpr int64_t kLanes = kVectorBytes / sizeof(T);
  using type [[gnu::vector_size(kVectorBytes)]] = T;
  using unaligned [[gnu::vector_size(kVectorBytes), gnu::aligned(sizeof(T)), gnu::may_alias]] = T;
};
template <class T>
using Vector = typename VectorOf<T>::type;

/// E is a number or a vector of them.
template <class E, class T>
[[gnu::always_inline]] inline E load(const T* from) {
  if constexpr (std::is_same_v<E, T>)
    return *from;
  else
    return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(from);
}
template <class E, class T>
[[gnu::always_inline]] inline void store(T* to, const E& x) {
  if constexpr (std::is_same_v<E, T>)
    *to = x;
  else
    *reinterpret_cast<typename VectorOf<T>::unaligned*>(to) = x;
}
/// How many numbers E has.
template <class E, class T>
inline constexpr int64_t kSize = sizeof(E) / sizeof(T);

template <class T>
struct Planes {
  T* re;
  T* im;
  Planes swapped() const { return {im, re}; }
};

// ---- shuffles

/// The blocks of G lanes of a and b in turn: of the lower halves, or the upper ones.
template <int G, bool Upper, class V, size_t... I>
[[gnu::always_inline]] inline V zip_blocks(V a, V b, std::index_sequence<I...>) {
  constexpr size_t kLanes = sizeof...(I), kBlock = static_cast<size_t>(G), kFirst = Upper ? kLanes / 2 : 0;
  return __builtin_shufflevector(
      a, b, static_cast<int>(kFirst + I / kBlock / 2 * kBlock + I % kBlock + I / kBlock % 2 * kLanes)...);
}
template <int Odd, class V, size_t... I>
[[gnu::always_inline]] inline V unzip_lanes(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(2 * I + Odd)...);
}

/// Pairs of numbers as real and imaginary parts.
template <class T>
[[gnu::always_inline]] inline void load_pairs(const T* from, Vector<T>& re, Vector<T>& im) {
  using All = std::make_index_sequence<VectorOf<T>::kLanes>;
  const auto a = load<Vector<T>>(from), b = load<Vector<T>>(from + VectorOf<T>::kLanes);
  re = unzip_lanes<0>(a, b, All());
  im = unzip_lanes<1>(a, b, All());
}
template <class T>
[[gnu::always_inline]] inline void store_pairs(T* to, Vector<T> re, Vector<T> im) {
  using All = std::make_index_sequence<VectorOf<T>::kLanes>;
  store(to, zip_lanes<false>(re, im, All()));
  store(to + VectorOf<T>::kLanes, zip_lanes<true>(re, im, All()));
}

/// Stores vectors so that blocks of G lanes of each follow each other.
template <int R, int G, class T>
[[gnu::always_inline]] inline void store_in_turn(T* to, const Vector<T>* v) {
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  using All = std::make_index_sequence<kLanes>;
  if constexpr (R == 2) {
    store(to, zip_blocks<G, false>(v[0], v[1], All()));
    store(to + kLanes, zip_blocks<G, true>(v[0], v[1], All()));
  } else {
    static_assert(R == 4);
    const auto a = zip_blocks<G, false>(v[0], v[2], All()), b = zip_blocks<G, false>(v[1], v[3], All());
    const auto c = zip_blocks<G, true>(v[0], v[2], All()), d = zip_blocks<G, true>(v[1], v[3], All());
    store(to, zip_blocks<G, false>(a, b, All()));
    store(to + kLanes, zip_blocks<G, true>(a, b, All()));
    store(to + 2 * kLanes, zip_blocks<G, false>(c, d, All()));
    store(to + 3 * kLanes, zip_blocks<G, true>(c, d, All()));
  }
}

// ---- transforms of R elements

template <int R, class E, class T>
[[gnu::always_inline]] inline void transform_few(E* re, E* im, const FftPass<T>& pass) {
  if constexpr (R == 2) {
    const E a = re[0], b = im[0];
    re[0] = a + re[1], im[0] = b + im[1];
    re[1] = a - re[1], im[1] = b - im[1];
  } else if constexpr (R == 4) {
    const E ar = re[0] + re[2], ai = im[0] + im[2], br = re[0] - re[2], bi = im[0] - im[2];
    const E cr = re[1] + re[3], ci = im[1] + im[3], dr = re[1] - re[3], di = im[1] - im[3];
    re[0] = ar + cr, im[0] = ai + ci;
    re[1] = br + di, im[1] = bi - dr;
    re[2] = ar - cr, im[2] = ai - ci;
    re[3] = br - di, im[3] = bi + dr;
  } else {
    // Elements j and R - j have conjugate factors.
    constexpr int kHalf = R / 2;
    E sr[kHalf], si[kHalf], dr[kHalf], di[kHalf];
    each<kHalf>([&](auto i) __attribute__((always_inline)) {
      constexpr int j = i + 1;
      sr[i] = re[j] + re[R - j], si[i] = im[j] + im[R - j];
      dr[i] = re[j] - re[R - j], di[i] = im[j] - im[R - j];
    });
    const E first_re = re[0], first_im = im[0];
    each<kHalf>([&](auto i) __attribute__((always_inline)) { re[0] += sr[i], im[0] += si[i]; });
    each<kHalf>([&](auto h) __attribute__((always_inline)) {
      constexpr int k = h + 1;
      E ar = first_re, ai = first_im, br{}, bi{};
      each<kHalf>([&](auto i) __attribute__((always_inline)) {
        constexpr int jk = (i + 1) * k % R;
        constexpr bool kConjugate = jk > kHalf;
        const T c = pass.cosines[kConjugate ? R - jk : jk], s = pass.sines[kConjugate ? R - jk : jk];
        ar += c * sr[i], ai += c * si[i];
        if constexpr (kConjugate)
          br -= s * dr[i], bi -= s * di[i];
        else
          br += s * dr[i], bi += s * di[i];
      });
      re[k] = ar + bi, im[k] = ai - br;
      re[R - k] = ar - bi, im[R - k] = ai + br;
    });
  }
}

template <class E, class F>
[[gnu::always_inline]] inline void multiply(E& re, E& im, F by_re, F by_im) {
  const E x = re;
  re = x * by_re - im * by_im;
  im = x * by_im + im * by_re;
}

// ---- passes

/// A pass whose vectors have one p, or one number at a time. Of `side` transforms side by side. The last pass has no
/// factors; with Pairs it writes pairs, multiplied by `scale`.
template <int R, class E, bool Last, bool Pairs, class T>
void pass_of(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, int64_t side, T* pairs, bool swap, T scale) {
  constexpr int64_t kLanes = kSize<E, T>;
  const int64_t s = pass.stride * side, m = Last ? 1 : pass.count, step = m * s;
  for (int64_t p = 0; p < m; ++p) {
    const T* const w = pass.twiddles + p * 2 * (R - 1);
    for (int64_t q = 0; q < s; q += kLanes) {
      // Of a rest some results are computed again.
      const int64_t at = q + kLanes > s ? s - kLanes : q;
      E re[R], im[R];
      each<R>([&](auto j) __attribute__((always_inline)) {
        re[j] = load<E>(x.re + at + s * p + j * step), im[j] = load<E>(x.im + at + s * p + j * step);
      });
      transform_few<R>(re, im, pass);
      if constexpr (!Last)
        each<R - 1>([&](auto k)
                        __attribute__((always_inline)) { multiply(re[k + 1], im[k + 1], w[2 * k], w[2 * k + 1]); });
      if constexpr (Pairs) {
        each<R>([&](auto k) __attribute__((always_inline)) {
          const E a = re[k] * scale, b = im[k] * scale;
          store_pairs<T>(pairs + 2 * (at + k * s), swap ? b : a, swap ? a : b);
        });
      } else {
        each<R>([&](auto k) __attribute__((always_inline)) {
          store(y.re + at + s * (R * p + k), re[k]), store(y.im + at + s * (R * p + k), im[k]);
        });
      }
    }
  }
}

/// A pass whose vectors have kLanes / G numbers p, where G is the stride. With Pairs it reads pairs.
template <int R, int G, bool Pairs, class T>
void pass_of_lanes(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, const T* pairs, bool swap) {
  using V = Vector<T>;
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  const int64_t step = pass.count * pass.stride;
  for (int64_t i = 0; i < step; i += kLanes) {
    const int64_t at = i + kLanes > step ? step - kLanes : i;
    V re[R], im[R];
    each<R>([&](auto j) __attribute__((always_inline)) {
      if constexpr (Pairs) {
        V a, b;
        load_pairs<T>(pairs + 2 * (at + j * step), a, b);
        re[j] = swap ? b : a, im[j] = swap ? a : b;
      } else {
        re[j] = load<V>(x.re + at + j * step), im[j] = load<V>(x.im + at + j * step);
      }
    });
    transform_few<R>(re, im, pass);
    each<R - 1>([&](auto k) __attribute__((always_inline)) {
      const T* const w = pass.lane_twiddles + 2 * k * step + at;
      multiply(re[k + 1], im[k + 1], load<V>(w), load<V>(w + step));
    });
    store_in_turn<R, G>(y.re + at * R, re);
    store_in_turn<R, G>(y.im + at * R, im);
  }
}

/// `pass_of` of any odd radix.
template <class E, bool Last, class T>
void pass_of_any(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, int64_t side) {
  constexpr int64_t kLanes = kSize<E, T>;
  const int64_t s = pass.stride * side, step = pass.count * s, radix = pass.radix, half = radix / 2;
  E sr[kMostRadix / 2], si[kMostRadix / 2], dr[kMostRadix / 2], di[kMostRadix / 2];
  for (int64_t p = 0; p < pass.count; ++p) {
    const T* const w = pass.twiddles + p * 2 * (radix - 1);
    for (int64_t q = 0; q < s; q += kLanes) {
      const int64_t at = q + kLanes > s ? s - kLanes : q;
      const T *const re = x.re + at + s * p, *const im = x.im + at + s * p;
      const E first_re = load<E>(re), first_im = load<E>(im);
      E sum_re = first_re, sum_im = first_im;
      for (int64_t j = 0; j < half; ++j) {
        const int64_t up = (j + 1) * step, down = (radix - 1 - j) * step;
        const E ar = load<E>(re + up), ai = load<E>(im + up), br = load<E>(re + down), bi = load<E>(im + down);
        sr[j] = ar + br, si[j] = ai + bi, dr[j] = ar - br, di[j] = ai - bi;
        sum_re += sr[j], sum_im += si[j];
      }
      const auto put = [&](int64_t k, E a, E b) __attribute__((always_inline)) {
        if constexpr (!Last) multiply(a, b, w[2 * k - 2], w[2 * k - 1]);
        store(y.re + at + s * (radix * p + k), a), store(y.im + at + s * (radix * p + k), b);
      };
      store(y.re + at + s * radix * p, sum_re), store(y.im + at + s * radix * p, sum_im);
      for (int64_t k = 1; k <= half; ++k) {
        E ar = first_re, ai = first_im, br{}, bi{};
        int64_t jk = 0;
        for (int64_t j = 0; j < half; ++j) {
          jk += jk + k < radix ? k : k - radix;
          const T cosine = pass.cosines[jk], sine = pass.sines[jk];
          ar += cosine * sr[j], ai += cosine * si[j], br += sine * dr[j], bi += sine * di[j];
        }
        put(k, ar + bi, ai - br);
        put(radix - k, ar - bi, ai + br);
      }
    }
  }
}

template <class T>
bool has_lanes_of_several(const FftPass<T>& pass) {
  return pass.lane_twiddles != nullptr;
}

/// Rows of pairs as planes and back.
template <class T>
void planes_of(const T* from, int64_t n, Planes<T> to) {
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    Vector<T> re, im;
    load_pairs<T>(from + 2 * k, re, im);
    store(to.re + k, re), store(to.im + k, im);
  }
  for (; k < n; ++k) to.re[k] = from[2 * k], to.im[k] = from[2 * k + 1];
}
template <class T>
void pairs_of(Planes<const T> from, int64_t n, T scale, T* to) {
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes)
    store_pairs<T>(to + 2 * k, load<Vector<T>>(from.re + k) * scale, load<Vector<T>>(from.im + k) * scale);
  for (; k < n; ++k) to[2 * k] = from.re[k] * scale, to[2 * k + 1] = from.im[k] * scale;
}

template <class E, bool Last, class T>
void run_pass(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, int64_t side) {
  switch (pass.radix) {
    case 2:
      return pass_of<2, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 3:
      return pass_of<3, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 4:
      return pass_of<4, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 5:
      return pass_of<5, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 7:
      return pass_of<7, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 11:
      return pass_of<11, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    case 13:
      return pass_of<13, E, Last, false, T>(pass, x, y, side, nullptr, false, T(1));
    default:
      return pass_of_any<E, Last>(pass, x, y, side);
  }
}
template <class E, class T>
void run_pass(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, int64_t side) {
  pass.count == 1 ? run_pass<E, true>(pass, x, y, side) : run_pass<E, false>(pass, x, y, side);
}

template <bool Pairs, class T>
void run_lanes(const FftPass<T>& pass, Planes<const T> x, Planes<T> y, const T* pairs, bool swap) {
  if constexpr (!Pairs) {
    if constexpr (VectorOf<T>::kLanes > 4) {
      if (pass.stride == 4)
        return pass.radix == 2 ? pass_of_lanes<2, 4, false>(pass, x, y, pairs, swap)
                               : pass_of_lanes<4, 4, false>(pass, x, y, pairs, swap);
    }
  }
  pass.radix == 2 ? pass_of_lanes<2, 1, Pairs>(pass, x, y, pairs, swap)
                  : pass_of_lanes<4, 1, Pairs>(pass, x, y, pairs, swap);
}

/// The last pass, which writes pairs. False if there is none of its kind.
template <class T>
bool run_last(const FftPass<T>& pass, Planes<const T> x, T* pairs, bool swap, T scale) {
  using V = Vector<T>;
  if (pass.count != 1 || pass.stride < VectorOf<T>::kLanes) return false;
  switch (pass.radix) {
    case 2:
      pass_of<2, V, true, true, T>(pass, x, {}, 1, pairs, swap, scale);
      return true;
    case 3:
      pass_of<3, V, true, true, T>(pass, x, {}, 1, pairs, swap, scale);
      return true;
    case 4:
      pass_of<4, V, true, true, T>(pass, x, {}, 1, pairs, swap, scale);
      return true;
    case 5:
      pass_of<5, V, true, true, T>(pass, x, {}, 1, pairs, swap, scale);
      return true;
    default:
      return false;
  }
}

// ---- transforms

/// One transform, or with vectors as E one for each lane. Elements are in x or, if there are, in `pairs_in`. Results
/// are in the planes that are returned, x or y, or in `pairs_out`, multiplied by `scale`, if that is given. `swap`
/// exchanges the parts of pairs. `space` is for a convolution.
template <class E, class T>
Planes<T> transform(const FftPlan<T>& plan, Planes<T> x, Planes<T> y, T* space, const T* pairs_in = nullptr,
                    T* pairs_out = nullptr, bool swap = false, T scale = T(1));

/// Numbers of a plane: planes that are a multiple of a page apart would share the lines of a cache.
template <class E, class T>
int64_t plane_size(int64_t n) {
  return (n * kSize<E, T> + 63) / 64 * 64 + 16;
}
template <class E, class T>
Planes<T> planes_at(T* space, int64_t n) {
  return {space, space + plane_size<E, T>(n)};
}

template <class E, class T>
int64_t space_of_convolution(const FftPlan<T>& plan) {
  return plan.convolution == nullptr ? 0 : 4 * plane_size<E, T>(plan.convolution->n);
}

template <class E, class T>
Planes<T> convolve(const FftPlan<T>& plan, Planes<T> x, T* space) {
  constexpr int64_t kLanes = kSize<E, T>;
  const int64_t n = plan.n, length = plan.convolution->n;
  const Planes<T> a = planes_at<E>(space, length), b = planes_at<E>(space + 2 * plane_size<E, T>(length), length);
  const auto multiply_by = [](Planes<T> from, const T* factors, int64_t of, int64_t count, Planes<T> to) {
    for (int64_t k = 0; k < count; ++k) {
      E re = load<E>(from.re + k * kLanes), im = load<E>(from.im + k * kLanes);
      multiply(re, im, factors[k], factors[of + k]);
      store(to.re + k * kLanes, re), store(to.im + k * kLanes, im);
    }
  };
  multiply_by(x, plan.chirp, n, n, a);
  for (int64_t i = n * kLanes; i < length * kLanes; ++i) a.re[i] = a.im[i] = T(0);
  const Planes<T> first = transform<E>(*plan.convolution, a, b, static_cast<T*>(nullptr));
  multiply_by(first, plan.spectrum, length, length, first);
  const Planes<T> other = first.re == a.re ? b : a;
  const Planes<T> back =
      transform<E>(*plan.convolution, first.swapped(), other.swapped(), static_cast<T*>(nullptr)).swapped();
  multiply_by(back, plan.chirp, n, n, x);
  return x;
}

template <class E, class T>
Planes<T> transform(const FftPlan<T>& plan, Planes<T> x, Planes<T> y, T* space, const T* pairs_in, T* pairs_out,
                    bool swap, T scale) {
  constexpr bool kIsLanes = !std::is_same_v<E, T>;
  const auto parts = [swap](Planes<T> z) { return swap ? z.swapped() : z; };
  int64_t i = 0;
  if (pairs_in != nullptr) {
    if (plan.num_passes > 1 && has_lanes_of_several(plan.passes[0])) {
      run_lanes<true, T>(plan.passes[0], {}, y, pairs_in, swap);
      std::swap(x, y);
      i = 1;
    } else {
      planes_of(pairs_in, plan.n, parts(x));
    }
  }
  if (plan.convolution != nullptr) x = convolve<E>(plan, x, space);
  for (; i < plan.num_passes; ++i) {
    const FftPass<T>& pass = plan.passes[i];
    const Planes<const T> from{x.re, x.im};
    if constexpr (kIsLanes) {
      run_pass<E>(pass, from, y, kSize<E, T>);
    } else {
      if (pairs_out != nullptr && run_last(pass, from, pairs_out, swap, scale)) return {};
      if (has_lanes_of_several(pass))
        run_lanes<false, T>(pass, from, y, nullptr, false);
      else if (pass.stride >= VectorOf<T>::kLanes)
        run_pass<Vector<T>>(pass, from, y, 1);
      else
        run_pass<T>(pass, from, y, 1);
    }
    std::swap(x, y);
  }
  if (pairs_out == nullptr) return x;
  pairs_of<T>({parts(x).re, parts(x).im}, plan.n, scale, pairs_out);
  return {};
}

/// The transform of a long row, from pairs to pairs. Lanes are columns of the matrix, and then rows of it.
template <class T>
void transform_matrix(const FftPlan<T>& plan, const T* from, T* to, bool swap, T scale, T* space) {
  using V = Vector<T>;
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  const int64_t rows = plan.columns->n, columns = plan.rows->n, longer = rows < columns ? columns : rows;
  T* const matrix = space;
  const Planes<T> x = planes_at<V>(matrix + 2 * plan.n, longer),
                  y = planes_at<V>(matrix + 2 * plan.n + 2 * plane_size<V, T>(longer), longer);
  for (int64_t c = 0; c < columns; c += kLanes) {
    for (int64_t r = 0; r < rows; ++r) {
      V re, im;
      load_pairs<T>(from + 2 * (r * columns + c), re, im);
      store(x.re + r * kLanes, swap ? im : re), store(x.im + r * kLanes, swap ? re : im);
    }
    const Planes<T> z = transform<V>(*plan.columns, x, y, static_cast<T*>(nullptr));
    for (int64_t r = 0; r < rows; ++r) {
      V re = load<V>(z.re + r * kLanes), im = load<V>(z.im + r * kLanes);
      const T* const w = plan.matrix_twiddles + 2 * r * columns + c;
      multiply(re, im, load<V>(w), load<V>(w + columns));
      store(matrix + 2 * r * columns + c, re), store(matrix + (2 * r + 1) * columns + c, im);
    }
  }
  for (int64_t r = 0; r < rows; r += kLanes) {
    const auto load_plane = [&](const T* plane, T* column) {
      for (int64_t c = 0; c < columns; c += kLanes) {
        V v[kLanes];
        each<kLanes>([&](auto i) __attribute__((always_inline)) { v[i] = load<V>(plane + 2 * i * columns + c); });
        rotate_numbers<kLanes, kLanes, kLanes>(v);
        each<kLanes>([&](auto i) __attribute__((always_inline)) { store(column + (c + i) * kLanes, v[i]); });
      }
    };
    load_plane(matrix + 2 * r * columns, x.re);
    load_plane(matrix + (2 * r + 1) * columns, x.im);
    const Planes<T> z = transform<V>(*plan.rows, x, y, static_cast<T*>(nullptr));
    for (int64_t c = 0; c < columns; ++c) {
      const V re = load<V>(z.re + c * kLanes) * scale, im = load<V>(z.im + c * kLanes) * scale;
      store_pairs<T>(to + 2 * (c * rows + r), swap ? im : re, swap ? re : im);
    }
  }
}
template <class T>
int64_t space_of_matrix(const FftPlan<T>& plan) {
  const int64_t rows = plan.columns->n, columns = plan.rows->n;
  return 2 * plan.n + 4 * plane_size<Vector<T>, T>(rows < columns ? columns : rows);
}

// ---- rows

enum class Kind : uint32_t { fft, ifft, rfft, irfft };

/// Elements of half a row of real numbers to those of its transform, in place; z has n / 2 + 1 elements, of which the
/// last is not read.
template <class E, class T>
void split_halves(Planes<T> z, int64_t half, const T* w) {
  constexpr int64_t kLanes = kSize<E, T>;
  const E re = load<E>(z.re), im = load<E>(z.im);
  store(z.re, re + im), store(z.im, E{});
  store(z.re + half * kLanes, re - im), store(z.im + half * kLanes, E{});
  for (int64_t k = 1; 2 * k <= half; ++k) {
    T *const ar = z.re + k * kLanes, *const ai = z.im + k * kLanes, *const br = z.re + (half - k) * kLanes,
             *const bi = z.im + (half - k) * kLanes;
    const E a = load<E>(ar), b = load<E>(ai), c = load<E>(br), d = load<E>(bi);
    const E er = T(0.5) * (a + c), ei = T(0.5) * (b - d);
    E odd_re = T(0.5) * (b + d), odd_im = T(0.5) * (c - a);
    multiply(odd_re, odd_im, w[2 * k], w[2 * k + 1]);
    store(ar, er + odd_re), store(ai, ei + odd_im);
    store(br, er - odd_re), store(bi, odd_im - ei);
  }
}
/// The inverse, times 2.
template <class E, class T>
void join_halves(Planes<T> z, int64_t half, const T* w) {
  constexpr int64_t kLanes = kSize<E, T>;
  const E first = load<E>(z.re), last = load<E>(z.re + half * kLanes);
  store(z.re, first + last), store(z.im, first - last);
  for (int64_t k = 1; 2 * k <= half; ++k) {
    T *const ar = z.re + k * kLanes, *const ai = z.im + k * kLanes, *const br = z.re + (half - k) * kLanes,
             *const bi = z.im + (half - k) * kLanes;
    const E a = load<E>(ar), b = load<E>(ai), c = load<E>(br), d = load<E>(bi);
    const E er = a + c, ei = b - d;
    E odd_re = a - c, odd_im = b + d;
    multiply(odd_re, odd_im, w[2 * k], -w[2 * k + 1]);
    store(ar, er - odd_im), store(ai, ei + odd_re);
    store(br, er + odd_im), store(bi, odd_re - ei);
  }
}
/// Elements n / 2 + 1 ... n - 1 of the transform of a real row of odd length n.
template <class E, class T>
void conjugate_rest(Planes<T> z, int64_t n) {
  constexpr int64_t kLanes = kSize<E, T>;
  store(z.im, E{});
  for (int64_t k = n / 2 + 1; k < n; ++k) {
    store(z.re + k * kLanes, load<E>(z.re + (n - k) * kLanes));
    store(z.im + k * kLanes, -load<E>(z.im + (n - k) * kLanes));
  }
}

template <class E, class T>
int64_t space_for(const FftRows<T>& rows) {
  if (rows.plan->columns != nullptr) return space_of_matrix(*rows.plan);
  return 4 * plane_size<E, T>(rows.plan->n + 1) + space_of_convolution<E>(*rows.plan);
}
template <class T>
int64_t space(const FftRows<T>& rows, bool side_by_side) {
  return side_by_side ? space_for<Vector<T>>(rows) : space_for<T>(rows);
}

template <class T>
void transform_row(const FftRows<T>& rows, const T* from, T* to, T* space) {
  const FftPlan<T>& plan = *rows.plan;
  const int64_t n = rows.length;
  const bool is_half = rows.half_twiddles != nullptr;
  if (plan.columns != nullptr) {
    const bool inverse = static_cast<Kind>(rows.kind) == Kind::ifft;
    return transform_matrix(plan, from, to, inverse, inverse ? T(1) / static_cast<T>(n) : T(1), space);
  }
  const Planes<T> x = planes_at<T>(space, plan.n + 1),
                  y = planes_at<T>(space + 2 * plane_size<T, T>(plan.n + 1), plan.n + 1);
  T* const rest = space + 4 * plane_size<T, T>(plan.n + 1);
  switch (static_cast<Kind>(rows.kind)) {
    case Kind::fft:
      transform<T>(plan, x, y, rest, from, to);
      return;
    case Kind::ifft:
      transform<T>(plan, x, y, rest, from, to, true, T(1) / static_cast<T>(n));
      return;
    case Kind::rfft: {
      Planes<T> z = x;
      if (is_half) {
        z = transform<T>(plan, x, y, rest, from);
        split_halves<T>(z, n / 2, rows.half_twiddles);
      } else {
        for (int64_t j = 0; j < n; ++j) x.re[j] = from[j], x.im[j] = T(0);
        z = transform<T>(plan, x, y, rest);
      }
      return pairs_of<T>({z.re, z.im}, n / 2 + 1, T(1), to);
    }
    case Kind::irfft: {
      const T scale = T(1) / static_cast<T>(n);
      planes_of(from, n / 2 + 1, x);
      if (is_half) {
        join_halves<T>(x, n / 2, rows.half_twiddles);
        transform<T>(plan, x.swapped(), y.swapped(), rest, static_cast<const T*>(nullptr), to, true, scale);
        return;
      }
      conjugate_rest<T>(x, n);
      const Planes<T> z = transform<T>(plan, x.swapped(), y.swapped(), rest).swapped();
      for (int64_t j = 0; j < n; ++j) to[j] = z.re[j] * scale;
    }
  }
}

/// Columns of `width` numbers of rows, as vectors: number i of the rows goes to `to(i)`. Rows that are not there are
/// the last one again.
template <class T, class To>
[[gnu::always_inline]] inline void load_columns(const T* from, int64_t row_size, int64_t count, const To& to) {
  using V = Vector<T>;
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  int64_t i = 0;
  const auto row = [&](int64_t r)
                       __attribute__((always_inline)) { return from + (r < count ? r : count - 1) * row_size; };
  for (; i + kLanes <= row_size; i += kLanes) {
    V v[kLanes];
    each<kLanes>([&](auto r) __attribute__((always_inline)) { v[r] = load<V>(row(r) + i); });
    rotate_numbers<kLanes, kLanes, kLanes>(v);
    each<kLanes>([&](auto c) __attribute__((always_inline)) { store(to(i + c), v[c]); });
  }
  for (; i < row_size; ++i) {
    T* const column = to(i);
    for (int64_t r = 0; r < kLanes; ++r) column[r] = row(r)[i];
  }
}
template <class T, class From>
[[gnu::always_inline]] inline void store_columns(const From& from, int64_t row_size, int64_t count, T scale, T* to) {
  using V = Vector<T>;
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= row_size; i += kLanes) {
    V v[kLanes];
    each<kLanes>([&](auto c) __attribute__((always_inline)) { v[c] = load<V>(from(i + c)) * scale; });
    rotate_numbers<kLanes, kLanes, kLanes>(v);
    if (count == kLanes)
      each<kLanes>([&](auto r) __attribute__((always_inline)) { store(to + r * row_size + i, v[r]); });
    else
      for (int64_t r = 0; r < count; ++r) store(to + r * row_size + i, v[r]);
  }
  for (; i < row_size; ++i) {
    const T* const column = from(i);
    for (int64_t r = 0; r < count; ++r) to[r * row_size + i] = column[r] * scale;
  }
}

template <class T>
void transform_lanes(const FftRows<T>& rows, const T* from, T* to, int64_t count, T* space) {
  using V = Vector<T>;
  constexpr int64_t kLanes = VectorOf<T>::kLanes;
  const FftPlan<T>& plan = *rows.plan;
  const int64_t n = rows.length, half = n / 2 + 1;
  const bool is_half = rows.half_twiddles != nullptr;
  const Planes<T> x = planes_at<V>(space, plan.n + 1),
                  y = planes_at<V>(space + 2 * plane_size<V, T>(plan.n + 1), plan.n + 1);
  T* const rest = space + 4 * plane_size<V, T>(plan.n + 1);
  const auto pairs = [](Planes<T> z) {
    return [z](int64_t i) __attribute__((always_inline)) { return (i % 2 == 0 ? z.re : z.im) + i / 2 * kLanes; };
  };
  const auto reals = [](Planes<T> z) {
    return [z](int64_t i) __attribute__((always_inline)) { return z.re + i * kLanes; };
  };
  switch (static_cast<Kind>(rows.kind)) {
    case Kind::fft:
      load_columns(from, 2 * n, count, pairs(x));
      return store_columns(pairs(transform<V>(plan, x, y, rest)), 2 * n, count, T(1), to);
    case Kind::ifft:
      load_columns(from, 2 * n, count, pairs(x.swapped()));
      return store_columns(pairs(transform<V>(plan, x, y, rest).swapped()), 2 * n, count, T(1) / static_cast<T>(n), to);
    case Kind::rfft: {
      Planes<T> z = x;
      if (is_half) {
        load_columns(from, n, count, pairs(x));
        z = transform<V>(plan, x, y, rest);
        split_halves<V>(z, n / 2, rows.half_twiddles);
      } else {
        load_columns(from, n, count, reals(x));
        for (int64_t i = 0; i < n * kLanes; ++i) x.im[i] = T(0);
        z = transform<V>(plan, x, y, rest);
      }
      return store_columns(pairs(z), 2 * half, count, T(1), to);
    }
    case Kind::irfft: {
      const T scale = T(1) / static_cast<T>(n);
      load_columns(from, 2 * half, count, pairs(x));
      if (is_half)
        join_halves<V>(x, n / 2, rows.half_twiddles);
      else
        conjugate_rest<V>(x, n);
      const Planes<T> z = transform<V>(plan, x.swapped(), y.swapped(), rest).swapped();
      return is_half ? store_columns(pairs(z), n, count, scale, to) : store_columns(reals(z), n, count, scale, to);
    }
  }
}

template <class T>
void transform_rows(const FftRows<T>& rows, const T* from, T* to, int64_t count, T* space) {
  const int64_t n = rows.length, half = 2 * (n / 2 + 1);
  const auto kind = static_cast<Kind>(rows.kind);
  const int64_t read = kind == Kind::rfft ? n : kind == Kind::irfft ? half : 2 * n;
  const int64_t written = kind == Kind::irfft ? n : kind == Kind::rfft ? half : 2 * n;
  for (int64_t i = 0; i < count; ++i) transform_row(rows, from + i * read, to + i * written, space);
}

}  // namespace

extern const FftRoutines<float> kFftFloats = {VectorOf<float>::kLanes, &space<float>, &transform_rows<float>,
                                              &transform_lanes<float>};
extern const FftRoutines<double> kFftDoubles = {VectorOf<double>::kLanes, &space<double>, &transform_rows<double>,
                                                &transform_lanes<double>};

}  // namespace calque::runtime::CALQUE_LEVEL
