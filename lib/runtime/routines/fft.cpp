#include "runtime/routines/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "ir/fork.h"
#include "primitives/spectral/fft.h"
#include "runtime/routines/driver.h"

namespace calque::runtime {
namespace {

using primitives::FftKind;

/// exp(-2 pi i k / n) of 0 <= k < n: by the angle's distance from the nearest axis, in long double, rounded once.
template <class T>
std::complex<T> root_of_unity(int64_t k, int64_t n) {
  const int64_t quarter = (8 * k / n + 1) / 2;
  const long double angle =
      std::numbers::pi_v<long double> / 2 * static_cast<long double>(4 * k - quarter * n) / static_cast<long double>(n);
  const auto c = static_cast<T>(std::cos(angle)), s = static_cast<T>(std::sin(angle));
  const std::complex<T> root = quarter % 2 == 0 ? std::complex<T>(c, -s) : std::complex<T>(-s, -c);
  return quarter % 4 >= 2 ? -root : root;
}

/// The first `count` of them. Those of the other quarters are those of the first one, times -i, -1 and i.
template <class T>
std::vector<std::complex<T>> roots_of_unity(int64_t n, int64_t count) {
  std::vector<std::complex<T>> roots(static_cast<size_t>(count));
  const int64_t quarter = n % 4 == 0 ? n / 4 : n;
  for (int64_t k = 0; k < count; ++k) {
    if (k < quarter) {
      roots[static_cast<size_t>(k)] = root_of_unity<T>(k, n);
    } else {
      const std::complex<T> before = roots[static_cast<size_t>(k - quarter)];
      roots[static_cast<size_t>(k)] = {before.imag(), -before.real()};
    }
  }
  return roots;
}

/// Their parts, one behind the other.
template <class T>
std::vector<T> parts_of_roots(int64_t n, int64_t count) {
  std::vector<T> parts;
  parts.reserve(static_cast<size_t>(2 * count));
  for (const std::complex<T>& root : roots_of_unity<T>(n, count)) parts.insert(parts.end(), {root.real(), root.imag()});
  return parts;
}

/// The least of the numbers 2^i, 3 2^i and 5 2^i from n on: most of its passes are of radix 4.
int64_t good_length(int64_t n) {
  int64_t best = std::numeric_limits<int64_t>::max();
  for (int64_t length : {1, 3, 5}) {
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

template <class W>
std::complex<W> product(const std::complex<W>& x, const std::complex<W>& y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// The transform of n elements at a distance of `stride`, in a wider type than that of plans, whose numbers are rounded
/// once; n is a good length that divides the number of roots.
template <class W>
void transform_wide(const std::complex<W>* x, size_t stride, size_t n, const std::vector<std::complex<W>>& roots,
                    std::complex<W>* y) {
  const size_t m = n / 2, step = roots.size() / n;
  if (n % 2 != 0) {
    for (size_t k = 0; k < n; ++k) {
      y[k] = x[0];
      for (size_t j = 1; j < n; ++j) y[k] += product(x[j * stride], roots[j * k % n * step]);
    }
    return;
  }
  transform_wide(x, 2 * stride, m, roots, y);
  transform_wide(x + stride, 2 * stride, m, roots, y + m);
  for (size_t k = 0; k < m; ++k) {
    const std::complex<W> even = y[k], odd = product(y[k + m], roots[k * step]);
    y[k] = even + odd;
    y[k + m] = even - odd;
  }
}

/// Rows with planes of so many bytes do not stay in caches from pass to pass.
constexpr int64_t kLongPlane = int64_t{1} << 23;

/// A plan with its numbers. What it points to does not move.
template <class T>
class OwnedPlan {
 public:
  /// `as_matrix`: a long row is transformed as a matrix.
  explicit OwnedPlan(int64_t n, bool as_matrix = false) {
    plan_.n = n;
    int64_t rest = n;
    std::vector<int64_t> radices;
    for (; rest % 4 == 0; rest /= 4) radices.push_back(4);
    if (rest % 2 == 0) radices.push_back(2), rest /= 2;
    for (int64_t radix = 3; radix <= kMostRadix; radix += 2)
      for (; rest % radix == 0; rest /= radix) radices.push_back(radix);
    if (rest != 1)
      add_convolution();
    else if (!as_matrix || n * static_cast<int64_t>(sizeof(T)) < kLongPlane || !add_matrix(radices))
      add_passes(radices);
  }
  OwnedPlan(const OwnedPlan&) = delete;
  OwnedPlan& operator=(const OwnedPlan&) = delete;

  const FftPlan<T>& plan() const { return plan_; }
  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto* part : {&convolution_, &columns_, &rows_}) sum += *part == nullptr ? 0 : (*part)->bytes();
    for (const auto& list : numbers_) sum += static_cast<int64_t>(list.size() * sizeof(T));
    return sum;
  }

 private:
  const T* keep(std::vector<T> list) { return numbers_.emplace_back(std::move(list)).data(); }

  void add_passes(const std::vector<int64_t>& radices) {
    const int64_t n = plan_.n, lanes = fft_routines<T>().lanes;
    const std::vector<T> roots = parts_of_roots<T>(n, n);
    const auto root = [&](int64_t k) { return roots.data() + 2 * k; };
    int64_t stride = 1;
    for (const int64_t radix : radices) {
      FftPass<T> pass{radix, n / stride / radix, stride, nullptr, nullptr, nullptr, nullptr};
      const int64_t step = pass.count * stride;
      // p k stride < n, since k < radix and p < count.
      std::vector<T> twiddles;
      for (int64_t p = 0; p < pass.count; ++p)
        for (int64_t k = 1; k < radix; ++k)
          twiddles.insert(twiddles.end(), root(p * k * stride), root(p * k * stride) + 2);
      pass.twiddles = keep(std::move(twiddles));
      if (radix <= 4 && radix != 3 && stride < lanes && (stride == 1 || stride == 4) && step >= lanes) {
        std::vector<T> of_lanes(static_cast<size_t>(2 * (radix - 1) * step));
        for (int64_t k = 1; k < radix; ++k)
          for (int64_t i = 0; i < step; ++i)
            for (int64_t part = 0; part < 2; ++part)
              of_lanes[static_cast<size_t>((2 * (k - 1) + part) * step + i)] = root(i / stride * k * stride)[part];
        pass.lane_twiddles = keep(std::move(of_lanes));
      }
      std::vector<T> cosines, sines;
      for (int64_t j = 0; j < radix; ++j) {
        const std::complex<T> root = root_of_unity<T>(j, radix);
        cosines.push_back(root.real()), sines.push_back(-root.imag());
      }
      pass.cosines = keep(std::move(cosines));
      pass.sines = keep(std::move(sines));
      passes_.push_back(pass);
      stride *= radix;
    }
    plan_.passes = passes_.data();
    plan_.num_passes = static_cast<int64_t>(passes_.size());
  }

  /// With 2 j k = j^2 + k^2 - (j - k)^2.
  void add_convolution() {
    using W = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    const int64_t n = plan_.n, length = good_length(2 * n - 1);
    convolution_ = std::make_unique<OwnedPlan>(length);
    plan_.convolution = &convolution_->plan();
    std::vector<T> chirp(static_cast<size_t>(2 * n)), spectrum(static_cast<size_t>(2 * length));
    std::vector<std::complex<W>> z(static_cast<size_t>(length)), transformed(z.size());
    int64_t square = 0;  // of k, modulo 2 n: the angle's
    for (int64_t k = 0; k < n; square = (square + 2 * k + 1) % (2 * n), ++k) {
      const std::complex<W> root = root_of_unity<W>(square, 2 * n);
      chirp[static_cast<size_t>(k)] = static_cast<T>(root.real());
      chirp[static_cast<size_t>(n + k)] = static_cast<T>(root.imag());
      z[static_cast<size_t>(k)] = z[static_cast<size_t>((length - k) % length)] = std::conj(root);
    }
    transform_wide(z.data(), 1, z.size(), roots_of_unity<W>(length, length), transformed.data());
    for (int64_t k = 0; k < length; ++k) {
      const std::complex<W> number = transformed[static_cast<size_t>(k)] / static_cast<W>(length);
      spectrum[static_cast<size_t>(k)] = static_cast<T>(number.real());
      spectrum[static_cast<size_t>(length + k)] = static_cast<T>(number.imag());
    }
    plan_.chirp = keep(std::move(chirp));
    plan_.spectrum = keep(std::move(spectrum));
  }

  /// False if there is no matrix of about as many rows as columns.
  bool add_matrix(const std::vector<int64_t>& radices) {
    const int64_t n = plan_.n, lanes = fft_routines<T>().lanes;
    int64_t rows = 1;
    for (const int64_t radix : radices)
      if (rows * rows * radix <= n) rows *= radix;
    const int64_t columns = n / rows;
    if (rows % lanes != 0 || columns % lanes != 0 || columns > 16 * rows) return false;
    columns_ = std::make_unique<OwnedPlan>(rows);
    rows_ = std::make_unique<OwnedPlan>(columns);
    const std::vector<T> roots = parts_of_roots<T>(n, n);
    std::vector<T> twiddles(roots.size());
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t part = 0; part < 2; ++part)
          twiddles[static_cast<size_t>((2 * r + part) * columns + c)] = roots[static_cast<size_t>(2 * r * c + part)];
    plan_.columns = &columns_->plan();
    plan_.rows = &rows_->plan();
    plan_.matrix_twiddles = keep(std::move(twiddles));
    return true;
  }

  FftPlan<T> plan_{};
  std::list<std::vector<T>> numbers_;
  std::vector<FftPass<T>> passes_;
  std::unique_ptr<OwnedPlan> convolution_, columns_, rows_;
};

/// A plan for rows of a kind.
template <class T>
struct PlanOfRows {
  bool is_real;
  int64_t length;
  std::unique_ptr<OwnedPlan<T>> plan;
  std::vector<T> half_twiddles;

  PlanOfRows(bool is_real, int64_t length) : is_real(is_real), length(length) {
    const bool is_half = is_real && length % 2 == 0;
    plan = std::make_unique<OwnedPlan<T>>(is_half ? length / 2 : length, !is_real);
    if (is_half) half_twiddles = parts_of_roots<T>(length, length / 4 + 1);
  }
  FftRows<T> rows(FftKind kind) const {
    return {static_cast<uint32_t>(kind), length, &plan->plan(), half_twiddles.empty() ? nullptr : half_twiddles.data()};
  }
  int64_t bytes() const { return plan->bytes() + static_cast<int64_t>(half_twiddles.size() * sizeof(T)); }
};

/// The plans that were used last. A plan lives as long as a call has it.
template <class T>
class Plans {
 public:
  using Plan = std::shared_ptr<const PlanOfRows<T>>;

  Plan of(bool is_real, int64_t length) {
    if (Plan found = find(is_real, length)) return found;
    // Two threads may make one plan, neither waits for the other.
    Plan made = std::make_shared<const PlanOfRows<T>>(is_real, length);
    const std::lock_guard lock(mutex_);
    plans_.push_front(made);
    bytes_ += made->bytes();
    while (bytes_ > kMostBytes && plans_.size() > 1) {
      bytes_ -= plans_.back()->bytes();
      plans_.pop_back();
    }
    return made;
  }

 private:
  static constexpr int64_t kMostBytes = int64_t{256} << 20;

  Plan find(bool is_real, int64_t length) {
    const std::lock_guard lock(mutex_);
    for (auto at = plans_.begin(); at != plans_.end(); ++at) {
      if ((*at)->is_real != is_real || (*at)->length != length) continue;
      plans_.splice(plans_.begin(), plans_, at);
      return plans_.front();
    }
    return nullptr;
  }

  ForkMutex mutex_;
  std::list<Plan> plans_;
  int64_t bytes_ = 0;
};

template <class T>
Plans<T>& plans() {
  return process_wide([] { return new Plans<T>; });
}

/// Every result depends on every element: one that is NaN makes all results NaN, in both parts. Factors of 0 and 1,
/// which are not multiplied by, would leave some. The first results have each element as a term.
template <class T>
void fill_with_nan(T* to, int64_t written) {
  if (std::isnan(to[0]) || std::isnan(to[1])) std::fill_n(to, written, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace

template <class T>
void fft(const RoutineRef& routine, void* const* pointers) {
  const auto kind = static_cast<FftKind>(routine.flags);
  const bool is_real = kind == FftKind::rfft || kind == FftKind::irfft;
  // The row of n elements is real, or one of pairs.
  const Shape& shape = (kind == FftKind::irfft ? routine.results : routine.arguments)[0].shape;
  const size_t last = shape.size() - (is_real ? 1 : 2);
  const int64_t n = shape[last];
  int64_t count = 1;
  for (size_t d = 0; d < last; ++d) count *= shape[d];
  if (count == 0) return;
  const typename Plans<T>::Plan plan = plans<T>().of(is_real, n);
  const FftRows<T> rows = plan->rows(kind);
  const FftRoutines<T>& routines = fft_routines<T>();
  const auto* from = static_cast<const T*>(pointers[0]);
  auto* to = static_cast<T*>(pointers[1]);
  const int64_t half = 2 * (n / 2 + 1);
  const int64_t read = kind == FftKind::rfft ? n : kind == FftKind::irfft ? half : 2 * n;
  const int64_t written = kind == FftKind::irfft ? n : kind == FftKind::rfft ? half : 2 * n;
  const bool side_by_side = count > 1 && n <= kLongestLane;
  // A task's rows do not depend on how many there are: all are side by side, in the same lanes.
  const int64_t lanes = side_by_side ? routines.lanes : 1;
  const double operations =
      static_cast<double>(lanes) * 5 * static_cast<double>(n) * std::log2(static_cast<double>(n) + 1);
  in_parallel((count + lanes - 1) / lanes, grain_of(operations), [&](int64_t first, int64_t end) {
    const Space<T> space(routines.space(rows, side_by_side));
    const int64_t row = first * lanes, stop = std::min(end * lanes, count);
    for (int64_t r = row; r < stop; r += lanes) {
      const int64_t some = std::min(lanes, stop - r);
      (side_by_side ? routines.transform_lanes : routines.transform)(rows, from + r * read, to + r * written, some,
                                                                     space.get());
      for (int64_t i = r; i < r + some && n > 1; ++i) fill_with_nan(to + i * written, written);
    }
  });
}

template void fft<float>(const RoutineRef&, void* const*);
template void fft<double>(const RoutineRef&, void* const*);

}  // namespace calque::runtime
