// Typing rules of dynamic slices, gather and the scatters.
#include <algorithm>

#include <fmt/format.h>

#include "primitives/indexing/indexing.h"

namespace calque::primitives {
namespace {

using List = std::vector<int64_t>;

/// Checks that the operands from `first` on are rank-0 integers of one dtype, one per dimension of operand 0.
void check_starts(Typing& t, size_t first) {
  const Type& x = t.operand(0);
  if (t.num_operands() - first != x.shape.size()) {
    t.shape_error(
        fmt::format("expects a start for each dimension of {}, got {}", to_string(x), t.num_operands() - first));
  }
  for (size_t i = first; i < t.num_operands(); ++i) {
    t.accept(i, kInteger);
    t.rank_is(i, 0, "starts");
  }
  if (first < t.num_operands()) t.same_dtype(first);
}

void check_disjoint(Typing& t, std::string_view a_name, const List& a, std::string_view b_name, const List& b) {
  for (int64_t axis : a) {
    if (has_axis(b, axis)) t.shape_error(fmt::format("dimension {} is in both {} and {}", axis, a_name, b_name));
  }
}

/// Checks common to gather and scatter: the indices, the map of their components and the batching dimensions.
void check_indices(Typing& t, std::string_view map_name, const List& map, std::string_view removed_name,
                   const List& removed) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  t.accept(1, kInteger);
  if (indices.shape.rank() < 1) {
    t.shape_error(fmt::format("expects indices whose last dimension is the index vector, got {}", to_string(indices)));
  }
  const size_t batch_rank = indices.shape.size() - 1;
  const int rank = x.shape.rank();
  t.check_axes(map_name, map, rank, /*sorted=*/false);
  t.check_axes(removed_name, removed, rank, /*sorted=*/true);
  if (static_cast<int64_t>(map.size()) != indices.shape[batch_rank]) {
    t.shape_error(fmt::format("expects index vectors of {} components for {} {}, got {}", map.size(), map_name,
                              to_text(map), to_string(indices)));
  }
  const List& operand_batching = t.ints("operand_batching_dims");
  const List& indices_batching = t.ints("indices_batching_dims");
  t.check_axes("operand_batching_dims", operand_batching, rank, /*sorted=*/true);
  t.check_axes("indices_batching_dims", indices_batching, static_cast<int>(batch_rank), /*sorted=*/false);
  if (operand_batching.size() != indices_batching.size()) {
    t.shape_error(fmt::format("operand_batching_dims {} and indices_batching_dims {} differ in number",
                              to_text(operand_batching), to_text(indices_batching)));
  }
  check_disjoint(t, "operand_batching_dims", operand_batching, removed_name, removed);
  check_disjoint(t, "operand_batching_dims", operand_batching, map_name, map);
  for (size_t k = 0; k < operand_batching.size(); ++k) {
    if (x.shape[static_cast<size_t>(operand_batching[k])] != indices.shape[static_cast<size_t>(indices_batching[k])]) {
      t.shape_error(fmt::format("batching dimensions {} of {} and {} of {} differ", operand_batching[k], to_string(x),
                                indices_batching[k], to_string(indices)));
    }
  }
}

}  // namespace

void DynamicSlice::infer(Typing& t) {
  const Type& x = t.operand(0);
  check_starts(t, 1);
  const List& sizes = t.ints("sizes");
  t.check_length("sizes", sizes, x.shape.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i]) {
      t.shape_error(fmt::format("sizes {} do not fit into {}", to_text(sizes), to_string(x)));
    }
  }
  t.result(x.dtype, sizes);
}

void DynamicUpdateSlice::infer(Typing& t) {
  const Type& x = t.operand(0);
  const Type& update = t.operand(1);
  check_starts(t, 2);
  if (x.dtype != update.dtype) {
    t.dtype_error(fmt::format("operands differ in dtype, got {} and {}", to_string(x), to_string(update)));
  }
  bool fits = x.shape.rank() == update.shape.rank();
  for (size_t i = 0; fits && i < x.shape.size(); ++i) fits = update.shape[i] <= x.shape[i];
  if (!fits) t.shape_error(fmt::format("the update {} does not fit into {}", to_string(update), to_string(x)));
  t.result(x);
}

void Gather::infer(Typing& t) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  const List& collapsed = t.ints("collapsed_slice_dims");
  const List& batching = t.ints("operand_batching_dims");
  const List& sizes = t.ints("slice_sizes");
  const List& offset_dims = t.ints("offset_dims");
  const std::string& mode = t.attributes().get<std::string>("mode");
  check_indices(t, "start_index_map", t.ints("start_index_map"), "collapsed_slice_dims", collapsed);
  if (mode != "fill" && mode != "zero" && mode != "clip") {
    t.rule_error(fmt::format("expects mode fill, zero or clip, got {}", mode));
  }
  t.check_length("slice_sizes", sizes, x.shape.size());
  List window;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    // A batching dimension has the same extent in the indices: if it is 0, there is no window that must fit.
    const int64_t fits = has_axis(batching, axis) ? 1 : x.shape[d];
    if (sizes[d] < 0 || sizes[d] > fits) {
      t.shape_error(fmt::format("slice_sizes {} do not fit into {}", to_text(sizes), to_string(x)));
    }
    if (has_axis(collapsed, axis) || has_axis(batching, axis)) {
      if (sizes[d] != 1) {
        t.shape_error(
            fmt::format("expects slice size 1 in the collapsed or batching dimension {}, got {}", d, to_text(sizes)));
      }
    } else {
      window.push_back(sizes[d]);
    }
  }
  t.check_length("offset_dims", offset_dims, window.size());
  const size_t rank = window.size() + indices.shape.size() - 1;
  t.check_axes("offset_dims", offset_dims, static_cast<int>(rank), /*sorted=*/true);
  List shape;
  size_t next_window = 0;
  size_t next_batch = 0;
  for (size_t d = 0; d < rank; ++d) {
    shape.push_back(has_axis(offset_dims, static_cast<int64_t>(d)) ? window[next_window++]
                                                                   : indices.shape[next_batch++]);
  }
  t.result(x.dtype, shape);
}

void infer_scatter(Typing& t, DTypeSet accepted) {
  const Type& x = t.operand(0);
  const Type& indices = t.operand(1);
  const Type& updates = t.operand(2);
  t.accept(0, accepted);
  if (x.dtype != updates.dtype) {
    t.dtype_error(fmt::format("operands differ in dtype, got {} and {}", to_string(x), to_string(updates)));
  }
  const List& inserted = t.ints("inserted_window_dims");
  const List& batching = t.ints("operand_batching_dims");
  const List& window_dims = t.ints("update_window_dims");
  check_indices(t, "scatter_dims_to_operand_dims", t.ints("scatter_dims_to_operand_dims"), "inserted_window_dims",
                inserted);
  t.check_axes("update_window_dims", window_dims, updates.shape.rank(), /*sorted=*/true);
  t.check_length("update_window_dims", window_dims, x.shape.size() - inserted.size() - batching.size());
  if (updates.shape.size() != window_dims.size() + indices.shape.size() - 1) {
    t.shape_error(fmt::format("expects updates of rank {}, got {}", window_dims.size() + indices.shape.size() - 1,
                              to_string(updates)));
  }
  size_t operand_dim = 0;
  size_t batch_dim = 0;
  for (size_t d = 0; d < updates.shape.size(); ++d) {
    if (has_axis(window_dims, static_cast<int64_t>(d))) {
      while (has_axis(inserted, static_cast<int64_t>(operand_dim)) ||
             has_axis(batching, static_cast<int64_t>(operand_dim))) {
        ++operand_dim;
      }
      if (updates.shape[d] > x.shape[operand_dim]) {
        t.shape_error(fmt::format("windows of {} do not fit into {}", to_string(updates), to_string(x)));
      }
      ++operand_dim;
    } else {
      if (updates.shape[d] != indices.shape[batch_dim]) {
        t.shape_error(fmt::format("updates {} and indices {} differ in dimension {}", to_string(updates),
                                  to_string(indices), batch_dim));
      }
      ++batch_dim;
    }
  }
  t.result(x);
}

}  // namespace calque::primitives
