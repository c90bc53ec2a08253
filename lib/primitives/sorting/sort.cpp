#include "primitives/sorting/sort.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "primitives/core/emit.h"
#include "primitives/elementwise/numbers.h"
#include "primitives/indexing/gather.h"
#include "primitives/list.h"
#include "primitives/registration.h"

namespace calque::primitives {

template void register_family<SortingList>(std::span<const Registration>);

namespace {

constexpr DTypeSet kOrdered = kReal | kBool;

struct Form {
  bool descending, values, indices;
  explicit Form(const Attributes& a)
      : descending(a.get<bool>("descending")), values(a.get<bool>("values")), indices(a.get<bool>("indices")) {}
};

/// -1, 0 or 1: how two elements of a key compare.
template <class T>
int compare(T a, T b) {
  const auto x = static_cast<Compute<T>>(a), y = static_cast<Compute<T>>(b);
  const bool x_is_nan = x != x, y_is_nan = y != y;
  if (x_is_nan || y_is_nan) return static_cast<int>(x_is_nan) - static_cast<int>(y_is_nan);
  return static_cast<int>(x > y) - static_cast<int>(x < y);
}

/// Merges sorted halves, of which the first comes first where elements are equal. std::stable_sort would do, but its
/// temporary buffer is deprecated.
template <class Precedes>
void stable_sort(std::span<size_t> x, std::vector<size_t>& space, const Precedes& precedes) {
  if (x.size() < 2) return;
  const auto first = x.first(x.size() / 2), second = x.subspan(x.size() / 2);
  stable_sort(first, space, precedes);
  stable_sort(second, space, precedes);
  space.clear();
  std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(space), precedes);
  std::copy(space.begin(), space.end(), x.begin());
}

}  // namespace

Value take_from_rows(const Writer& w, Value x, Value perm, std::string_view mode) {
  const Shape from = w.shape(x), to = w.shape(perm);
  if (to.num_elements() == 0) return w.zeros({w.dtype(x), to});
  const auto last = static_cast<int64_t>(from.size()) - 1;
  std::vector<int64_t> batch(static_cast<size_t>(last));
  std::iota(batch.begin(), batch.end(), 0);
  return w.emit(id_of<Gather>, {x, w.reshape(perm, to.with_inserted(to.size(), 1))},
                {{"collapsed_slice_dims", std::vector<int64_t>{last}},
                 {"indices_batching_dims", batch},
                 {"mode", std::string(mode)},
                 {"offset_dims", std::vector<int64_t>{}},
                 {"operand_batching_dims", batch},
                 {"slice_sizes", std::vector<int64_t>(from.size(), 1)},
                 {"start_index_map", std::vector<int64_t>{last}}});
}

uint32_t Sort::routine_flags(const Attributes& attributes) {
  const Form form(attributes);
  return (form.descending ? RoutineFlag::descending : 0) | (form.values ? RoutineFlag::values : 0) |
         (form.indices ? RoutineFlag::indices : 0);
}

void Sort::infer(Typing& t) {
  const Form form(t.attributes());
  const Type first = t.operand(0);
  if (first.shape.rank() == 0) t.shape_error(fmt::format("expects rows [..., n], got {}", to_string(first)));
  for (size_t i = 0; i < t.num_operands(); ++i) {
    t.accept(i, kOrdered);
    if (t.operand(i).shape != first.shape) {
      t.shape_error(fmt::format("keys differ in shape, got {} and {}", to_string(first), to_string(t.operand(i))));
    }
  }
  const size_t last = first.shape.size() - 1;
  const int64_t extent = first.shape[last], limit = t.integer("limit");
  if (limit < 0 || limit > extent) {
    t.shape_error(fmt::format("limit is {}, which is not in [0, {}]", limit, extent));
  }
  if (extent - 1 > INT32_MAX) {
    t.shape_error(fmt::format("rows of {} are too long for indices of i32", to_string(first)));
  }
  if (!form.values && !form.indices) t.shape_error("has no result: values and indices are false");
  const Shape shape = first.shape.with(last, limit);
  if (form.values) {
    for (size_t i = 0; i < t.num_operands(); ++i) t.result(Type{t.operand(i).dtype, shape});
  }
  if (form.indices) t.result(Type{DType::i32, shape});
}

void Sort::evaluate(Evaluation& e) {
  const Form form(e.attributes);
  const Shape& shape = e.operands[0].shape();
  const auto n = static_cast<size_t>(shape[shape.size() - 1]);
  const auto limit = static_cast<size_t>(e.attributes.integer("limit"));
  const int64_t rows = shape.without(shape.size() - 1).num_elements();
  for (size_t i = 0; i < e.result_types.size(); ++i) e.add_result();
  std::vector<size_t> order(n), space;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    std::iota(order.begin(), order.end(), row * n);
    // By the last key first: each sort keeps the order of equal elements.
    for (size_t k = e.operands.size(); k-- > 0;) {
      visit_dtype(e.operands[k].dtype(), [&]<class T>() {
        if constexpr (contains(kOrdered, dtype_of<T>)) {
          const T* const key = e.operands[k].data_as<T>();
          stable_sort(std::span(order), space, [&](size_t a, size_t b) {
            return form.descending ? compare(key[a], key[b]) > 0 : compare(key[a], key[b]) < 0;
          });
        }
      });
    }
    if (form.values) {
      for (size_t k = 0; k < e.operands.size(); ++k) {
        const size_t size = size_of(e.operands[k].dtype());
        const char* const from = bytes_of(e.operands[k]);
        auto* const to = static_cast<char*>(e.results[k].mutable_data());
        for (size_t i = 0; i < limit; ++i) std::memcpy(to + (row * limit + i) * size, from + order[i] * size, size);
      }
    }
    if (form.indices) {
      auto* const to = static_cast<int32_t*>(e.results.back().mutable_data()) + row * limit;
      for (size_t i = 0; i < limit; ++i) to[i] = static_cast<int32_t>(order[i] - row * n);
    }
  }
}

/// Tangents are taken in the order of the keys, which does not change nearby unless keys are equal.
void Sort::jvp(Jvp& j) {
  const Writer& w = j.writer;
  const Form form(j.attributes());
  Attributes attributes = j.attributes();
  if (form.values) attributes.set("indices", true);
  ValueList keys;
  for (const Value v : j.primals) keys.push_back(v);
  const Equation& e = w.append(id_of<Sort>, std::move(keys), std::move(attributes));
  const std::vector<Value> results(e.results().begin(), e.results().end());
  j.results.assign(results.begin(), results.begin() + static_cast<int64_t>(j.equation.results().size()));
  if (!form.values) return;
  for (size_t k = 0; k < j.primals.size(); ++k) {
    if (j.active(k) && is_inexact(w.dtype(j.primals[k])))
      j.add(take_from_rows(w, j.tangents[k], results.back(), "clip"), k);
  }
}

void Sort::batch(Batching& b) {
  ValueList keys;
  for (size_t i = 0; i < b.operands.size(); ++i) keys.push_back(b.batched_operand(i));
  const Equation& e = b.writer.append(id_of<Sort>, std::move(keys), b.attributes());
  for (const Value v : e.results()) b.result(v);
}

void Permute::infer(Typing& t) {
  t.accept(0, kOrdered);
  t.accept(1, kInteger);
  const Type x = t.operand(0), positions = t.operand(1);
  if (x.shape.rank() == 0 || x.shape != positions.shape) {
    t.shape_error(fmt::format("expects rows and positions of one shape [..., n], got {} and {}", to_string(x),
                              to_string(positions)));
  }
  const size_t last = x.shape.size() - 1;
  const int64_t limit = t.integer("limit");
  if (limit < 0 || limit > x.shape[last]) {
    t.shape_error(fmt::format("limit is {}, which is not in [0, {}]", limit, x.shape[last]));
  }
  t.result(Type{x.dtype, x.shape.with(last, limit)});
}

void Permute::evaluate(Evaluation& e) {
  const AnyArray &x = e.operands[0], &positions = e.operands[1];
  const auto n = static_cast<size_t>(x.shape()[x.shape().size() - 1]);
  const auto limit = static_cast<size_t>(e.attributes.integer("limit"));
  const size_t size = size_of(x.dtype()), count = static_cast<size_t>(x.shape().num_elements());
  e.add_result();
  auto* const to = static_cast<char*>(e.results[0].mutable_data());
  visit_dtype(positions.dtype(), [&]<class T>() {
    if constexpr (contains(kInteger, dtype_of<T>)) {
      const T* const at = positions.data_as<T>();
      for (size_t i = 0; i < count; ++i) {
        // A negative position converts to a great one.
        const auto position = static_cast<uint64_t>(at[i]);
        if (position < limit) std::memcpy(to + (i / n * limit + position) * size, bytes_of(x) + i * size, size);
      }
    }
  });
}

void Permute::jvp(Jvp& j) {
  if (j.active(0)) j.add(j.emit<Permute>({j.tangents[0], j.primals[1]}, j.attributes()));
}

void Permute::transpose(Transposition& t) {
  t.add(0, take_from_rows(t.writer, t.cotangents[0], t.operands[1], "zero"));
}

void Permute::batch(Batching& b) {
  b.result(b.emit<Permute>({b.batched_operand(0), b.batched_operand(1)}, b.attributes()));
}

}  // namespace calque::primitives
