#pragma once
// The elements that an index list selects, one by one, as NumPy defines it, without slices, gathers or windows.
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "calque/detail/indexing.h"

namespace calque::test {

using Item = detail::IndexItem;
using Dims = std::vector<int64_t>;

/// An index array on the host; index lists refer to them by number.
struct IndexArray {
  Dims shape;
  std::vector<int64_t> values;
};
struct IndexList {
  std::vector<Item> items;
  std::vector<int> array_of;  ///< for each item its array, or -1
  std::vector<IndexArray> arrays;

  std::string text() const {
    std::string out = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      const auto end = [](bool has, int64_t v) { return has ? std::to_string(v) : std::string(); };
      switch (item.kind) {
        case Item::Kind::integer:
          out += std::to_string(item.start);
          break;
        case Item::Kind::all:
          out += ":";
          break;
        case Item::Kind::newaxis:
          out += "newaxis";
          break;
        case Item::Kind::range:
          out +=
              end(item.has_start, item.start) + ":" + end(item.has_stop, item.stop) + ":" + std::to_string(item.step);
          break;
        case Item::Kind::array: {
          out += "array(";
          for (int64_t v : arrays[static_cast<size_t>(array_of[i])].values) out += std::to_string(v) + " ";
          out += ")";
        }
      }
      out += ", ";
    }
    return out + "]";
  }
};

inline int64_t count_of(const Dims& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}
/// Calls f(index, position) for all indices of a shape in row-major order.
template <class F>
void for_each_index(const Dims& shape, F&& f) {
  Dims index(shape.size(), 0);
  for (int64_t at = 0, n = count_of(shape); at < n; ++at) {
    f(index, at);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

/// The selected shape and, for each of its elements, the offset in x, or -1 if an index is out of bounds.
struct Selected {
  Dims shape;
  std::vector<int64_t> positions;
};

inline Selected select(const Dims& x, const IndexList& list) {
  // The extent of each dimension of the result, and the source of the index of each dimension of x.
  struct Source {
    enum { fixed, sliced, array } kind = fixed;
    int64_t value = 0;           // fixed
    std::vector<int64_t> steps;  // sliced: the elements in order
    size_t result_dim = 0;       // sliced
    int array_number = 0;
  };
  std::vector<Source> sources;
  struct Part {
    int64_t extent;
    int source;  // of a slice, or -1 for newaxis
  };
  std::vector<Part> parts;
  Dims joint;
  for (const IndexArray& a : list.arrays) {
    if (a.shape.size() > joint.size()) joint.insert(joint.begin(), a.shape.size() - joint.size(), 1);
    for (size_t d = 0; d < a.shape.size(); ++d) {
      int64_t& extent = joint[joint.size() - a.shape.size() + d];
      extent = extent == 1 ? a.shape[d] : extent;
    }
  }
  int first_advanced = -1;
  bool neighbours = true, behind = false;
  std::vector<Item> items = list.items;
  std::vector<int> array_of = list.array_of;
  size_t used = 0;
  for (const Item& i : items) used += i.kind != Item::Kind::newaxis;
  items.resize(items.size() + x.size() - used);
  array_of.resize(items.size(), -1);
  for (size_t k = 0; k < items.size(); ++k) {
    const Item& item = items[k];
    const bool advanced = item.kind == Item::Kind::array || (item.kind == Item::Kind::integer && !list.arrays.empty());
    if (advanced && first_advanced < 0) first_advanced = static_cast<int>(parts.size());
    if (advanced && behind) neighbours = false;
    if (!advanced && first_advanced >= 0) behind = true;
    if (item.kind == Item::Kind::newaxis) {
      parts.push_back({1, -1});
      continue;
    }
    const int64_t n = x[sources.size()];
    Source s;
    if (item.kind == Item::Kind::integer) {
      s.value = item.start < 0 ? item.start + n : item.start;
    } else if (item.kind == Item::Kind::array) {
      s.kind = Source::array;
      s.array_number = array_of[k];
    } else {
      s.kind = Source::sliced;
      const int64_t step = item.kind == Item::Kind::range ? item.step : 1;
      const auto bound = [&](int64_t v) {
        if (v < 0) v += n;
        return step > 0 ? std::max<int64_t>(0, std::min(v, n)) : std::max<int64_t>(-1, std::min(v, n - 1));
      };
      const bool range = item.kind == Item::Kind::range;
      const int64_t start = range && item.has_start ? bound(item.start) : step > 0 ? 0 : n - 1;
      const int64_t stop = range && item.has_stop ? bound(item.stop) : step > 0 ? n : -1;
      for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) s.steps.push_back(i);
      parts.push_back({static_cast<int64_t>(s.steps.size()), static_cast<int>(sources.size())});
    }
    sources.push_back(s);
  }
  Selected out;
  const size_t joint_at = !list.arrays.empty() && neighbours ? static_cast<size_t>(first_advanced) : 0;
  for (size_t p = 0; p <= parts.size(); ++p) {
    if (p == joint_at && !list.arrays.empty()) out.shape.insert(out.shape.end(), joint.begin(), joint.end());
    if (p == parts.size()) break;
    if (parts[p].source >= 0) sources[static_cast<size_t>(parts[p].source)].result_dim = out.shape.size();
    out.shape.push_back(parts[p].extent);
  }
  for_each_index(out.shape, [&](const Dims& index, int64_t) {
    int64_t position = 0;
    bool inside = true;
    for (size_t d = 0; d < x.size(); ++d) {
      const Source& s = sources[d];
      int64_t i = s.value;
      if (s.kind == Source::sliced) i = s.steps[static_cast<size_t>(index[s.result_dim])];
      if (s.kind == Source::array) {
        const IndexArray& a = list.arrays[static_cast<size_t>(s.array_number)];
        int64_t at = 0;
        for (size_t e = 0; e < a.shape.size(); ++e) {
          const int64_t j = index[joint_at + joint.size() - a.shape.size() + e];
          at = at * a.shape[e] + (a.shape[e] == 1 ? 0 : j);
        }
        i = a.values[static_cast<size_t>(at)];
        if (i < 0) i += x[d];
      }
      inside = inside && i >= 0 && i < x[d];
      position = position * x[d] + i;
    }
    out.positions.push_back(inside ? position : -1);
  });
  return out;
}

/// A random index list for an array of that shape; some indices of arrays are out of bounds.
inline IndexList random_list(const Dims& x, std::mt19937& random, bool with_arrays) {
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  IndexList list;
  Dims joint;
  for (int64_t i = below(3); i > 0; --i) joint.push_back(1 + below(3));
  const auto push = [&](Item item, int array = -1) {
    list.items.push_back(item);
    list.array_of.push_back(array);
  };
  const auto used = static_cast<size_t>(below(static_cast<int64_t>(x.size()) + 1));
  for (size_t d = 0; d < used; ++d) {
    if (below(6) == 0) push(Item::newaxis());
    const int64_t choice = below(with_arrays ? 7 : 4);
    if (choice == 0 && x[d] > 0) {
      push(Item::integer(below(2 * x[d]) - x[d]));
    } else if (choice <= 2) {
      Item item;
      item.kind = Item::Kind::range;
      item.has_start = below(3) > 0;
      item.has_stop = below(3) > 0;
      item.start = below(2 * x[d] + 5) - x[d] - 2;
      item.stop = below(2 * x[d] + 5) - x[d] - 2;
      item.step = below(2) == 0 ? 1 : below(7) - 3;
      if (item.step == 0) item.step = -1;
      push(item);
    } else if (choice == 3) {
      push(Item());
    } else {
      IndexArray a;
      a.shape = joint;
      for (int64_t& extent : a.shape) {
        if (below(4) == 0) extent = 1;
      }
      if (!a.shape.empty() && below(5) == 0) a.shape.erase(a.shape.begin());
      for (int64_t i = count_of(a.shape); i > 0; --i) a.values.push_back(below(2 * x[d] + 4) - x[d] - 2);
      Item item;
      item.kind = Item::Kind::array;
      push(item, static_cast<int>(list.arrays.size()));
      list.arrays.push_back(a);
    }
  }
  if (below(8) == 0) push(Item::newaxis());
  return list;
}

}  // namespace calque::test
