// Recognition of kernels that are library products, on the schedules of whole graphs.
#include "kernel/schedule_gpu/library_product.h"

#include <sstream>

#include <gtest/gtest.h>

#include "support/simulated.h"

namespace calque::test {
namespace {

using kernel::LibraryProduct;

/// The library products found in the kernels of a graph.
std::vector<std::optional<LibraryProduct>> found_in(const std::string& graph) {
  std::vector<std::optional<LibraryProduct>> found;
  for (const kernel::Kernel& k : program_for_gpu(parse("calque 1\ngraph f" + graph), {}).kernels)
    found.push_back(kernel::library_product_of(k));
  return found;
}

std::string text(const LibraryProduct::Matrix& m) {
  std::ostringstream out;
  out << (m.transposed ? "transposed " : "") << "b" << m.buffer << "+" << m.offset << " by " << m.leading << ", "
      << m.batch_stride;
  return out.str();
}

/// `batch x rows x columns x k: lhs; rhs; out`, of a graph of one kernel.
std::string product(const std::string& graph) {
  const auto found = found_in(graph);
  if (found.size() != 1) return std::to_string(found.size()) + " kernels";
  if (!found[0]) return "none";
  const LibraryProduct& p = *found[0];
  std::ostringstream out;
  out << p.batch << " x " << p.rows << " x " << p.columns << " x " << p.k << ": " << text(p.lhs) << "; " << text(p.rhs)
      << "; " << text(p.out);
  return out.str();
}

std::string dot(int lhs, int rhs, const std::string& lhs_batch = "", const std::string& rhs_batch = "") {
  return "dot_general[lhs_batch=[" + lhs_batch + "], lhs_contract=[" + std::to_string(lhs) + "], rhs_batch=[" +
         rhs_batch + "], rhs_contract=[" + std::to_string(rhs) + "]] ";
}

TEST(LibraryProduct, KnowsMatricesAndTransposedOnes) {
  EXPECT_EQ(product("(%a: f32[40,24], %b: f32[24,56]) {\n %d = " + dot(1, 0) + "%a %b\n return %d\n}\n"),
            "1 x 40 x 56 x 24: b0+0 by 24, 0; b1+0 by 56, 0; b2+0 by 56, 0");
  EXPECT_EQ(product("(%a: f32[24,40], %b: f32[56,24]) {\n %d = " + dot(0, 1) + "%a %b\n return %d\n}\n"),
            "1 x 40 x 56 x 24: transposed b0+0 by 40, 0; transposed b1+0 by 24, 0; b2+0 by 56, 0");
}

TEST(LibraryProduct, SeesThroughTransposesAndSlices) {
  EXPECT_EQ(product("(%a: f32[24,41], %b: f32[24,57]) {\n %t = transpose[perm=[1,0]] %a\n %d = " + dot(1, 0) +
                    "%t %b\n return %d\n}\n"),
            "1 x 41 x 57 x 24: transposed b0+0 by 41, 0; b1+0 by 57, 0; b2+0 by 57, 0");
  EXPECT_EQ(product("(%a: f32[50,60], %b: f32[24,56]) {\n %s = slice[limit=[45,29], start=[5,5], stride=[1,1]] %a\n"
                    " %d = " +
                    dot(1, 0) + "%s %b\n return %d\n}\n"),
            "1 x 40 x 56 x 24: b0+305 by 60, 0; b1+0 by 56, 0; b2+0 by 56, 0");
}

TEST(LibraryProduct, CollapsesBatches) {
  EXPECT_EQ(product("(%a: f32[3,40,24], %b: f32[3,24,56]) {\n %d = " + dot(2, 1, "0", "0") + "%a %b\n return %d\n}\n"),
            "3 x 40 x 56 x 24: b0+0 by 24, 960; b1+0 by 56, 1344; b2+0 by 56, 2240");
  EXPECT_EQ(product("(%a: f32[3,5,40,24], %b: f32[3,5,56,24]) {\n %d = " + dot(3, 3, "0,1", "0,1") +
                    "%a %b\n return %d\n}\n"),
            "15 x 40 x 56 x 24: b0+0 by 24, 960; transposed b1+0 by 24, 1344; b2+0 by 56, 2240");
  // Heads inside rows: the batch stride is along a row.
  EXPECT_EQ(product("(%a: f32[40,3,24], %b: f32[3,24,56]) {\n %d = " + dot(2, 1, "1", "0") + "%a %b\n return %d\n}\n"),
            "3 x 40 x 56 x 24: b0+0 by 72, 24; b1+0 by 56, 1344; b2+0 by 56, 2240");
  // Two batch dimensions without a common stride.
  EXPECT_EQ(product("(%a: f32[5,3,40,24], %b: f32[3,5,24,56]) {\n %d = " + dot(3, 2, "1,0", "0,1") +
                    "%a %b\n return %d\n}\n"),
            "none");
  // Rows of two dimensions collapse to one.
  EXPECT_EQ(product("(%a: f32[3,40,24], %b: f32[24,56]) {\n %d = " + dot(2, 0) + "%a %b\n return %d\n}\n"),
            "1 x 120 x 56 x 24: b0+0 by 24, 0; b1+0 by 56, 0; b2+0 by 56, 0");
}

TEST(LibraryProduct, KnowsDTypes) {
  for (const std::string dtype : {"f16", "bf16", "f32", "f64", "i32"}) {
    const auto found = found_in("(%a: " + dtype + "[40,24], %b: " + dtype + "[24,56]) {\n %d = " + dot(1, 0) +
                                "%a %b\n return %d\n}\n");
    ASSERT_EQ(found.size(), 1u) << dtype;
    EXPECT_EQ(found[0].has_value(), dtype != "i32") << dtype;
    if (found[0]) {
      EXPECT_EQ(found[0]->result, found[0]->factor);
      EXPECT_EQ(name(found[0]->factor), dtype);
    }
  }
}

TEST(LibraryProduct, KnowsHowMatricesAreAligned) {
  const auto found = found_in(
      "(%a: f32[50,60], %b: f32[24,56]) {\n %s = slice[limit=[40,28], start=[0,4], stride=[1,1]] %a\n"
      " %d = " +
      dot(1, 0) + "%s %b\n return %d\n}\n");
  ASSERT_TRUE(found.size() == 1 && found[0]);
  EXPECT_EQ(found[0]->lhs.alignment, std::min<int64_t>(found[0]->rhs.alignment, 16));
}

TEST(LibraryProduct, IsNothingMore) {
  const std::string two = "(%a: f32[40,24], %b: f32[24,56]) {\n";
  const auto none = [](const std::string& graph) {
    for (const auto& found : found_in(graph))
      if (found) return false;
    return true;
  };
  EXPECT_TRUE(none(two + " %d = " + dot(1, 0) + "%a %b\n %o = neg %d\n return %o\n}\n"));
  EXPECT_TRUE(none(two + " %d = " + dot(1, 0) + "%a %b\n %o = add %d %d\n return %d, %o\n}\n"));
  EXPECT_TRUE(none(two + " %n = neg %a\n %d = " + dot(1, 0) + "%n %b\n return %d\n}\n"));
  EXPECT_TRUE(none("(%a: f16[40,24], %b: f32[24,56]) {\n %c = convert[dtype=f32] %a\n %d = " + dot(1, 0) +
                   "%c %b\n return %d\n}\n"));
  // Strided factors.
  EXPECT_TRUE(
      none("(%a: f32[40,48], %b: f32[24,56]) {\n %s = slice[limit=[40,48], start=[0,0], stride=[1,2]] %a\n %d = " +
           dot(1, 0) + "%s %b\n return %d\n}\n"));
  // A factor that is the same in every row.
  EXPECT_TRUE(none("(%a: f32[24], %b: f32[24,56]) {\n %w = broadcast[axes=[1], shape=[40,24]] %a\n %d = " + dot(1, 0) +
                   "%w %b\n return %d\n}\n"));
  EXPECT_TRUE(none("(%a: f32[40,24]) {\n %o = exp %a\n return %o\n}\n"));
}

kernel::Region& body_of(kernel::Kernel& k, size_t region) { return k.body.instructions.back().regions[region]; }

// Kernels that graphs infrequently produce.
TEST(LibraryProduct, IsNothingElse) {
  const kernel::Kernel plain =
      program_for_gpu(
          parse("calque 1\ngraph f(%a: f32[40,24], %b: f32[24,56]) {\n %d = " + dot(1, 0) + "%a %b\n return %d\n}\n"),
          {})
          .kernels.at(0);
  ASSERT_TRUE(kernel::library_product_of(plain));
  const auto changed = [&](auto&& change) {
    kernel::Kernel k = plain;
    change(k);
    return kernel::library_product_of(k).has_value();
  };
  const auto load_of = [](kernel::Kernel& k) -> kernel::Instruction& {
    auto& all = body_of(k, 0).instructions;
    return all[all.size() - 2];
  };
  const auto store_of = [](kernel::Kernel& k) -> kernel::Instruction& { return body_of(k, 2).instructions.back(); };
  EXPECT_TRUE(changed([](kernel::Kernel&) {}));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) { load_of(k).operands.push_back(k.add_value(DType::bool_)); }));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) { store_of(k).operands.push_back(k.add_value(DType::bool_)); }));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) { store_of(k).combiners.push_back(kernel::Combiner::add); }));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) {
    const kernel::Instruction again = store_of(k);
    body_of(k, 2).instructions.push_back(again);
  }));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) { store_of(k).buffer = 0; }));
  EXPECT_FALSE(changed([](kernel::Kernel& k) { k.body.instructions.back().columns = 57; }));  // rows overlap
  EXPECT_FALSE(changed([](kernel::Kernel& k) {
    const kernel::Instruction again = k.body.instructions.back();
    k.body.instructions.push_back(again);
  }));
  EXPECT_FALSE(changed([&](kernel::Kernel& k) { load_of(k).operands[0] = k.add_value(DType::i64); }));
}

}  // namespace
}  // namespace calque::test
