// Regression tests: graphs that were miscompiled or slow to compile, beyond what the op table and random graphs cover.
#include <algorithm>

#include <gtest/gtest.h>
#include <pthread.h>

#include "calque/ir/graph.h"

#include "kernel/lower/build.h"
#include "reference/evaluate.h"
#include "support/native.h"
#include "support/stages.h"

namespace calque::test {
namespace {

AnyArray filled(const Shape& shape, float value) {
  AnyArray a = AnyArray::uninitialized({DType::f32, shape});
  std::fill_n(static_cast<float*>(a.mutable_data()), a.size(), value);
  return a;
}

void expect_bits_of_reference(const std::string& text, const std::vector<AnyArray>& inputs) {
  EXPECT_EQ(compare_strictly(parse(text), inputs), "");
}

TEST(SumsOfOneElement, StartAtZero) {
  const std::vector<AnyArray> x{filled(Shape{1, 3}, -0.0F)};
  expect_bits_of_reference(
      "calque 1\ngraph f(%0: f32[1,3]) {\n  %1: f32[3] = reduce_sum[axes=[0]] %0\n  return %1\n}\n", x);
  expect_bits_of_reference(
      "calque 1\ngraph f(%0: f32[1,3]) {\n  %1: f32[1,3] = reduce_sum[axes=[]] %0\n  return %1\n}\n", x);
  expect_bits_of_reference(
      "calque 1\ngraph f(%0: f32[1,3]) {\n"
      "  %1: f32[3,3] = dot_general[lhs_batch=[], lhs_contract=[0], rhs_batch=[], rhs_contract=[0]] %0 1.0:f32[1,3]\n"
      "  return %1\n}\n",
      x);
}

/// `count` times a roll by one: two slices and a concatenation.
std::string rolls(int count) {
  std::string text = "calque 1\ngraph f(%0: f32[64]) {\n";
  int last = 0, next = 1;
  for (int i = 0; i < count; ++i, next += 3) {
    const auto of = [](int v) { return "%" + std::to_string(v); };
    text += of(next) + ": f32[1] = slice[limit=[64], start=[63], stride=[1]] " + of(last) + "\n";
    text += of(next + 1) + ": f32[63] = slice[limit=[63], start=[0], stride=[1]] " + of(last) + "\n";
    text += of(next + 2) + ": f32[64] = concatenate[axis=0] " + of(next) + " " + of(next + 1) + "\n";
    last = next + 2;
  }
  const std::string result = std::to_string(next);
  return text + "%" + result + ": f32[64] = neg %" + std::to_string(last) + "\nreturn %" + result + "\n}\n";
}

size_t instructions(const std::vector<kernel::Instruction>& list) {
  size_t n = list.size();
  for (const kernel::Instruction& i : list)
    for (const kernel::Region& r : i.regions) n += instructions(r.instructions);
  return n;
}

TEST(ChainsOfViews, GrowLinearly) {
  const auto size = [](int count) {
    size_t n = 0;
    for (const kernel::Kernel& k : test::stages::build_program(parse(rolls(count))).kernels)
      n += instructions(k.body.instructions);
    return n;
  };
  EXPECT_LT(size(200), 25 * size(10));
  AnyArray x = AnyArray::uninitialized({DType::f32, Shape{64}});
  for (int i = 0; i < 64; ++i) static_cast<float*>(x.mutable_data())[i] = static_cast<float>(i);
  expect_bits_of_reference(rolls(50), {x});
}

TEST(ChainsOfViews, NeedNoDeepStack) {
  constexpr int kCount = 5000;
  std::string text = "calque 1\ngraph f(%0: f32[3,3]) {\n";
  for (int i = 0; i < kCount; ++i) {
    text += "%" + std::to_string(2 * i + 1) + ": f32[3,3] = transpose[perm=[1,0]] %" + std::to_string(2 * i) + "\n";
    text += "%" + std::to_string(2 * i + 2) + ": f32[3,3] = neg %" + std::to_string(2 * i + 1) + "\n";
  }
  text += "return %" + std::to_string(2 * kCount) + "\n}\n";
  const Graph g = parse(text);
  // On a thread with a small stack.
  std::string violation = "did not run";
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 512 * 1024), 0);
  struct Task {
    const Graph* graph;
    std::string* violation;
  } task{&g, &violation};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* p) -> void* {
                  const auto* t = static_cast<Task*>(p);
                  const kernel::Program program = test::stages::build_program(*t->graph);
                  *t->violation = program.kernels.empty() ? "no kernels" : "";
                  return nullptr;
                },
                &task),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(violation, "");
}

}  // namespace
}  // namespace calque::test
