// The ADBench programs, run from the command line: results compared with ADBench's hand-written derivatives, corner
// cases of the formats, and invalid files and command lines.
#ifdef CALQUE_EXAMPLES
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "support/paths.h"
#include "support/sanitizers.h"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path kData = calque::test::source_file("test/adbench/data");

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> numbers_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> numbers;
  for (std::string field; in >> field;) numbers.push_back(std::stod(field));
  return numbers;
}

/// The outputs of a program.
struct Outcome {
  int status;
  std::string out, err, file;  // `file` is the content of --output
};

/// A separate folder for each test.
class Adbench : public testing::Test {
 protected:
  Adbench() {
    std::string name = (fs::temp_directory_path() / "adbench-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Adbench() override { fs::remove_all(folder_); }

  /// Runs `adbench_<problem>` with these arguments and an output file.
  Outcome run(const std::string& problem, const std::string& arguments) const {
    const fs::path file = folder_ / "result.txt", out = folder_ / "out.txt", err = folder_ / "err.txt";
    fs::remove(file);
    const std::string command = calque::test::built_file("../examples/adbench_" + problem) + " --output '" +
                                file.string() + "' " + arguments + " >'" + out.string() + "' 2>'" + err.string() + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(out), text_of(err), text_of(file)};
  }
  /// Runs it on a valid file and returns the numbers that it wrote.
  std::vector<double> results(const std::string& problem, const fs::path& input,
                              const std::string& options = "") const {
    const Outcome outcome = run(problem, "--repeat 2 '" + input.string() + "' " + options);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return numbers_of(outcome.file);
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  fs::path folder_;
};

/// Fails unless all numbers agree by ADBench's criterion.
void expect_agreement(const std::vector<double>& got, const std::vector<double>& expected, double tolerance = 1e-8) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]) / std::max(1.0, std::abs(got[i]) + std::abs(expected[i]));
    ASSERT_LT(error, tolerance) << "number " << i << ": got " << got[i] << ", expected " << expected[i];
  }
}

struct Instance {
  const char *problem, *input, *expected;
};

class AdbenchInstance : public Adbench, public testing::WithParamInterface<Instance> {};

TEST_P(AdbenchInstance, GivesTheExpectedValues) {
  if (calque::test::kAddressSanitizer)
    GTEST_SKIP() << "takes minutes; the test of derivatives against differences remains";
  const Instance& instance = GetParam();
  const auto got = results(instance.problem, kData / instance.problem / instance.input);
  expect_agreement(got, numbers_of(text_of(kData / "expected" / instance.expected)));
}

INSTANTIATE_TEST_SUITE_P(, AdbenchInstance,
                         testing::Values(Instance{"gmm", "test.txt", "gmm_test.txt"},
                                         Instance{"gmm", "1k_d2_K5.txt", "gmm_1k_d2_K5.txt"},
                                         Instance{"gmm", "1k_d10_K25.txt", "gmm_1k_d10_K25.txt"},
                                         Instance{"ba", "test.txt", "ba_test.txt"},
                                         Instance{"ba", "ba1_n49_m7776_p31843.txt", "ba1_n49_m7776_p31843.txt"},
                                         Instance{"lstm", "lstm_l2_c1024.txt", "lstm_l2_c1024.txt"},
                                         Instance{"hand", "test_simple.txt", "hand_test_simple.txt"},
                                         Instance{"hand", "test_complicated.txt", "hand_test_complicated.txt"},
                                         Instance{"hand", "simple_c100.txt", "hand_simple_c100.txt"},
                                         Instance{"hand", "complicated_c100.txt", "hand_complicated_c100.txt"}),
                         [](const auto& instance) {
                           std::string name = fs::path(instance.param.expected).stem().string();
                           std::replace_if(name.begin(), name.end(), [](char c) { return c == '_'; }, 'X');
                           return name;
                         });

TEST_F(Adbench, PrintsOneLineOfTimes) {
  const Outcome outcome = run("gmm", "'" + (kData / "gmm" / "test.txt").string() + "'");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(std::regex_match(outcome.out, std::regex("objective_us \\S+ jacobian_us \\S+ compile_ms \\S+\n")))
      << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Adbench, ReplicatesGmmsOnePoint) {
  const std::string head = "2 2 3\n0.1\n0.2\n1 2\n3 4\n0.1 0.2 0.3\n0.4 0.5 0.6\n", point = "1.5 2.5\n",
                    tail = "1.25 2\n";
  const auto once = results("gmm", write("one.txt", head + point + tail), "--replicate");
  expect_agreement(once, results("gmm", write("all.txt", head + point + point + point + tail)), 1e-14);
}

TEST_F(Adbench, TakesMorePointsThanAreComputedAtOnce) {
  const auto repeated = [&](const std::string& times) {
    const std::string head = "2 2 " + times + "\n0.1\n0.2\n1 2\n3 4\n0.1 0.2 0.3\n0.4 0.5 0.6\n";
    return results("gmm", write("input.txt", head + "1.5 2.5\n1.25 2\n"), "--replicate");
  };
  const double times = 1100003;
  const auto once = repeated("1"), twice = repeated("2");
  std::vector<double> expected;  // all are affine in the number of points
  for (size_t i = 0; i < once.size(); ++i) expected.push_back(once[i] + (times - 1) * (twice[i] - once[i]));
  expect_agreement(repeated("1100003"), expected);
}

TEST_F(Adbench, TakesGmmOfOneDimensionAndOneComponent) {
  // -log(2 pi) / 2 - 1/2 + gamma^2 / 2 - C with a point one deviation from the mean; gamma = 1, m = 0, so n = 2.
  const auto got = results("gmm", write("input.txt", "1 1 1\n0.5\n2\n0\n3\n1 0\n"));
  const double c = 2 * (0 - std::log(2.0) / 2) - std::lgamma(1.0);
  // Derivatives: by alpha zero; by the mean q^2 (x - mu); by log q: 1 - q^2 (x - mu)^2 + gamma^2 q^2.
  expect_agreement(got, {-std::log(2 * std::acos(-1.0)) / 2 - 0.5 + 0.5 - c, 0, 1, 1}, 1e-14);
}

TEST_F(Adbench, DifferentiatesBaWithoutRotation) {
  const auto problem = [](const char* rotation) {
    return "1 1 1\n" + std::string(rotation) + " 0.1 0.2 0.3 2 0.4 0.5 0.01 0.02\n1 2 3\n0.5\n0.6 0.7\n";
  };
  const auto still = results("ba", write("still.txt", problem("0 0 0")));
  expect_agreement(still, results("ba", write("rotated.txt", problem("1e-9 0 0"))), 1e-7);
}

TEST_F(Adbench, TakesHandWithoutRotation) {
  std::string input = "1 26\n0 0 0 0\n";
  for (int i = 0; i < 26; ++i) input += "0\n";
  fs::create_directory_symlink(kData / "hand" / "model", folder_ / "model");
  const auto got = results("hand", write("input.txt", input));
  ASSERT_EQ(got.size(), 2u + 3u + 3u * 26u);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(std::isfinite(got[i])) << i;
  for (size_t i = 5; i < 14; ++i) EXPECT_EQ(got[i], 0) << "no rotation below 1e-4, hence no derivative";
  expect_agreement({got.begin() + 14, got.begin() + 23}, {-1, 0, 0, 0, -1, 0, 0, 0, -1});
}

TEST_F(Adbench, PosesVerticesThatManyPointsShareOnce) {
  fs::create_directory_symlink(kData / "hand" / "model", folder_ / "model");
  constexpr int kVertices = 20, kPoints = 600;
  const auto vertex = [](int i) { return 27 * (i * 7 % kVertices) + 3; };
  const auto measured = [](int i, int axis) { return (i * 37 + axis * 11) % 100 * 0.02 - 1; };
  const auto instance = [&](const std::string& name, int points, bool at_zero) {
    std::ostringstream text;
    text << points << " 26\n";
    for (int i = 0; i < points; ++i) {
      text << vertex(i);
      for (int axis = 0; axis < 3; ++axis) text << ' ' << (at_zero ? 0 : measured(i, axis));
      text << '\n';
    }
    for (int i = 0; i < 26; ++i) text << 0.03 * i - 0.3 << '\n';
    return results("hand", write(name, text.str()));
  };
  const auto each = instance("each.txt", kVertices, true), all = instance("all.txt", kPoints, false);
  ASSERT_EQ(all.size(), 2u + 27u * 3u * kPoints);
  std::vector<double> expected{3.0 * kPoints, 26};
  for (int column = 0; column < 27; ++column) {  // the errors, then the Jacobian
    for (int i = 0; i < 3 * kPoints; ++i) {
      const int row = i % (3 * kVertices);
      const double of_vertex = each[size_t(2 + column * 3 * kVertices + row)];
      expected.push_back(of_vertex + (column == 0 ? measured(i / 3, i % 3) : 0));
    }
  }
  expect_agreement(all, expected, 1e-13);
}

TEST_F(Adbench, TakesLstmOfOneStep) {
  // All parameters zero: y = 0, log(e^0 + 2) = log 3.
  const auto got = results("lstm", write("input.txt", "1 2 1\n0 0 0 0\n0 0 0 0\n0\n0\n0\n0\n0\n1\n0.5\n"));
  ASSERT_EQ(got.size(), 1u + 8u + 3u);
  EXPECT_NEAR(got[0], 0.5 * std::log(3.0), 1e-14);
  EXPECT_NEAR(got.back(), -0.5 * (1 - 1.0 / 3), 1e-14);  // by the output bias
}

// ---- errors

struct Bad {
  const char *problem, *text, *message;
};

class AdbenchBadFile : public Adbench, public testing::WithParamInterface<Bad> {};

TEST_P(AdbenchBadFile, IsRefusedWithItsLine) {
  fs::create_directory_symlink(kData / "hand" / "model", folder_ / "model");
  const Outcome outcome = run(GetParam().problem, "'" + write("bad.txt", GetParam().text).string() + "'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , AdbenchBadFile,
    testing::Values(
        Bad{"gmm", "", "bad.txt:1: expected D, the number of dimensions, the file ends"},
        Bad{"gmm", "two 1 1", "bad.txt:1: expected an integer for D, the number of dimensions, got 'two'"},
        Bad{"gmm", "1 0 1", "bad.txt:1: expected an integer of at least 1 for K, the number of components, got '0'"},
        Bad{"gmm", "1 4611686018427387904 1\n1\n", "bad.txt:1: expected more numbers for alpha, the file has only 1"},
        Bad{"gmm", "1 1 1\n0.5\n2\nx\n3\n1 0\n", "bad.txt:4: expected a number for the factors, got 'x'"},
        Bad{"gmm", "1 1 1\n0.5\n2\nnan\n3\n1 0\n", "bad.txt:4: expected a number for the factors, got 'nan'"},
        Bad{"gmm", "1 1 1\n0.5\n2\n0\n3\n0 0\n", "bad.txt:6: expected a gamma above 0"},
        Bad{"gmm", "1 1 1\n0.5\n2\n0\n3\n1 0\n7", "bad.txt:7: expected the end of the file, got '7'"},
        Bad{"ba", "1 1 1\n1 2 3", "bad.txt:1: expected more numbers for the camera, the file has only 3 left"},
        Bad{"lstm", "1 1 1\n", "expected an integer of at least 2 for c, the length of the sequence, got '1'"},
        Bad{"hand", "1 27\n", "expected an integer of at most 26 for the size of the pose, got '27'"},
        Bad{"hand", "1 26\n0 1 2 3\n", "expected 30 numbers (32 in a complicated problem) to follow, got 4"},
        Bad{"hand", "1 26\n544 1 2 3\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            "bad.txt:2: expected an integer of at most 543 for a correspondence, got '544'"}));

TEST_F(Adbench, NamesAFileThatIsMissing) {
  const Outcome outcome = run("ba", "nowhere.txt");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("adbench_ba: nowhere.txt: cannot be opened"));
}

TEST_F(Adbench, NamesAMissingModel) {
  fs::copy(kData / "hand" / "test_simple.txt", folder_ / "input.txt");
  const Outcome outcome = run("hand", "'" + (folder_ / "input.txt").string() + "'");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("model/bones.txt: cannot be opened"));
}

TEST_F(Adbench, NamesAnOutputThatCannotBeWritten) {
  const Outcome outcome = run("gmm", "'" + (kData / "gmm" / "test.txt").string() + "' --output /nowhere/result.txt");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("/nowhere/result.txt: cannot be written"));
}

TEST_F(Adbench, RefusesACommandLineThatIsWrong) {
  const auto refused = [&](const std::string& problem, const std::string& arguments, const std::string& message) {
    const Outcome outcome = run(problem, arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("adbench_" + problem + ": " + message));
    EXPECT_THAT(outcome.err, HasSubstr("usage: adbench_" + problem + " INPUT"));
  };
  refused("gmm", "", "expected an input");
  refused("gmm", "a b", "expected one input, got 'a' and 'b'");
  refused("gmm", "a --fast", "--fast: there is no such option");
  refused("gmm", "a --repeat 0", "--repeat: expected a number of at least 1, got '0'");
  refused("gmm", "a --repeat x", "--repeat: expected a number of at least 1, got 'x'");
  refused("gmm", "a --repeat", "--repeat: expected a value");
  refused("ba", "a --replicate", "--replicate: there is no such option");
}

}  // namespace
#endif
