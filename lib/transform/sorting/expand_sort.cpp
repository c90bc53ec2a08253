#include "transform/sorting/expand_sort.h"

#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "primitives/core/writer.h"
#include "primitives/list.h"

namespace calque::transform {
namespace {

using namespace primitives;

constexpr int64_t kDigitBits = 4, kDigits = int64_t{1} << kDigitBits;
/// Elements whose digits are counted together. The counts of 8 digits share a u64, a byte each.
constexpr int64_t kTile = 32;
constexpr int64_t kCountBits = 8, kCountsInWord = 64 / kCountBits;
static_assert(kTile < (int64_t{1} << kCountBits) && kDigits == 2 * kCountsInWord);

constexpr uint64_t kOnes = ~uint64_t{0};

/// 0, 1 ... rank - 1.
std::vector<int64_t> leading_axes(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

DType unsigned_of(DType d) {
  switch (size_of(d)) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    default:
      return DType::u64;
  }
}

int64_t num_bits(DType d) { return d == DType::bool_ ? 1 : 8 * static_cast<int64_t>(size_of(d)); }

/// The number of elements of a row.
int64_t row_length(const Shape& shape) { return shape[shape.size() - 1]; }

/// Elements with the low bits of `bits`.
Value splat_bits(const Writer& w, uint64_t bits, const Type& type) {
  Literal literal;
  std::memcpy(literal.bytes, &bits, size_of(type.dtype));
  return w.graph().add_literal(literal, Type(type));
}

/// Appends operations on two arrays, the second of which may be a number.
class Bits {
 public:
  explicit Bits(const Writer& w) : w(w) {}
  Value operator()(PrimitiveId id, Value a, Value b) const { return w.emit(id, {a, b}); }
  Value operator()(PrimitiveId id, Value a, uint64_t b) const { return w.emit(id, {a, splat_bits(w, b, w.type(a))}); }

 private:
  const Writer& w;
};

/// Unsigned integers in the order of the elements; equal elements have equal ones.
Value ordered_bits(const Writer& w, Value x, bool descending) {
  const DType dtype = w.dtype(x), bits = unsigned_of(dtype);
  const Bits op(w);
  const uint64_t sign = uint64_t{1} << (8 * size_of(dtype) - 1);
  Value key = x;
  if (dtype == DType::bool_) {
    key = w.convert(x, bits);
  } else if (is_floating(dtype)) {
    const Value zero = w.zeros(w.type(x));
    const Value magnitude = w.emit(id_of<Bitcast>, {w.select(op(id_of<Eq>, x, zero), zero, x)}, {{"dtype", bits}});
    const Value number =
        w.select(op(id_of<Ge>, magnitude, sign), w.emit(id_of<Not>, {magnitude}), op(id_of<Or>, magnitude, sign));
    key = w.select(op(id_of<Ne>, x, x), splat_bits(w, kOnes, w.type(magnitude)), number);
  } else if (is_signed_integer(dtype)) {
    key = op(id_of<Xor>, w.emit(id_of<Bitcast>, {x}, {{"dtype", bits}}), sign);
  }
  return descending ? w.emit(id_of<Not>, {key}) : key;
}

/// What no element comes after, as an array of rank 0.
Value last_in_order(const Writer& w, DType dtype, bool descending) {
  const Type type{dtype, {}};
  const uint64_t sign = uint64_t{1} << (8 * size_of(dtype) - 1);
  if (is_floating(dtype)) {
    using Limits = std::numeric_limits<double>;
    return w.splat(descending ? -Limits::infinity() : Limits::quiet_NaN(), type);
  }
  if (dtype == DType::bool_) return splat_bits(w, descending ? 0 : 1, type);
  const uint64_t least = is_signed_integer(dtype) ? sign : 0;
  return splat_bits(w, descending ? least : ~least, type);
}

/// A sort: its keys, and what it is to return.
struct SortedRows {
  ValueList keys;
  bool descending, values, indices;
  int64_t limit;
};

Value numbers_of_rows(const Writer& w, const Shape& shape) {
  return w.iota(DType::i32, shape, static_cast<int64_t>(shape.rank()) - 1);
}

/// How many elements of its row come before each.
Value ranks_by_comparison(const Writer& w, const SortedRows& sort) {
  const Bits op(w);
  const Shape shape = w.shape(sort.keys[0]);
  const auto rank = static_cast<int64_t>(shape.size());
  const Shape pairs = shape.with_inserted(shape.size(), row_length(shape));
  std::vector<int64_t> of_other = leading_axes(rank);
  of_other.back() = rank;
  // Of two equal elements the one with the lower number comes first.
  Value before = op(id_of<Lt>, w.iota(DType::i32, pairs, rank), w.iota(DType::i32, pairs, rank - 1));
  for (size_t k = sort.keys.size(); k-- > 0;) {
    const Value key = ordered_bits(w, sort.keys[k], sort.descending);
    const Value own = w.broadcast(key, pairs, leading_axes(rank)), other = w.broadcast(key, pairs, of_other);
    before = op(id_of<Or>, op(id_of<Lt>, other, own), op(id_of<And>, op(id_of<Eq>, other, own), before));
  }
  return w.reduce_sum(w.convert(before, DType::i32), {rank});
}

/// A pass of the radix sort over rows [..., n] of whole tiles: the position of each element, from its digit (u8).
Value positions_by_digit(const Writer& w, Value digits) {
  const Bits op(w);
  const Shape shape = w.shape(digits), batch = shape.without(shape.size() - 1);
  const auto rank = static_cast<int64_t>(batch.size());
  const int64_t tiles = row_length(shape) / kTile;
  const Shape tiled = batch.with_inserted(batch.size(), tiles).with_inserted(batch.size() + 1, kTile);
  const Value digit = w.reshape(digits, tiled);

  // The counts of each tile, packed: those of the digits below 8, then those of the others.
  const Value one =
      w.emit(id_of<Shl>, {splat_bits(w, 1, {DType::u64, tiled}),
                          op(id_of<Mul>, w.convert(op(id_of<And>, digit, kCountsInWord - 1), DType::u64), kCountBits)});
  const Value is_low = op(id_of<Lt>, digit, kCountsInWord), none = splat_bits(w, 0, {DType::u64, tiled});
  const Value low = w.reduce_sum(w.select(is_low, one, none), {rank + 1});
  const Value high = w.reduce_sum(w.select(is_low, none, one), {rank + 1});

  // Where the elements of each digit and tile begin: [..., digit, tile].
  const Shape table = batch.with_inserted(batch.size(), kDigits).with_inserted(batch.size() + 1, tiles);
  std::vector<int64_t> along_tiles = leading_axes(rank + 1);
  along_tiles.back() = rank + 1;
  const Value number = w.iota(DType::u64, table, rank);
  const Value packed = w.select(op(id_of<Lt>, number, kCountsInWord), w.broadcast(low, table, along_tiles),
                                w.broadcast(high, table, along_tiles));
  const Value count = op(
      id_of<And>, op(id_of<ShrLogical>, packed, op(id_of<Mul>, op(id_of<And>, number, kCountsInWord - 1), kCountBits)),
      (uint64_t{1} << kCountBits) - 1);
  const Shape flat = batch.with_inserted(batch.size(), kDigits * tiles);
  const Value ends = emit_cumulative(w, id_of<Cumsum>, w.reshape(w.convert(count, DType::i32), flat), rank, false);

  // Of each element: where its digit begins in its tile, and how many equal digits of the tile come before it.
  const Value own = op(id_of<Add>, op(id_of<Mul>, w.convert(digit, DType::i32), static_cast<uint64_t>(tiles)),
                       w.iota(DType::i32, tiled, rank));
  const Value at = w.reshape(own, shape);
  const Value before = take_from_rows(w, ends, op(id_of<Sub>, at, 1), "clip");
  const Value begin = w.select(op(id_of<Eq>, at, 0), w.zeros(w.type(before)), before);
  const Shape pairs = tiled.with_inserted(tiled.size(), kTile);
  std::vector<int64_t> of_other = leading_axes(rank + 2);
  of_other.back() = rank + 2;
  const Value is_equal =
      op(id_of<Eq>, w.broadcast(digit, pairs, of_other), w.broadcast(digit, pairs, leading_axes(rank + 2)));
  const Value is_earlier = op(id_of<Lt>, w.iota(DType::i32, pairs, rank + 2), w.iota(DType::i32, pairs, rank + 1));
  const Value ranks = w.reduce_sum(w.convert(op(id_of<And>, is_equal, is_earlier), DType::i32), {rank + 2});
  return w.add(begin, w.reshape(ranks, shape));
}

Value permuted(const Writer& w, Value x, Value positions, int64_t limit) {
  return w.emit(id_of<Permute>, {x, positions}, {{"limit", limit}});
}

/// Sorts arrays of whole tiles by one of them.
void sort_by_digits(const Writer& w, std::vector<Value>& arrays, size_t key, bool descending) {
  const DType bits = unsigned_of(w.dtype(arrays[key]));
  const int64_t passes = (num_bits(w.dtype(arrays[key])) + kDigitBits - 1) / kDigitBits;
  const Shape shape = w.shape(arrays[key]);
  Graph body;
  const Writer inner(body, w.location());
  std::vector<Value> carry;
  for (const Value v : arrays) carry.push_back(body.add_input(w.type(v)));
  const Value shift = body.add_input(Type{bits, {}});
  const Value keys = ordered_bits(inner, carry[key], descending);
  const Value shifted = inner.emit(id_of<ShrLogical>, {keys, inner.broadcast(shift, shape, {})});
  const Value digits = inner.convert(Bits(inner)(id_of<And>, shifted, kDigits - 1), DType::u8);
  const Value positions = positions_by_digit(inner, digits);
  for (Value& v : carry) v = permuted(inner, v, positions, row_length(shape));
  body.set_outputs(carry);

  ValueList operands;
  for (const Value v : arrays) operands.push_back(v);
  operands.push_back(Bits(w)(id_of<Mul>, w.iota(bits, Shape{passes}, 0), kDigitBits));
  std::vector<Graph> bodies;
  bodies.push_back(std::move(body));
  const Equation& scan = w.append(id_of<Scan>, std::move(operands),
                                  {{"carry", static_cast<int64_t>(arrays.size())},
                                   {"consts", int64_t{0}},
                                   {"length", passes},
                                   {"reverse", false},
                                   {"unroll", int64_t{1}}},
                                  std::move(bodies));
  for (size_t i = 0; i < arrays.size(); ++i) arrays[i] = scan.result(i);
}

std::vector<Value> radix_sort(const Writer& w, const SortedRows& sort) {
  const Shape shape = w.shape(sort.keys[0]);
  const size_t last = shape.size() - 1;
  const int64_t n = shape[last], padding = (n + kTile - 1) / kTile * kTile - n;
  std::vector<Value> arrays;
  for (const Value key : sort.keys) {
    // The padding stays behind equal elements, since every pass keeps their order.
    std::vector<int64_t> none(shape.size(), 0), high = none;
    high[last] = padding;
    arrays.push_back(padding == 0 ? key
                                  : w.emit(id_of<Pad>, {key, last_in_order(w, w.dtype(key), sort.descending)},
                                           {{"high", high}, {"interior", none}, {"low", none}}));
  }
  if (sort.indices) arrays.push_back(numbers_of_rows(w, shape.with(last, n + padding)));
  for (size_t k = sort.keys.size(); k-- > 0;) sort_by_digits(w, arrays, k, sort.descending);
  if (!sort.values) arrays.erase(arrays.begin(), arrays.begin() + static_cast<int64_t>(sort.keys.size()));
  for (Value& v : arrays) v = w.slice(v, last, 0, sort.limit);
  return arrays;
}

std::vector<Value> sort_by_comparison(const Writer& w, const SortedRows& sort) {
  const Value positions = ranks_by_comparison(w, sort);
  std::vector<Value> results;
  if (sort.values)
    for (const Value key : sort.keys) results.push_back(permuted(w, key, positions, sort.limit));
  if (sort.indices) results.push_back(permuted(w, numbers_of_rows(w, w.shape(sort.keys[0])), positions, sort.limit));
  return results;
}

std::vector<Value> sorted(const Writer& w, const Graph& from, const Equation& e, const ValueList& keys,
                          const SortLimits& limits) {
  const Attributes& a = e.attributes();
  const SortedRows sort{keys, a.get<bool>("descending"), a.get<bool>("values"), a.get<bool>("indices"),
                        a.integer("limit")};
  const Shape shape = w.shape(keys[0]);
  const int64_t n = row_length(shape), all = shape.num_elements();
  if (sort.limit == 0 || all == 0) {
    std::vector<Value> results;
    for (const Value result : e.results()) results.push_back(w.zeros(from.type(result)));
    return results;
  }
  const bool compares = n <= limits.most_compared || all <= limits.most_comparisons / n;
  return compares ? sort_by_comparison(w, sort) : radix_sort(w, sort);
}

std::vector<Value> append(Graph& to, const Graph& from, std::span<const Value> inputs, const SortLimits& limits) {
  std::vector<Value> map(from.num_values());
  for (size_t i = 0; i < inputs.size(); ++i) map[from.inputs()[i].id()] = inputs[i];
  const auto value = [&](Value v) {
    Value& copy = map[v.id()];
    if (!copy.valid()) copy = to.add_copy(from, v);
    return copy;
  };
  for (const Equation& e : from.equations()) {
    ValueList operands;
    for (const Value v : e.operands()) operands.push_back(value(v));
    if (e.id() == id_of<Sort>) {
      const std::vector<Value> results = sorted(Writer(to, e.location()), from, e, operands, limits);
      for (size_t i = 0; i < results.size(); ++i) map[e.result(i).id()] = results[i];
      continue;
    }
    std::vector<Graph> subgraphs;
    for (const Graph& s : e.subgraphs()) subgraphs.push_back(expand_sort(s, limits));
    const Equation& copy = to.append_copy(from, e, std::move(operands), std::move(subgraphs));
    for (size_t i = 0; i < e.results().size(); ++i) map[e.result(i).id()] = copy.result(i);
  }
  std::vector<Value> outputs;
  for (const Value v : from.outputs()) outputs.push_back(value(v));
  return outputs;
}

}  // namespace

bool has_sort(const Graph& graph) {
  for (const Equation& e : graph.equations()) {
    if (e.id() == id_of<Sort>) return true;
    for (const Graph& s : e.subgraphs())
      if (has_sort(s)) return true;
  }
  return false;
}

Graph expand_sort(const Graph& graph, const SortLimits& limits) {
  if (!has_sort(graph)) return graph;
  Graph to;
  to.set_name(graph.name());
  std::vector<Value> inputs;
  for (const Value v : graph.inputs()) inputs.push_back(to.add_input(graph.type(v)));
  to.set_outputs(append(to, graph, inputs, limits));
  return to;
}

}  // namespace calque::transform
