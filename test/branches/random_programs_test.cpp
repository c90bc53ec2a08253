// Random programs that branch on data, compiled as calls come, against the same programs on doubles.
#include "branches/random_programs.h"

#include <cstdlib>

#include "branches/branches.h"

namespace calque::test {
namespace {

using namespace programs;

/// Runs of the longer form: CALQUE_BRANCH_PROGRAMS=n programs for each test, from CALQUE_BRANCH_SEED on.
uint64_t number_from(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void compare(uint64_t programs, int calls, TraceLimits limits) {
  const uint64_t first = number_from("CALQUE_BRANCH_SEED", 1);
  programs = number_from("CALQUE_BRANCH_PROGRAMS", programs);
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    Generator generator(seed, false);
    const Statements program = generator.program();
    JitOptions options = following(limits);
    options.strict = true;
    const auto f = compiled(program, options, [] { return 0; });
    for (int k = 0; k < calls; ++k) {
      const Input in = generator.input();
      ASSERT_TRUE(same(call(f, in), plain(program, in, 0))) << "seed " << seed << ", call " << k;
    }
  }
}

TEST(RandomBranches, GiveWhatCppGives) { compare(8, 40, {}); }
TEST(RandomBranches, OfFewPathsDoToo) { compare(3, 40, {.traces = 3}); }
TEST(RandomBranches, OfFewValuesDoToo) { compare(3, 40, {.values = 2}); }
TEST(RandomBranches, OfFewQuestionsDoToo) { compare(3, 40, {.questions = 5}); }
TEST(RandomBranches, OfFewEquationsDoToo) { compare(3, 40, {.equations = 50}); }

/// A result mixes no two states: it is that of one of them, or an error.
TEST(RandomBranches, OfHiddenStateAreOfOneStateOrAnError) {
  const uint64_t first = number_from("CALQUE_BRANCH_SEED", 1);
  const uint64_t programs = number_from("CALQUE_BRANCH_PROGRAMS", 16);
  size_t errors = 0;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    Generator generator(seed, true);
    const Statements program = generator.program();
    JitOptions options = following();
    options.strict = true;
    int runs = 0, changes = 0;
    const bool parity = seed % 2 == 0;
    const auto f = compiled(program, options, [&] { return parity ? runs++ % 2 : changes; });
    for (int k = 0; k < 30; ++k) {
      if (k % 10 == 9) ++changes;
      const Input in = generator.input();
      try {
        const Output out = call(f, in);
        bool known = false;
        for (int state = 0; state <= (parity ? 1 : changes); ++state) known |= same(out, plain(program, in, state));
        ASSERT_TRUE(known) << "seed " << seed << ", call " << k;
      } catch (const Error&) {
        ++errors;
      }
    }
  }
  EXPECT_GT(errors, 0u);
}

}  // namespace
}  // namespace calque::test
