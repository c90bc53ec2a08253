// Everything is drawn from one Rng in a fixed order, so that a seed gives the same graph with every compiler: nothing
// is drawn inside an argument list.
#include "support/random/random_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/random/random_generator.h"

namespace calque::test {
namespace {

constexpr int64_t kExtents[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 17, 31, 64};

template <class T>
T random_floating(Rng& rng, bool corners) {
  using Limits = std::numeric_limits<T>;
  const size_t kind = rng.below(100);
  if (corners && kind < 20) {
    const T values[] = {T(0),
                        -T(0),
                        T(1),
                        T(-1),
                        Limits::max(),
                        Limits::lowest(),
                        Limits::min(),
                        Limits::denorm_min(),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::epsilon()};
    return values[rng.below(std::size(values))];
  }
  if (corners && kind < 27) {
    const uint64_t bits = rng.next();
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return value;
  }
  if (kind < 60) return static_cast<T>(static_cast<float>(rng.between(-32, 32)) / 8.0f);
  return static_cast<T>(static_cast<double>(rng.between(-(1 << 20), 1 << 20)) / (1 << 18));
}

template <class T>
T random_integer(Rng& rng, bool corners) {
  const size_t kind = rng.below(100);
  if (corners && kind < 10) {
    const T values[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0), T(1),
                        static_cast<T>(std::numeric_limits<T>::max() - 1)};
    return values[rng.below(std::size(values))];
  }
  if (corners && kind < 25) return static_cast<T>(rng.next());
  return static_cast<T>(std::is_signed_v<T> ? rng.between(-9, 9) : rng.between(0, 12));
}

template <class T>
T random_element(Rng& rng, bool corners) {
  if constexpr (std::is_same_v<T, bool>) {
    return rng.chance(50);
  } else if constexpr (std::is_integral_v<T>) {
    return random_integer<T>(rng, corners);
  } else if constexpr (is_complex(dtype_of<T>)) {
    const auto re = random_floating<typename T::value_type>(rng, corners);
    const auto im = random_floating<typename T::value_type>(rng, corners);
    return T(re, im);
  } else {
    return random_floating<T>(rng, corners);
  }
}

}  // namespace

AnyArray random_array(const Type& type, Rng& rng, bool corners) {
  AnyArray array = AnyArray::uninitialized(type);
  visit_dtype(type.dtype, [&]<class T>() {
    auto* p = static_cast<T*>(array.mutable_data());
    for (int64_t i = 0; i < array.size(); ++i) p[i] = random_element<T>(rng, corners);
  });
  return array;
}

std::vector<AnyArray> random_inputs(const Graph& graph, uint64_t seed, bool corners) {
  Rng rng(seed ^ 0x5851f42d4c957f2d);
  std::vector<AnyArray> arrays;
  for (const Type& t : graph.input_types()) arrays.push_back(random_array(t, rng, corners));
  return arrays;
}

Graph random_graph(uint64_t seed, const RandomGraphOptions& options) {
  Rng rng(seed);
  return Generator(rng, options, 0).top();
}

Graph Generator::top() {
  constexpr std::string_view kNames[] = {"step", "f", "model.loss", "a name with blanks", "quote\"d\n", "return"};
  if (rng_.chance(70)) graph_.set_name(std::string(rng_.pick(kNames)));
  const auto inputs = rng_.between(0, 4);
  for (int64_t i = 0; i < inputs; ++i) pool_.push_back(graph_.add_input(type()));
  const int64_t size = rng_.between(options_.min_equations, options_.max_equations);
  while (static_cast<int64_t>(graph_.num_equations()) < size) step();
  set_outputs();
  return std::move(graph_);
}

Graph Generator::closed(const std::vector<Type>& inputs, const std::vector<Type>& outputs, int size) {
  if (rng_.chance(30)) graph_.set_name("body");
  for (const Type& t : inputs) pool_.push_back(graph_.add_input(Type(t)));
  for (int i = 0; i < size; ++i) step();
  std::vector<Value> results;
  for (const Type& t : outputs) results.push_back(like(t));
  graph_.set_outputs(std::move(results));
  return std::move(graph_);
}

/// Mostly a value without uses, so that little of the graph is dead; sometimes any value.
void Generator::set_outputs() {
  std::vector<bool> used(graph_.num_values(), false);
  for (const Equation& e : graph_.equations()) {
    for (const Value v : e.operands()) used[v.id()] = true;
  }
  std::vector<Value> unused;
  for (const Value v : pool_) {
    if (!used[v.id()]) unused.push_back(v);
  }
  rng_.shuffle(unused);
  const auto count = rng_.between(1, 9);
  std::vector<Value> outputs(unused.begin(), unused.begin() + std::min<std::ptrdiff_t>(count, std::ssize(unused)));
  if (outputs.empty() || rng_.chance(15)) outputs.push_back(any());
  if (rng_.chance(8)) outputs.push_back(literal(type()));
  if (rng_.chance(8)) outputs.push_back(outputs.front());
  graph_.set_outputs(std::move(outputs));
}

void Generator::step() {
  const size_t kind = rng_.below(100);
  if (pool_.empty() || kind < 4) {
    iota();
  } else if (kind < 44) {
    elementwise();
  } else if (kind < 50) {
    convert();
  } else if (kind < 54) {
    select();
  } else if (kind < 75) {
    view();
  } else if (kind < 84) {
    reduction();
  } else if (kind < 93) {
    indexing();
  } else {
    control();
  }
}

DType Generator::dtype() { return rng_.pick(options_.dtypes); }

bool Generator::enabled(std::string_view primitive) const {
  return std::find(options_.exclude.begin(), options_.exclude.end(), primitive) == options_.exclude.end();
}

Shape Generator::shape(int max_rank, int64_t max_elements) {
  List dims;
  const auto rank = rng_.chance(25) ? 0 : rng_.between(0, max_rank);
  int64_t elements = 1;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t extent = rng_.chance(5) ? 0 : rng_.pick(kExtents);
    if (elements * extent > max_elements) extent = 1;
    elements *= std::max<int64_t>(extent, 1);
    dims.push_back(extent);
  }
  rng_.shuffle(dims);
  return Shape(dims);
}

Type Generator::type() {
  const DType d = dtype();
  // Reusing existing shapes gives elementwise operations matching operands.
  if (!pool_.empty() && rng_.chance(40)) return {d, graph_.shape(rng_.pick(pool_))};
  return {d, shape(options_.max_rank, options_.max_elements)};
}

bool Generator::fits(const List& dims) const {
  int64_t elements = 1;
  for (const int64_t d : dims) elements *= std::max<int64_t>(d, 1);
  return elements <= options_.max_elements && static_cast<int>(dims.size()) <= options_.max_rank;
}

Value Generator::emit(const Primitive& primitive, ValueList operands, Attributes attributes,
                      std::vector<Graph> subgraphs) {
  constexpr const char* kFiles[] = {"model.cpp", "/home/me/src/my file.h", "tail\\s\"\x01.cpp"};
  Location location;
  if (rng_.chance(50)) {
    const char* file = rng_.pick(kFiles);
    const auto line = static_cast<uint32_t>(rng_.between(1, 5000));
    location = Location(file, line, static_cast<uint32_t>(rng_.between(0, 120)));
  }
  const Equation& e =
      graph_.append(primitive, std::move(operands), std::move(attributes), std::move(subgraphs), location);
  for (const Value v : e.results()) pool_.push_back(v);
  return e.results().empty() ? Value() : e.result();
}

std::optional<Value> Generator::draw(primitives::DTypeSet set, int min_rank) {
  std::vector<Value> candidates;
  for (const Value v : pool_) {
    if (primitives::contains(set, graph_.dtype(v)) && graph_.shape(v).rank() >= min_rank) candidates.push_back(v);
  }
  if (candidates.empty()) return std::nullopt;
  return rng_.pick(candidates);
}

Value Generator::any() { return pool_.empty() ? literal(type()) : rng_.pick(pool_); }

Value Generator::literal(const Type& type) {
  return visit_dtype(type.dtype, [&]<class T>() {
    return graph_.add_literal(Literal::of<T>(random_element<T>(rng_, options_.corners)), Type(type));
  });
}

bool Generator::convertible(DType from, DType to) const {
  return from == to || options_.discontinuous || is_inexact(to) || !is_inexact(from);
}

Value Generator::like(const Type& type) {
  const size_t kind = rng_.below(100);
  if (kind < 60) {
    std::vector<Value> candidates;
    for (const Value v : pool_) {
      if (graph_.type(v) == type) candidates.push_back(v);
    }
    if (!candidates.empty()) return rng_.pick(candidates);
  }
  if (kind < 85) {
    if (const auto v = derive(type)) return *v;
  }
  if (rng_.chance(25)) {
    const Value v = graph_.add_constant(random_array(type, rng_, options_.corners));
    if (rng_.chance(50)) pool_.push_back(v);
    return v;
  }
  return literal(type);
}

std::optional<Value> Generator::derive(const Type& type) {
  if (pool_.empty()) return std::nullopt;
  Value v = any();
  if (!convertible(graph_.dtype(v), type.dtype)) return std::nullopt;
  const int64_t have = graph_.shape(v).num_elements();
  if (graph_.shape(v) != type.shape) {
    if (have == type.shape.num_elements()) {
      v = emit<primitives::Reshape>({v}, {{"shape", List(type.shape.begin(), type.shape.end())}});
    } else if (have == 0) {
      return std::nullopt;
    } else {
      if (have != 1) {
        const int64_t at = rng_.between(0, have - 1);
        v = emit<primitives::Reshape>({v}, {{"shape", List{have}}});
        v = emit<primitives::Slice>({v}, {{"limit", List{at + 1}}, {"start", List{at}}, {"stride", List{1}}});
      }
      if (graph_.shape(v).rank() != 0) v = emit<primitives::Reshape>({v}, {{"shape", List{}}});
      v = emit<primitives::Broadcast>({v}, {{"axes", List{}}, {"shape", List(type.shape.begin(), type.shape.end())}});
    }
  }
  if (graph_.dtype(v) != type.dtype) v = emit<primitives::Convert>({v}, {{"dtype", type.dtype}});
  return v;
}

}  // namespace calque::test
