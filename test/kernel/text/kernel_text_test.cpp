// The text of the kernel IR reads back exactly.
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/ir/same_code.h"
#include "kernel/lower/build.h"
#include "kernel/schedule/passes.h"
#include "kernel/schedule_cpu/schedule_cpu.h"
#include "kernel/schedule_gpu/schedule_gpu.h"
#include "kernel/text/parse.h"
#include "support/random/random_graph.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::kernel {
namespace {

using testing::HasSubstr;

std::string text_of(const Kernel& kernel) {
  std::ostringstream out;
  out << kernel;
  return out.str();
}

void expect_reads_back(const Kernel& kernel) {
  const std::string text = text_of(kernel);
  const std::vector<Kernel> again = parse_kernels(text);
  ASSERT_EQ(again.size(), 1u) << text;
  // Nor is anything lost that the text does not show, but for the types of values that no instruction defines.
  Kernel a = again[0], b = kernel;
  a.launch = b.launch = std::nullopt;
  a.values = b.values;
  EXPECT_TRUE(same_code(a, b)) << text;
  EXPECT_EQ(text_of(again[0]), text);
}

TEST(KernelText, KernelsOfRandomGraphsReadBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Graph graph = test::random_graph(seed);
    const Program program = test::stages::build_program(transform::simplify(graph));
    for (const Kernel& k : program.kernels) expect_reads_back(k);
    for (const Kernel& k : test::stages::schedule_for_gpu(program, {}).kernels) expect_reads_back(k);
    for (const Kernel& k : test::stages::schedule_for_cpu(program).kernels) expect_reads_back(k);
    if (HasFatalFailure()) return;
  }
}

TEST(KernelText, LocalBuffersReadBack) {
  const std::string text = R"(kernel k(b0: f32[8], out b1: f32[8]) {
  parallel 2 threads(1) local b3: f64[4] (%0: i64) {
    %1: i64 = 0
    %2: f64 = 1
    store b3[%1], %2
    parallel 4 vectorize local b2: f32[7], b4: bool[2] (%3: i64) {
      %4: f32 = load b0[%3]
      store b2[%1], %4
      %5: bool = true
      store b4[%1], %5
      %6: f32 = load b2[%1]
      store b1[%3], %6
    }
  }
}
)";
  const std::vector<Kernel> kernels = parse_kernels(text);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].num_parameters(), 2u);
  EXPECT_EQ(kernels[0].buffers.size(), 5u);
  EXPECT_EQ(text_of(kernels[0]), text);
  const auto message = [&](const std::string& from, const std::string& to) {
    std::string broken = text;
    broken.replace(broken.find(from), from.size(), to);
    try {
      parse_kernels(broken);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("local b3", "local b1"), HasSubstr("this is not the number of a local buffer"));
  EXPECT_THAT(message("local b3", "local b99999"), HasSubstr("this is not the number of a local buffer"));
  EXPECT_THAT(message("b4: bool", "b3: bool"), HasSubstr("this buffer belongs to another loop already"));
  EXPECT_THAT(message("f32[7]", "f32[0]"), HasSubstr("the elements of a local buffer"));
  EXPECT_THAT(message("b4: bool", "b5: bool"), HasSubstr("a local buffer has elements and is written"));
}

/// What a kernel's fields cannot show in random graphs: special numbers, marks, names.
TEST(KernelText, SpecialValuesReadBack) {
  const std::string text = R"(kernel "odd name"(out b0: f32[4] align 64, b1: f16[4], out b2: i64[4]) {
  reads 16 bytes, writes 32 bytes, 7 flops
  launch 3 groups of 32 threads, 64 threads per block
  %0: f32 = nan(0x7fc00001)
  %1: f32 = -0
  %2: f64 = inf
  %3: i64 = -9223372036854775808
  %4: u64 = 18446744073709551615
  %5: bool = true
  %6: f32 = mul.exact %0, %1
  %9: f16 = 0.5
  parallel 4 over groups (%10: i64) {
    store b0[%10], %6 where %5
    combine by max b2[%10], %3
  }
}
)";
  const std::vector<Kernel> kernels = parse_kernels(text);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(text_of(kernels[0]), text);
  EXPECT_EQ(kernels[0].values.size(), 11u);
  EXPECT_EQ(kernels[0].launch->groups, 3);
}

TEST(KernelText, LoopsWithAndWithoutNumbersReadBack) {
  const std::string text = R"(kernel k(b0: f32[64], out b1: f32[64]) {
  %8: i64 = 16
  parallel 4 threads (%0: i64) {
    %9: i64 = mul %0, %8
    parallel 16 vectorize threads(8) (%1: i64) {
      %2: i64 = add %9, %1
      %3: f32 = load b0[%2]
      store nontemporal b1[%2], %3
    }
  }
  parallel 64 vectorize (%4: i64) {
    %5: f32 = load b0[%4]
    store b1[%4], %5
  }
  parallel 63 vectorize(16) unroll(2) overlapping_tail columns(64) threads(4) (%6: i64) {
    %7: f32 = load b0[%6]
    store b1[%6], %7
  }
}
)";
  const std::vector<Kernel> kernels = parse_kernels(text);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(text_of(kernels[0]), text);
}

TEST(KernelText, SchedulesOfProductsReadBack) {
  const std::string regions = R"( lhs (%0: i64, %1: i64) {
    %2: f32 = load b0[%1]
    yield %2
  } rhs (%3: i64, %4: i64) {
    %5: f32 = load b0[%4]
    yield %5
  } then (%6: i64, %7: i64, %8: f32) {
    store nontemporal b1[%7], %8
  }
}
)";
  const std::string start = "kernel p(b0: f32[4], out b1: f32[4]) {\n  contraction 4 x 4 over 4 ";
  for (const std::string tiles : {"cpu_tiles(rows 4, vectors 1, lanes 4, row_block 4, column_block 4, k_block 4, "
                                  "max_rows 4, pack_lhs, computed_rhs 7, streams_rhs)",
                                  "gpu_tiles(rows 64, columns 64, step_k 16, stages 4, threads 128, warp_rows 32, "
                                  "warp_columns 32, unit bf16)"}) {
    const std::vector<Kernel> kernels = parse_kernels(start + tiles + regions);
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(text_of(kernels[0]), start + tiles + regions);
  }
  const auto message = [&](const std::string& tiles) {
    try {
      parse_kernels(start + tiles + regions);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("cpu_tiles(depth 4)"), HasSubstr("tiles have no field 'depth'"));
  EXPECT_THAT(message("cpu_tiles(rows 0)"), HasSubstr("expected a number from 1 to"));
  EXPECT_THAT(message("cpu_tiles(rows 4) gpu_tiles(rows 4)"), HasSubstr("tiles for one kind of device"));
}

TEST(KernelText, ThreadTilesReadBack) {
  const auto text = [](const std::string& rows, const std::string& columns, int threads = 64) {
    return "kernel t(b0: f32[4096], out b1: f32[4096]) {\n  launch 256 groups of 1 threads, " +
           std::to_string(threads) + " threads per block\n  parallel 64" + rows + " (%0: i64) {\n    parallel 64" +
           columns + R"( (%1: i64) {
      %2: f32 = load b0[%0]
      store b1[%1], %2
    }
  }
}
)";
  };
  const std::string tile = " over groups thread_tile(iterations 4, warp 4, block 8)";
  const std::string rows = tile, columns = " vectorize(4) over groups thread_tile(iterations 4, warp 8, block 8)";
  const std::vector<Kernel> kernels = parse_kernels(text(rows, columns));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(text_of(kernels[0]), text(rows, columns));
  Kernel without = kernels[0], with = kernels[0];
  without.launch = with.launch = std::nullopt;
  without.body.instructions[0].thread_tile = {};
  EXPECT_FALSE(same_code(without, with));

  const auto message = [&](const std::string& outer, const std::string& inner, int threads = 64) {
    try {
      parse_kernels(text(outer, inner, threads));
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(" thread_tile(iterations 4, warp 4, block 8)", columns),
              HasSubstr("only a parallel loop over groups"));
  EXPECT_THAT(message(rows, " over groups"), HasSubstr("two loops of a nest have thread tiles"));
  EXPECT_THAT(message(" over groups", columns), HasSubstr("two loops of a nest have thread tiles"));
  EXPECT_THAT(message(rows, columns, 128), HasSubstr("the threads of a warp and of a block"));
  EXPECT_THAT(message(rows, " vectorize(4)" + tile), HasSubstr("the threads of a warp and of a block"));
  EXPECT_THAT(message(rows, " over groups thread_tile(iterations 4, warp 8, block 8)"),
              HasSubstr("in vectors of the iterations of its thread tile"));
  EXPECT_THAT(message(rows, " over groups thread_tile(iterations 1, block 8)"),
              HasSubstr("the sides of a thread tile"));
  EXPECT_THAT(message(rows, " over groups thread_tile(iterations 1, warp 3, block 8)"),
              HasSubstr("the sides of a thread tile"));
  EXPECT_THAT(message(" over groups thread_tile(iterations 65, warp 4, block 8)", columns),
              HasSubstr("the sides of a thread tile"));
  EXPECT_THAT(message(rows, " over groups thread_tile(rows 4)"), HasSubstr("tiles have no field 'rows'"));
}

TEST(KernelText, SeveralKernelsReadBack) {
  EXPECT_EQ(parse_kernels("kernel a() {\n}\n// a comment\nkernel b() {\n}\n").size(), 2u);
  EXPECT_TRUE(parse_kernels("").empty());
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse_kernels(text);
    ADD_FAILURE() << "read: " << text;
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr(message)) << text;
  }
}

TEST(KernelText, MistakesAreNamedWithTheirPosition) {
  expect_error("kernel", "line 1, column 7: expected a kernel's name");
  expect_error("graph f() {}", "expected 'kernel' before a kernel's name, got 'graph'");
  expect_error("kernel k(b1: f32[3]) {}", "expected b0");
  expect_error("kernel k(b0: f33[3]) {}", "expected an element type");
  expect_error("kernel k(b0: f32[n]) {}", "line 1, column 18: expected the elements of a buffer, got 'n'");
  expect_error("kernel k() {\n  %0: f32 = frobnicate\n}", "line 2, column 13: there is no instruction 'frobnicate'");
  expect_error("kernel k() {\n  %x: f32 = 1\n}", "expected a value like %0, got '%x'");
  expect_error("kernel k() {\n  %99999999: f32 = 1\n}", "the ids of the values have too large gaps");
  expect_error("kernel k() {\n  %0: f32 = load b3[%1]\n}", "the kernel has no buffer b3");
  expect_error("kernel k() {\n  %0: i8 = 300\n}", "expected an element of type i8, got '300'");
  expect_error("kernel k() {\n  parallel 3 {\n", "expected an instruction or '}'");
  expect_error("kernel k() {\n  reduction 3 sum (%0: i64) {\n}", "expected '{' before a region");
}

TEST(KernelText, InstructionsEndWhereTheNextOneBegins) {
  const std::string text = R"(kernel k(out b0: f32[4]) {
  %0: i64 = 0
  %1: f32 = 1
  %2: bool = true
  store b0[%0], %1
  if %2 then {
    store b0[%0], %1 where %2
  } else {
  }
  while cond {
    yield %2
  } do {
  }
  contraction 2 x 2 over 8 threads lhs (%3: i64, %4: i64) {
    yield %1
  } rhs (%5: i64, %6: i64) {
    yield %1
  } then (%7: i64, %8: i64, %9: f32) {
    store b0[%7], %9
  }
}
)";
  const std::vector<Kernel> kernels = parse_kernels(text);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(text_of(kernels[0]), text);
  EXPECT_TRUE(kernels[0].body.instructions.back().threads);
}

TEST(KernelText, RulesOfTheIrAreChecked) {
  expect_error("kernel k() {\n  %0: f32 = neg %1\n}", "there is no value %1");
  expect_error("kernel k() {\n  %0: f32 = 1\n  %1: f64 = neg %0\n}", "neg gives f32, not f64");
  expect_error("kernel k() {\n  %0: f32 = add\n}", "add");
  expect_error("kernel k(b0: f32[3]) {\n  %0: i64 = 0\n  %1: f32 = 1\n  store b0[%0], %1\n}", "marked as written");
  expect_error("kernel k() {\n  parallel 3 {\n  }\n}", "0 parameters, expected 1");
  expect_error("kernel k(b0: f32[3] align 3) {\n}", "a power of two");
  expect_error("kernel k(b0: f32[9223372036854775807]) {\n}", "too large");
  expect_error("kernel k() {\n  parallel 9223372036854775807 (%0: i64) {\n  }\n}", "too large");
  expect_error("kernel k() {\n  parallel 3 add (%0: i64) {\n  }\n}", "a parallel loop has no combiners");
  expect_error("kernel k(out b0: f32[3]) {\n  %0: i64 = 0\n  %1: f32 = 1\n  combine by argmax b0[%0], %1\n}",
               "a store has one combiner at most, and no argmax or argmin");
  expect_error(
      "kernel k() {\n  %0: f32 = 1\n  %3: f32 = sequential 3 argmax from %0 (%1: i64, %2: f32) {\n    yield %2\n  }\n}",
      "argmax and argmin have two results");
}

TEST(KernelText, VectorizeCountsAgain) {
  std::vector<Kernel> kernels = parse_kernels(
      "kernel k(b0: f32[8], out b1: f32[8]) {\n  parallel 8 (%0: i64) {\n    %1: f32 = load b0[%0]\n"
      "    store b1[%0], %1\n  }\n}\n");
  for (int round = 0; round < 2; ++round) find_kernel_pass("vectorize").run(kernels[0], {});
  EXPECT_EQ(kernels[0].bytes_read, 32);
  EXPECT_EQ(kernels[0].bytes_written, 32);
}

/// Damaged texts are read or refused, never anything else.
TEST(KernelText, DamagedTextsAreReadOrRefused) {
  const Program program = test::stages::build_program(transform::simplify(test::random_graph(7)));
  std::string text;
  for (const Kernel& k : program.kernels) text += text_of(k);
  ASSERT_GT(text.size(), 100u);
  uint64_t state = 1;
  const auto next = [&](size_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % below;
  };
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text;
    for (size_t i = 0, n = 1 + next(3); i < n; ++i) {
      const size_t at = next(damaged.size());
      switch (next(3)) {
        case 0:
          damaged[at] = text[next(text.size())];
          break;
        case 1:
          damaged.erase(at, 1 + next(8));
          break;
        default:
          damaged.insert(at, text.substr(next(text.size()), 1 + next(8)));
      }
    }
    try {
      for (const Kernel& k : parse_kernels(damaged)) expect_reads_back(k);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(KernelText, PassesAreFoundByName) {
  EXPECT_EQ(find_kernel_pass("fuse-loops").info.name, "fuse-loops");
  EXPECT_THROW(find_kernel_pass("fuse"), CompileError);
}

}  // namespace
}  // namespace calque::kernel
