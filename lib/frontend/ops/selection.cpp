#include "frontend/ops/selection.h"

#include <algorithm>

namespace calque::detail {
namespace {

using Kind = IndexItem::Kind;

/// Python's slice.indices, as a forward window.
Selection::Window window_of(const IndexItem& range, int64_t extent) {
  const int64_t step = std::max(range.step, -INT64_MAX);
  const auto end = [&](int64_t value, int64_t low, int64_t high) {
    if (value < 0) value += extent;
    return std::clamp(value, low, high);
  };
  Selection::Window w;
  if (step > 0) {
    const int64_t start = range.has_start ? end(range.start, 0, extent) : 0;
    const int64_t stop = range.has_stop ? end(range.stop, 0, extent) : extent;
    w.count = stop > start ? (stop - start - 1) / step + 1 : 0;
    w.start = w.count == 0 ? 0 : start;
  } else {
    const int64_t start = range.has_start ? end(range.start, -1, extent - 1) : extent - 1;
    const int64_t stop = range.has_stop ? end(range.stop, -1, extent - 1) : -1;
    w.count = start > stop ? (start - stop - 1) / -step + 1 : 0;
    w.start = w.count == 0 ? 0 : start + (w.count - 1) * step;
    w.reversed = w.count > 1;
  }
  w.stride = w.count > 1 ? std::abs(step) : 1;
  return w;
}

int64_t checked_index(int64_t index, size_t axis, const Type& x, const ops::Site& site) {
  const int64_t extent = x.shape[axis];
  if (index < -extent || index >= extent) {
    site.shape_error("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(axis) +
                     " of " + to_string(x));
  }
  return index < 0 ? index + extent : index;
}

/// True if index arrays and integers are adjacent. By NumPy's rule the index dimensions then stay at their position.
bool neighbours(std::span<const IndexItem> items) {
  const auto advanced = [](const IndexItem& i) { return i.kind == Kind::array || i.kind == Kind::integer; };
  const auto first = std::ranges::find_if(items, advanced);
  const auto behind = std::find_if_not(first, items.end(), advanced);
  return std::none_of(behind, items.end(), advanced);
}

}  // namespace

bool Selection::whole() const {
  return reversed_axes.empty() && std::ranges::all_of(windows, [](const Window& w) { return w.start == 0; }) &&
         contiguous();
}

bool Selection::contiguous() const {
  return std::ranges::all_of(windows, [](const Window& w) { return w.stride == 1; });
}

Selection select_items(const Type& x, std::span<const IndexItem> items, const ops::Site& site) {
  const auto rank = x.shape.size();
  const auto used =
      static_cast<size_t>(std::ranges::count_if(items, [](const IndexItem& i) { return i.kind != Kind::newaxis; }));
  if (used > rank) {
    site.shape_error("too many indices, " + to_string(x) + " takes " + std::to_string(rank) + ", got " +
                     std::to_string(used));
  }
  Selection s;
  std::vector<int64_t> kept;
  size_t advanced_at = SIZE_MAX;
  const auto keep = [&](int64_t extent, int64_t axis) {
    kept.push_back(extent);
    s.kept_axes.push_back(axis);
  };
  for (size_t k = 0; k < items.size() + (rank - used); ++k) {
    const IndexItem whole{};
    const IndexItem& item = k < items.size() ? items[k] : whole;
    if (item.kind == Kind::newaxis) {
      keep(1, -1);
      continue;
    }
    const size_t axis = s.windows.size();
    const auto own = static_cast<int64_t>(axis);
    const int64_t extent = x.shape[axis];
    Selection::Window w{0, extent, 1, false};
    switch (item.kind) {
      case Kind::integer:
        w = {checked_index(item.start, axis, x, site), 1, 1, false};
        advanced_at = std::min(advanced_at, kept.size());
        break;
      case Kind::range:
        if (item.step == 0) site.shape_error("the step of a range cannot be zero");
        w = window_of(item, extent);
        keep(w.count, own);
        break;
      case Kind::array:
        advanced_at = std::min(advanced_at, kept.size());
        s.arrays.push_back(k);
        s.array_dims.push_back(static_cast<int64_t>(kept.size()));
        keep(extent, own);
        break;
      default:
        keep(extent, own);
    }
    if (w.reversed) s.reversed_axes.push_back(static_cast<int64_t>(axis));
    s.windows.push_back(w);
  }
  std::vector<int64_t> window;
  for (const Selection::Window& w : s.windows) window.push_back(w.count);
  s.window_shape = Shape(window);
  s.kept = Shape(kept);
  // There is no array before the first advanced item, so all kept dimensions before it are plain ones.
  if (!s.arrays.empty() && neighbours(items)) s.index_position = static_cast<int64_t>(advanced_at);
  return s;
}

}  // namespace calque::detail
