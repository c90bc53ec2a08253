#include "transform/autodiff/windows.h"

#include <algorithm>
#include <map>

#include "primitives/list.h"

namespace calque::transform {
namespace {

using namespace primitives;
using List = std::vector<int64_t>;

/// Concatenates windows that differ only along `axis`, in order and without overlap, with zeros between them.
Window concatenated(const Writer& w, const std::vector<const Window*>& row, size_t axis) {
  if (row.size() == 1) return *row[0];
  ValueList parts;
  int64_t at = row[0]->start[axis];
  for (const Window* window : row) {
    if (window->start[axis] > at) {
      Type gap = w.type(window->cotangent);
      gap.shape = gap.shape.with(axis, window->start[axis] - at);
      parts.push_back(w.zeros(gap));
    }
    parts.push_back(window->cotangent);
    at = window->limit[axis];
  }
  Window whole{row[0]->start, row[0]->limit, w.concatenate(std::move(parts), static_cast<int64_t>(axis))};
  whole.limit[axis] = at;
  return whole;
}

/// Concatenates windows that agree in all dimensions but `axis`. Windows that overlap go to different rows.
std::vector<Window> concatenate_along(const Writer& w, const std::vector<Window>& windows, size_t axis) {
  std::map<std::pair<List, List>, std::vector<const Window*>> groups;
  for (const Window& window : windows) {
    std::pair<List, List> key{window.start, window.limit};
    key.first[axis] = key.second[axis] = 0;
    groups[std::move(key)].push_back(&window);
  }
  std::vector<Window> all;
  for (auto& [key, group] : groups) {
    std::sort(group.begin(), group.end(), [&](const Window* a, const Window* b) {
      return a->start[axis] != b->start[axis] ? a->start[axis] < b->start[axis] : a < b;  // of one vector
    });
    // Each window is appended to the row with the largest end that is not after its start.
    std::multimap<int64_t, size_t> ends;
    std::vector<std::vector<const Window*>> rows;
    for (const Window* window : group) {
      auto free = ends.upper_bound(window->start[axis]);
      size_t row = rows.size();
      if (free == ends.begin()) {
        rows.emplace_back();
      } else {
        row = (--free)->second;
        ends.erase(free);
      }
      rows[row].push_back(window);
      ends.emplace(window->limit[axis], row);
    }
    for (const auto& row : rows) all.push_back(concatenated(w, row, axis));
  }
  return all;
}

Value padded(const Writer& w, const Window& window, const Type& type) {
  List high;
  bool whole = true;
  for (size_t d = 0; d < window.start.size(); ++d) {
    high.push_back(type.shape[d] - window.limit[d]);
    whole = whole && high[d] == 0 && window.start[d] == 0;
  }
  if (whole) return window.cotangent;
  return w.emit(id_of<Pad>, {window.cotangent, w.zeros({type.dtype, {}})},
                {{"high", std::move(high)}, {"interior", List(window.start.size(), 0)}, {"low", window.start}});
}

}  // namespace

Value sum_of_windows(const Writer& writer, std::vector<Window> windows, const Type& type) {
  for (size_t axis = type.shape.size(); axis-- > 0 && windows.size() > 1;) {
    windows = concatenate_along(writer, windows, axis);
  }
  Value sum;
  for (const Window& window : windows) {
    const Value part = padded(writer, window, type);
    sum = sum.valid() ? writer.add(sum, part) : part;
  }
  return sum;
}

}  // namespace calque::transform
