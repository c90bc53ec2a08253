#pragma once
// Makers of operands, attributes and sub-graphs for each kind of primitive, used by the rows of the op table.
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calque/ir/graph.h"

#include "primitives/list.h"
#include "support/samples.h"

namespace calque::test {

/// One application of a primitive.
struct OpCase {
  std::vector<AnyArray> operands;
  Attributes attributes;
  std::vector<Graph> subgraphs;
};

/// The request for a case. The shape is that of the main operand; a maker returns nothing when it cannot use it.
struct OpRequest {
  DType dtype;
  Shape shape;
  Domain domain = Domain::any;
};
using OpMaker = std::optional<OpCase> (*)(const OpRequest& request, Rng& rng);

namespace cases {

using List = std::vector<int64_t>;

inline AnyArray main_operand(const OpRequest& r, Rng& rng) { return sample_array({r.dtype, r.shape}, rng, r.domain); }

/// N operands of the requested type, no attributes.
template <int N>
std::optional<OpCase> elementwise(const OpRequest& r, Rng& rng) {
  OpCase c;
  for (int i = 0; i < N; ++i) c.operands.push_back(main_operand(r, rng));
  return c;
}

/// A primitive without a value, such as a marker.
inline std::optional<OpCase> not_evaluated(const OpRequest&, Rng&) { return std::nullopt; }

inline std::optional<OpCase> select(const OpRequest& r, Rng& rng) {
  return OpCase{{sample_array({DType::bool_, r.shape}, rng), main_operand(r, rng), main_operand(r, rng)}, {}, {}};
}

inline std::optional<OpCase> convert(const OpRequest& r, Rng& rng) {
  const auto to = static_cast<DType>(rng.below(kDTypeCount));
  return OpCase{{main_operand(r, rng)}, {{"dtype", to}}, {}};
}

inline std::optional<OpCase> bitcast(const OpRequest& r, Rng& rng) {
  std::vector<DType> targets;
  for (int d = 1; d < static_cast<int>(DType::c64); ++d) {
    if (size_of(static_cast<DType>(d)) == size_of(r.dtype)) targets.push_back(static_cast<DType>(d));
  }
  return OpCase{{main_operand(r, rng)}, {{"dtype", targets.empty() ? DType::f32 : rng.pick(targets)}}, {}};
}

inline std::optional<OpCase> iota(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  return OpCase{{},
                {{"dtype", r.dtype},
                 {"shape", List(r.shape.begin(), r.shape.end())},
                 {"axis", static_cast<int64_t>(rng.below(r.shape.size()))}},
                {}};
}

inline std::optional<OpCase> broadcast(const OpRequest& r, Rng& rng) {
  List axes, shape, from;
  for (int64_t extent : r.shape) {
    if (rng.chance(30)) shape.push_back(rng.between(0, 3));
    axes.push_back(static_cast<int64_t>(shape.size()));
    const bool stretched = rng.chance(30);
    shape.push_back(extent);
    from.push_back(stretched ? 1 : extent);
  }
  if (rng.chance(30)) shape.push_back(rng.between(0, 3));
  return OpCase{{sample_array({r.dtype, Shape(from)}, rng, r.domain)}, {{"axes", axes}, {"shape", shape}}, {}};
}

/// Splits the extents into factors in order, and merges neighbours at random.
inline std::optional<OpCase> reshape(const OpRequest& r, Rng& rng) {
  List factors;
  for (int64_t extent : r.shape) {
    for (int64_t f = 2; f * f <= extent; ++f) {
      for (; extent % f == 0; extent /= f) factors.push_back(f);
    }
    if (extent != 1 || rng.chance(50)) factors.push_back(extent);
  }
  List shape;
  for (int64_t f : factors) {
    if (!shape.empty() && rng.chance(40)) {
      shape.back() *= f;
    } else {
      shape.push_back(f);
    }
    if (rng.chance(20)) shape.push_back(1);
  }
  return OpCase{{main_operand(r, rng)}, {{"shape", shape}}, {}};
}

inline std::optional<OpCase> transpose(const OpRequest& r, Rng& rng) {
  List perm;
  for (size_t d = 0; d < r.shape.size(); ++d) perm.push_back(static_cast<int64_t>(d));
  rng.shuffle(perm);
  return OpCase{{main_operand(r, rng)}, {{"perm", perm}}, {}};
}

inline List random_axes(const Shape& shape, Rng& rng) {
  List axes;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (rng.chance(50)) axes.push_back(static_cast<int64_t>(d));
  }
  return axes;
}

/// For reverse and the reductions.
inline std::optional<OpCase> over_axes(const OpRequest& r, Rng& rng) {
  return OpCase{{main_operand(r, rng)}, {{"axes", random_axes(r.shape, rng)}}, {}};
}

inline std::optional<OpCase> slice(const OpRequest& r, Rng& rng) {
  List start, limit, stride;
  for (int64_t extent : r.shape) {
    start.push_back(rng.between(0, extent));
    limit.push_back(rng.between(start.back(), extent));
    stride.push_back(rng.chance(5) ? INT64_MAX : rng.between(1, 3));
  }
  return OpCase{{main_operand(r, rng)}, {{"start", start}, {"limit", limit}, {"stride", stride}}, {}};
}

inline std::optional<OpCase> pad(const OpRequest& r, Rng& rng) {
  List low, high, interior;
  for (int64_t extent : r.shape) {
    low.push_back(rng.between(-2, 3));
    high.push_back(rng.between(-2, 3));
    interior.push_back(rng.chance(60) ? 0 : rng.between(1, 3));
    const int64_t dilated = extent + std::max<int64_t>(extent - 1, 0) * interior.back();
    if (low.back() + high.back() + dilated < 0) low.back() = high.back() = 0;
  }
  return OpCase{{main_operand(r, rng), sample_array({r.dtype, {}}, rng, r.domain)},
                {{"low", low}, {"high", high}, {"interior", interior}},
                {}};
}

inline std::optional<OpCase> concatenate(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  const size_t axis = rng.below(r.shape.size());
  OpCase c{{}, {{"axis", static_cast<int64_t>(axis)}}, {}};
  for (int64_t i = 0, n = rng.between(1, 4); i < n; ++i) {
    c.operands.push_back(sample_array({r.dtype, r.shape.with(axis, rng.between(0, 3))}, rng, r.domain));
  }
  return c;
}

inline std::optional<OpCase> diagonal(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() < 2) return std::nullopt;
  List axes;
  for (int64_t d = 0; d < r.shape.rank(); ++d) axes.push_back(d);
  rng.shuffle(axes);
  const int64_t rows = r.shape[static_cast<size_t>(axes[0])], columns = r.shape[static_cast<size_t>(axes[1])];
  const bool far = rng.chance(5), below = rng.chance(50);
  const int64_t near = rng.between(-rows - 1, columns + 1);
  const int64_t offset = far ? (below ? INT64_MIN : INT64_MAX) : near;
  return OpCase{{main_operand(r, rng)}, {{"axis1", axes[0]}, {"axis2", axes[1]}, {"offset", offset}}, {}};
}

/// Square matrices with as many rows as the requested shape has columns.
inline AnyArray square_matrices(const OpRequest& r, Rng& rng) {
  std::vector<int64_t> dims(r.shape.begin(), r.shape.end());
  dims.push_back(dims.back());
  return sample_array({r.dtype, Shape(dims)}, rng, r.domain);
}

/// One operand, square matrices.
inline std::optional<OpCase> of_square_matrices(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  return OpCase{{square_matrices(r, rng)}, {}, {}};
}

/// One operand [b, n, n].
inline std::optional<OpCase> batch_of_square_matrices(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() != 2) return std::nullopt;
  return OpCase{{square_matrices(r, rng)}, {{"add_transpose", rng.chance(50)}}, {}};
}

inline std::optional<OpCase> triangular_solve(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  OpCase c{{square_matrices(r, rng)}, {}, {}};
  std::vector<int64_t> dims(r.shape.begin(), r.shape.end());
  dims.push_back(rng.between(0, 4));
  c.operands.push_back(sample_array({r.dtype, Shape(dims)}, rng, r.domain));
  for (const char* flag : {"lower", "transpose", "unit_diagonal"}) c.attributes.set(flag, rng.chance(50));
  return c;
}

/// Matrices of other numbers of columns than the requested shape has, which is that of their first columns.
inline std::optional<OpCase> of_matrices(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  std::vector<int64_t> dims(r.shape.begin(), r.shape.end());
  dims.push_back(rng.between(0, 6));
  return OpCase{{sample_array({r.dtype, Shape(dims)}, rng, r.domain)}, {}, {}};
}

/// Matrices, square ones if `Square`, whose vectors are results or not.
template <bool Square>
std::optional<OpCase> spectrum(const OpRequest& r, Rng& rng) {
  std::optional<OpCase> c = Square ? of_square_matrices(r, rng) : of_matrices(r, rng);
  if (c) c->attributes.set("vectors", rng.chance(50));
  return c;
}

inline std::optional<OpCase> pinv(const OpRequest& r, Rng& rng) {
  std::optional<OpCase> c = of_matrices(r, rng);
  if (c) c->attributes.set("rcond", 1e-3);
  return c;
}

/// Permutations of 0, 1 ... n - 1 as rows [..., n].
inline AnyArray orders_of_rows(const Shape& shape, Rng& rng) {
  const int64_t n = shape[shape.size() - 1];
  std::vector<int32_t> order, all;
  for (int64_t i = 0; i < n; ++i) order.push_back(static_cast<int32_t>(i));
  for (int64_t m = 0; m < shape.num_elements(); m += std::max<int64_t>(n, 1)) {
    rng.shuffle(order);
    all.insert(all.end(), order.begin(), order.end());
  }
  return AnyArray::from(std::span<const int32_t>(all), shape);
}

/// Any numbers as factors, any order.
inline std::optional<OpCase> lu_solve(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  OpCase c{{square_matrices(r, rng), square_matrices(r, rng)}, {{"transpose", rng.chance(50)}}, {}};
  c.operands.push_back(orders_of_rows(r.shape, rng));
  std::vector<int64_t> dims(r.shape.begin(), r.shape.end());
  dims.push_back(rng.between(0, 4));
  c.operands.push_back(sample_array({r.dtype, Shape(dims)}, rng, r.domain));
  return c;
}

/// Keys of which some are equal, since there are two of them now and then.
inline std::optional<OpCase> sort(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  const bool values = rng.chance(70);
  OpCase c{{main_operand(r, rng)},
           {{"descending", rng.chance(50)},
            {"indices", !values || rng.chance(50)},
            {"limit", rng.between(0, r.shape[r.shape.size() - 1])},
            {"values", values}},
           {}};
  if (rng.chance(30)) c.operands.push_back(main_operand(r, rng));
  return c;
}

inline std::optional<OpCase> permute(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  return OpCase{{main_operand(r, rng), orders_of_rows(r.shape, rng)},
                {{"limit", rng.between(0, r.shape[r.shape.size() - 1])}},
                {}};
}

/// Rows of the last dimension; of complex ones that are half of the results, either length.
inline std::optional<OpCase> fft(const OpRequest& r, Rng& rng) {
  const int64_t n = r.shape.rank() == 0 ? 0 : r.shape[r.shape.size() - 1];
  if (n == 0) return std::nullopt;
  OpCase c{{main_operand(r, rng)}, {{"kind", std::string("rfft")}, {"length", n}}, {}};
  if (!is_complex(r.dtype)) return c;
  constexpr std::string_view kKinds[] = {"fft", "ifft", "irfft"};
  const std::string_view kind = rng.pick(kKinds);
  c.attributes.set("kind", std::string(kind));
  if (kind == "irfft") c.attributes.set("length", 2 * n - (n == 1 || rng.chance(50) ? 1 : 2));
  return c;
}

inline DType index_dtype(Rng& rng) {
  constexpr DType kIndexTypes[] = {DType::i32, DType::i64, DType::u8, DType::u64, DType::i8};
  return rng.pick(kIndexTypes);
}

inline std::optional<OpCase> dynamic_slice(const OpRequest& r, Rng& rng) {
  OpCase c{{main_operand(r, rng)}, {}, {}};
  const DType dtype = index_dtype(rng);
  List sizes;
  for (int64_t extent : r.shape) {
    sizes.push_back(rng.between(0, extent));
    c.operands.push_back(sample_array({dtype, {}}, rng));
  }
  c.attributes = {{"sizes", sizes}};
  return c;
}

inline std::optional<OpCase> dynamic_update_slice(const OpRequest& r, Rng& rng) {
  List sizes;
  for (int64_t extent : r.shape) sizes.push_back(rng.between(0, extent));
  OpCase c{{main_operand(r, rng), sample_array({r.dtype, Shape(sizes)}, rng, r.domain)}, {}, {}};
  const DType dtype = index_dtype(rng);
  for (size_t d = 0; d < sizes.size(); ++d) c.operands.push_back(sample_array({dtype, {}}, rng));
  return c;
}

/// The dimensions of x by their use in a gather or scatter, and the resulting shapes.
struct WindowLayout {
  List collapsed, batching, map, indices_batching, sizes;
  List batch_shape;       // of the indices, without the vector
  List array_dims;        // of the array of windows
  List window_positions;  // positions of the window's dimensions in array_dims
  Shape indices_shape;

  WindowLayout(const Shape& x, Rng& rng) {
    List window;
    for (size_t d = 0; d < x.size(); ++d) {
      const auto axis = static_cast<int64_t>(d);
      const bool single = x[d] >= 1;
      if (single && rng.chance(20)) {
        batching.push_back(axis);
        sizes.push_back(1);
        continue;
      }
      if (single && rng.chance(40)) {
        collapsed.push_back(axis);
        sizes.push_back(1);
      } else {
        sizes.push_back(rng.between(0, x[d]));
        window.push_back(sizes.back());
      }
      if (rng.chance(70)) map.push_back(axis);
    }
    rng.shuffle(map);
    batch_shape = {rng.between(0, 3)};
    for (int64_t d : batching) {
      indices_batching.push_back(static_cast<int64_t>(batch_shape.size()));
      batch_shape.push_back(x[static_cast<size_t>(d)]);
    }
    List indices = batch_shape;
    indices.push_back(static_cast<int64_t>(map.size()));
    indices_shape = Shape(indices);
    size_t w = 0;
    for (size_t b = 0; b < batch_shape.size() || w < window.size();) {
      if (w < window.size() && (b == batch_shape.size() || rng.chance(50))) {
        window_positions.push_back(static_cast<int64_t>(array_dims.size()));
        array_dims.push_back(window[w++]);
      } else {
        array_dims.push_back(batch_shape[b++]);
      }
    }
  }
};

inline std::optional<OpCase> gather(const OpRequest& r, Rng& rng) {
  const WindowLayout l(r.shape, rng);
  return OpCase{{main_operand(r, rng), sample_array({index_dtype(rng), l.indices_shape}, rng, Domain::index)},
                {{"offset_dims", l.window_positions},
                 {"collapsed_slice_dims", l.collapsed},
                 {"start_index_map", l.map},
                 {"operand_batching_dims", l.batching},
                 {"indices_batching_dims", l.indices_batching},
                 {"slice_sizes", l.sizes},
                 {"mode", std::string(rng.chance(50) ? "fill" : "clip")}},
                {}};
}

inline std::optional<OpCase> scatter(const OpRequest& r, Rng& rng) {
  const WindowLayout l(r.shape, rng);
  return OpCase{{main_operand(r, rng), sample_array({index_dtype(rng), l.indices_shape}, rng, Domain::index),
                 sample_array({r.dtype, Shape(l.array_dims)}, rng, r.domain)},
                {{"update_window_dims", l.window_positions},
                 {"inserted_window_dims", l.collapsed},
                 {"scatter_dims_to_operand_dims", l.map},
                 {"operand_batching_dims", l.batching},
                 {"indices_batching_dims", l.indices_batching}},
                {}};
}

inline std::optional<OpCase> arg_reduction(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  const size_t axis = rng.below(r.shape.size());
  if (r.shape[axis] == 0) return std::nullopt;
  return OpCase{{main_operand(r, rng)}, {{"axis", static_cast<int64_t>(axis)}, {"dtype", DType::i32}}, {}};
}

inline std::optional<OpCase> cumulative(const OpRequest& r, Rng& rng) {
  if (r.shape.rank() == 0) return std::nullopt;
  return OpCase{{main_operand(r, rng)},
                {{"axis", static_cast<int64_t>(rng.below(r.shape.size()))}, {"reverse", rng.chance(50)}},
                {}};
}

inline std::optional<OpCase> dot_general(const OpRequest& r, Rng& rng) {
  List a_batch, a_contract, b_batch, b_contract;
  std::vector<std::pair<int64_t, int64_t>> b;  // extent, and the dimension of a that it pairs with, or -1
  for (size_t d = 0; d < r.shape.size(); ++d) {
    const auto axis = static_cast<int64_t>(d);
    const size_t part = rng.below(3);
    if (part == 0) a_batch.push_back(axis);
    if (part == 1) a_contract.push_back(axis);
    if (part != 2) b.emplace_back(r.shape[d], axis);
  }
  if (rng.chance(50)) b.emplace_back(rng.between(0, 3), -1);
  rng.shuffle(b);
  List b_shape;
  const auto append_positions = [&](const List& axes, List& positions) {
    for (int64_t axis : axes) {
      for (size_t d = 0; d < b.size(); ++d) {
        if (b[d].second == axis) positions.push_back(static_cast<int64_t>(d));
      }
    }
  };
  for (const auto& [extent, axis] : b) b_shape.push_back(extent);
  append_positions(a_batch, b_batch);
  append_positions(a_contract, b_contract);
  return OpCase{
      {main_operand(r, rng), sample_array({r.dtype, Shape(b_shape)}, rng, r.domain)},
      {{"lhs_batch", a_batch}, {"lhs_contract", a_contract}, {"rhs_batch", b_batch}, {"rhs_contract", b_contract}},
      {}};
}

}  // namespace cases
}  // namespace calque::test
