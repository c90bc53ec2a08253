#pragma once
// The type-erased versions of the functions in calque/sorting.h and of those of random numbers that sort, as those of
// calque/detail/ops.h. For semantics see the public templates.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "calque/detail/ops.h"

namespace calque {

/// Which position `searchsorted` finds: before the elements equal to x, or behind them.
enum class side { left, right };

/// What `quantile` takes of the two elements beside a position that is none of an element: the line between them, one
/// of them, the middle, or the one that is nearer (at the same distance that with the even number); `inverted_cdf` is
/// the least element that is not below a part q of all.
enum class quantile_method { linear, lower, higher, midpoint, nearest, inverted_cdf };

namespace detail {

/// Bins of equal width between two bounds, or between the least and the greatest element without them.
struct Bins {
  int64_t count;
  std::optional<double> low, high;
};

/// The extent along an axis. Throws ShapeError that names `function` when it is out of range.
int64_t extent_along(std::string_view function, const AnyArray& x, int axis, Location at);
/// The elements of a vector on the host. Throws ShapeError that names `function` for other ranks.
const void* vector_data(std::string_view function, const AnyArray& x, Location at);

namespace ops {

std::vector<Handle> sort_by(std::span<const Operand> xs, int64_t keys, int axis, bool descending, Location at);
Handle sort(const Operand& x, int axis, bool descending, Location at);
Handle argsort(const Operand& x, int axis, bool descending, Location at);
Handle lexsort(std::span<const Operand> keys, int axis, Location at);
Handle partition(const Operand& x, int64_t k, int axis, Location at);
Handle argpartition(const Operand& x, int64_t k, int axis, Location at);
std::vector<Handle> top_k(const Operand& x, int64_t k, Location at);
std::vector<Handle> top_k_along(const Operand& x, int64_t k, int axis, Location at);

Handle searchsorted(const Operand& sorted, const Operand& x, side where, Location at);
Handle digitize(const Operand& x, const Operand& bins, bool right, Location at);

Handle median(const Operand& x, const Axes& axes, bool keepdims, Location at);
Handle nanmedian(const Operand& x, const Axes& axes, bool keepdims, Location at);
#define CALQUE_QUANTILES(X) X(quantile) X(percentile) X(nanquantile) X(nanpercentile)
#define CALQUE_X(f) \
  Handle f(const Operand& x, const Operand& q, const Axes& axes, quantile_method how, bool keepdims, Location at);
CALQUE_QUANTILES(CALQUE_X)
#undef CALQUE_X

/// Without a fill value: null, which means the first element found.
Handle unique(const Operand& x, int64_t size, const Operand* fill, Location at);
/// Values, the index of each one's first element, for each element of x the number of its value, how many there are.
std::vector<Handle> unique_all(const Operand& x, int64_t size, const Operand* fill, Location at);
/// The same along an axis, or with each NaN as an element of its own.
Handle unique_of(const Operand& x, int64_t size, const Operand* fill, std::optional<int> axis, bool equal_nan,
                 Location at);
std::vector<Handle> unique_all_of(const Operand& x, int64_t size, const Operand* fill, std::optional<int> axis,
                                  bool equal_nan, Location at);
Handle union1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at);
Handle intersect1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at);
Handle setdiff1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at);
Handle setxor1d(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at);
/// Elements and how many there are of them, with room for all.
std::vector<Handle> union1d_counted(const Operand& x, const Operand& y, Location at);
std::vector<Handle> intersect1d_counted(const Operand& x, const Operand& y, Location at);
std::vector<Handle> setdiff1d_counted(const Operand& x, const Operand& y, Location at);
std::vector<Handle> setxor1d_counted(const Operand& x, const Operand& y, Location at);
/// The common elements, where each is first in x, in y, and how many there are.
std::vector<Handle> intersect1d_all(const Operand& x, const Operand& y, int64_t size, const Operand* fill, Location at);

/// Without weights: null.
Handle bincount(const Operand& x, const Operand* weights, int64_t length, Location at);
std::vector<Handle> histogram(const Operand& x, const Bins& bins, const Operand* weights, Location at);
std::vector<Handle> histogram_density(const Operand& x, const Bins& bins, const Operand* weights, Location at);
/// Counts between edges that are there.
Handle histogram_at(const Operand& x, const Operand& edges, const Operand* weights, Location at);
/// Divided by their sum and by the width of the bin.
Handle histogram_density_at(const Operand& x, const Operand& edges, const Operand* weights, Location at);
/// Counts [bins, ...], then the edges of each dimension. x has a point in each row; bins are for each dimension, or one
/// for all.
std::vector<Handle> histogramdd(const Operand& x, std::span<const Bins> bins, const Operand* weights, bool density,
                                Location at);
/// The same of points whose coordinates are vectors.
std::vector<Handle> histogram_of(std::span<const Operand> coordinates, std::span<const Bins> bins,
                                 const Operand* weights, bool density, Location at);
std::vector<Handle> histogram2d(const Operand& x, const Operand& y, const Bins& bins_x, const Bins& bins_y,
                                const Operand* weights, Location at);
/// Counts between edges that are there.
Handle histogram2d_at(const Operand& x, const Operand& y, const Operand& edges_x, const Operand& edges_y,
                      const Operand* weights, Location at);
Handle histogram_bin_edges(const Operand& x, const Bins& bins, Location at);

namespace random {
Handle permutation(const Operand& key, int64_t n, Location at);
Handle permutation(const Operand& key, const Operand& x, int axis, Location at);
/// Without probabilities: null.
Handle choice(const Operand& key, const Operand& x, const Shape& shape, bool replace, const Operand* p, int axis,
              Location at);
Handle choice(const Operand& key, int64_t n, const Shape& shape, bool replace, const Operand* p, Location at);
}  // namespace random

}  // namespace ops
}  // namespace detail
}  // namespace calque
