// Indexing compared with an oracle that uses no primitives, on random shapes and index lists, and the primitives used.
#include "calque/detail/indexing.h"

#include "classes/index_oracle.h"
#include "classes/traced.h"

namespace calque::test {
namespace {

/// A traced function of x, the value and the index arrays.
using Body = std::function<detail::Handle(detail::Handle x, detail::Handle value, std::span<const Item> items)>;

struct Traced {
  Graph graph;
  AnyArray result;
};
template <class I>
Traced trace(const AnyArray& x, const AnyArray& value, const IndexList& list, const Body& body) {
  std::vector<AnyArray> inputs{x, value};
  for (const IndexArray& a : list.arrays) {
    std::vector<I> values(a.values.begin(), a.values.end());
    inputs.push_back(AnyArray::from<I>(std::span<const I>(values), Shape(a.shape)));
  }
  std::vector<Type> types;
  for (const AnyArray& a : inputs) types.push_back(a.type());
  Traced t;
  t.graph =
      detail::trace_graph("test", types, [&](std::span<const detail::Handle> in, std::vector<detail::Handle>& out) {
        std::vector<Item> items = list.items;
        for (size_t i = 0; i < items.size(); ++i) {
          if (list.array_of[i] >= 0) items[i].handle = in[2 + static_cast<size_t>(list.array_of[i])];
        }
        out.push_back(body(in[0], in[1], items));
      }).graph;
  t.graph.verify("test");
  t.result = reference::evaluate(t.graph, inputs)[0];
  return t;
}

AnyArray counted(const Dims& shape, int32_t first) {
  AnyArray a = AnyArray::uninitialized({DType::i32, Shape(shape)});
  for (int64_t i = 0; i < a.size(); ++i) static_cast<int32_t*>(a.mutable_data())[i] = first + static_cast<int32_t>(i);
  return a;
}
Dims random_shape(std::mt19937& random) {
  Dims shape;
  for (size_t rank = random() % 5; rank > 0; --rank) {
    const int64_t extents[] = {0, 1, 2, 3, 3, 4, 5, 7};
    shape.push_back(extents[random() % 8]);
  }
  return shape;
}
std::vector<int32_t> elements(const AnyArray& a) { return {a.data_as<int32_t>(), a.data_as<int32_t>() + a.size()}; }

class RandomLists : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Indexing, RandomLists, testing::Values(false, true),
                         [](const auto& info) { return std::string(info.param ? "WithArrays" : "Static"); });

TEST_P(RandomLists, SelectWhatNumPySelects) {
  std::mt19937 random(7);
  for (int seed = 0; seed < 1500; ++seed) {
    const Dims shape = random_shape(random);
    const IndexList list = random_list(shape, random, GetParam());
    const Selected want = select(shape, list);
    const AnyArray x = counted(shape, 0);
    const auto body = [](detail::Handle a, detail::Handle, std::span<const Item> items) {
      return detail::index_at(a, items, {});
    };
    const Traced got = seed % 2 == 0 ? trace<int32_t>(x, x, list, body) : trace<int8_t>(x, x, list, body);
    SCOPED_TRACE(to_string(x.type()) + list.text());
    ASSERT_EQ(got.result.shape(), Shape(want.shape));
    std::vector<int32_t> values;
    for (int64_t p : want.positions) values.push_back(p < 0 ? INT32_MIN : static_cast<int32_t>(p));
    ASSERT_EQ(elements(got.result), values);
    if (list.arrays.empty()) {
      ASSERT_EQ(count(got.graph, "gather"), 0);
    }
  }
}

TEST_P(RandomLists, SetReplacesWhatIsSelected) {
  std::mt19937 random(11);
  for (int seed = 0; seed < 1500; ++seed) {
    const Dims shape = random_shape(random);
    const IndexList list = random_list(shape, random, GetParam());
    const Selected selected = select(shape, list);
    Dims value_shape = selected.shape;
    if (seed % 3 == 0) value_shape = {};
    if (seed % 3 == 1 && !value_shape.empty()) value_shape[random() % value_shape.size()] = 1;
    const AnyArray x = counted(shape, 0), value = counted(value_shape, 1000);
    const Traced got =
        trace<int64_t>(x, value, list, [](detail::Handle a, detail::Handle v, std::span<const Item> items) {
          return detail::index_set(a, items, v, {});
        });
    std::vector<int32_t> want = elements(x);
    for_each_index(selected.shape, [&](const Dims& index, int64_t at) {
      int64_t from = 0;
      for (size_t d = 0; d < value_shape.size(); ++d)
        from = from * value_shape[d] + (value_shape[d] == 1 ? 0 : index[d]);
      const int64_t to = selected.positions[static_cast<size_t>(at)];
      if (to >= 0) want[static_cast<size_t>(to)] = elements(value)[static_cast<size_t>(from)];
    });
    SCOPED_TRACE(to_string(x.type()) + list.text() + " = " + to_string(value.type()));
    ASSERT_EQ(elements(got.result), want);
    // A scatter writes the few elements of a strided window.
    const bool is_strided = std::any_of(list.items.begin(), list.items.end(), [](const Item& item) {
      return item.kind == Item::Kind::range && item.step != 1 && item.step != -1;
    });
    const bool is_sparse = 4 * std::ssize(selected.positions) <= x.size();
    if (list.arrays.empty() && !(is_strided && is_sparse)) {
      ASSERT_EQ(count(got.graph, "scatter"), 0);
    }
  }
}

TEST_P(RandomLists, AddCountsEveryAddition) {
  std::mt19937 random(13);
  for (int seed = 0; seed < 1500; ++seed) {
    const Dims shape = random_shape(random);
    IndexList list = random_list(shape, random, GetParam());
    for (IndexArray& a : list.arrays) {
      for (int64_t& v : a.values) v = v < 0 ? 1'000'000 : v;  // unsigned indices do not wrap
    }
    const Selected selected = select(shape, list);
    const AnyArray x = counted(shape, 0), value = counted(selected.shape, 1000);
    const auto body = [](detail::Handle a, detail::Handle v, std::span<const Item> items) {
      return detail::index_add(a, items, v, {});
    };
    const Traced got = trace<uint32_t>(x, value, list, body);
    std::vector<int32_t> want = elements(x);
    for (size_t i = 0; i < selected.positions.size(); ++i) {
      const int64_t to = selected.positions[i];
      if (to >= 0) want[static_cast<size_t>(to)] += 1000 + static_cast<int32_t>(i);
    }
    SCOPED_TRACE(to_string(x.type()) + list.text());
    ASSERT_EQ(elements(got.result), want);
  }
}

// ---- the public spellings

TEST(At, TakesEveryKindOfItem) {
  const Array<int> x = Array<int>::arange(24).reshape({2, 3, 4});
  EXPECT_TRUE(array_equal(evaluated_as<int>([](auto t) { return t.at(1, 0); }, x), Array<int>{12, 13, 14, 15}));
  const auto got = evaluated_as<int>([](auto t) { return t.at(-1, range(none, none, -2), newaxis, range(1, 3)); }, x);
  EXPECT_TRUE(array_equal(got, Array<int>{{{21, 22}}, {{13, 14}}}));
  const Array<int> i = {0, 2};
  EXPECT_TRUE(array_equal(evaluated_as<int>([i](auto t) { return t.at(0, i, 1); }, x), Array<int>{1, 9}));
  EXPECT_TRUE(array_equal(evaluated_as<int>([](auto t, auto k) { return t.at(1, k, range(0, 2)); }, x, i),
                          Array<int>{{12, 13}, {20, 21}}));
}

TEST(At, OfAnArrayRunsAtOnceAndOfATracerIndexIsTraced) {
  const Array<int> x = Array<int>::arange(6).reshape({2, 3});
  const Array<int> i = {1, -1};
  EXPECT_TRUE(array_equal(x[1], Array<int>{3, 4, 5}));
  EXPECT_TRUE(array_equal(x.at(range(0, 2), i), Array<int>{{1, 2}, {4, 5}}));
  EXPECT_TRUE(array_equal(x.set(0, 1, 9), Array<int>{{0, 9, 2}, {3, 4, 5}}));
  EXPECT_TRUE(array_equal(x.add(i, Array<int>{10, 20, 30}), Array<int>{{0, 1, 2}, {23, 44, 65}}));
  EXPECT_TRUE(array_equal(evaluated_as<int>([x](auto k) { return x[k]; }, Array<int>(1)), Array<int>{3, 4, 5}));
  EXPECT_TRUE(array_equal(evaluated_as<int>([x](auto k) { return x.set(0, k, 7); }, Array<int>(2)),
                          Array<int>{{0, 1, 7}, {3, 4, 5}}));
}

TEST(At, OutOfBoundsFillsByElementType) {
  const Array<int64_t> i = {5, -3};
  EXPECT_TRUE(std::isnan(evaluated_as<float>([](auto t, auto k) { return t[k]; }, Array<float>{1, 2}, i)(0)));
  EXPECT_EQ(evaluated_as<uint8_t>([](auto t, auto k) { return t[k]; }, Array<uint8_t>{1, 2}, i)(1), 255);
  EXPECT_EQ(evaluated_as<bool>([](auto t, auto k) { return t[k]; }, Array<bool>{false}, i)(0), true);
  EXPECT_EQ(evaluated_as<int8_t>([](auto t, auto k) { return t[k]; }, Array<int8_t>::zeros({0}), i)(0), -128);
  const Array<uint64_t> huge = {UINT64_MAX};
  EXPECT_EQ(evaluated_as<int>([](auto t, auto k) { return t[k]; }, Array<int>{1, 2}, huge)(0), INT32_MIN);
}

TEST(At, WhatIsWrongWithAnIndexIsSaidWithItsLine) {
  const Array<float> x = Array<float>::zeros({2, 3});
  int line = 0;
  const auto message = [&](auto f) { return message_of<ShapeError>([&] { evaluated(f, x); }); };
  const std::string bounds = message([&](auto t) {
    line = __LINE__ + 1;
    return t.at(0, 3);
  });
  EXPECT_EQ(bounds, "at: index 3 is out of bounds for dimension 1 of f32[2,3] " + at_line("indexing_test.cpp", line));
  EXPECT_TRUE(
      message([](auto t) { return t[-3]; }).starts_with("at: index -3 is out of bounds for dimension 0 of f32[2,3]"));
  EXPECT_TRUE(
      message([](auto t) { return t.at(0, 0, 0); }).starts_with("at: too many indices, f32[2,3] takes 2, got 3"));
  EXPECT_TRUE(message([](auto t) { return t[range(0, 2, 0)]; }).starts_with("at: the step of a range cannot be zero"));
  EXPECT_TRUE(message([](auto t) {
                return t.set(0, Array<float>{1, 2});
              }).starts_with("set: f32[2] does not broadcast to [3]"));
  EXPECT_TRUE(message([](auto t) { return t.add(5, 1); }).starts_with("add: index 5 is out of bounds"));
  EXPECT_TRUE(message([](auto t) {
                return t.at(Array<int>{0, 1}, Array<int>{0, 1, 2});
              }).starts_with("at: operands do not broadcast"));
}

TEST(Set, OfContiguousWindowsUpdatesAndOfStridedOnesSelects) {
  const Array<float> x = Array<float>::zeros({6, 4});
  const Graph contiguous = traced_graph([](auto t) { return t.set(range(1, 3), 2, 1.0f); }, x);
  EXPECT_EQ(count(contiguous, "dynamic_update_slice"), 1);
  EXPECT_EQ(count(contiguous, "select"), 0);
  const Graph strided = traced_graph([](auto t) { return t.set(range(none, none, 2), 1.0f); }, x);
  EXPECT_EQ(count(strided, "select"), 1);
  EXPECT_EQ(count(strided, "scatter"), 0);
}

TEST(Add, OutsideTheWindowKeepsNegativeZeros) {
  const Array<float> x = {-0.f, -0.f};
  const Array<float> got = evaluated_as<float>([](auto t) { return t.add(0, 0.f); }, x);
  EXPECT_FALSE(std::signbit(got(0)));
  EXPECT_TRUE(std::signbit(got(1)));
}

TEST(Add, OfBoolsIsOr) {
  const Array<bool> x = {true, false, false};
  const Array<int> i = {1, 1, 0};
  const Array<bool> got =
      evaluated_as<bool>([](auto t, auto k) { return t.add(k, Array<bool>{true, true, true}); }, x, i);
  EXPECT_TRUE(array_equal(got, Array<bool>{true, true, false}));
}

}  // namespace
}  // namespace calque::test
