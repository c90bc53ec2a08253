// The search for cuBLASLt, and libraries that are something else or fail to initialise.
#include "runtime/cuda/cublaslt_search.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "calque/calque.h"

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cuda_device.h"
#include "stand_in.h"
#include "support/simulated.h"

namespace calque {
namespace {

namespace fs = std::filesystem;
using runtime::Candidate;
using runtime::cublas::candidates;
using test::StandIn;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const bool opened = (StandIn::get(), true);  // before the first use of a GPU

/// Sets an environment variable until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class CublasSearch : public testing::Test {
 protected:
  CublasSearch() {
    std::string pattern = (fs::temp_directory_path() / "calque_search_XXXXXX").string();
    root = mkdtemp(pattern.data());
  }
  ~CublasSearch() override {
    fs::remove_all(root);
    EXPECT_THAT(StandIn::get().problems(), IsEmpty());
  }
  std::string file(const std::string& path, const std::string& target = {}) const {
    fs::create_directories((root / path).parent_path());
    if (target.empty())
      std::ofstream(root / path);
    else
      fs::create_symlink(target, root / path);
    return (root / path).string();
  }
  /// The candidates in the test's folder, in their order.
  std::vector<std::string> found(int version) const {
    std::vector<std::string> all;
    for (const Candidate& candidate : candidates(version))
      if (candidate.path.starts_with(root.string())) all.push_back(candidate.path);
    return all;
  }

  fs::path root;
  const Variable venv{"VIRTUAL_ENV", ""}, conda{"CONDA_PREFIX", ""}, home{"HOME", ""}, path{"PATH", "/usr/bin"},
      packages{"PYTHONPATH", ""}, toolkit{"CUDA_HOME", ""}, other_toolkit{"CUDA_PATH", ""};
};

TEST_F(CublasSearch, OnlyVersionsThatTheDriverServesAreTried) {
  ASSERT_TRUE(opened);
  EXPECT_THAT(runtime::cublas::served_majors(13010), ElementsAre(13, 12, 11));
  EXPECT_THAT(runtime::cublas::served_majors(12040), ElementsAre(12, 11));
  EXPECT_THAT(runtime::cublas::served_majors(11080), ElementsAre(11));
  EXPECT_THAT(runtime::cublas::served_majors(15000), ElementsAre(13, 12, 11));
}

TEST_F(CublasSearch, WhatIsLoadedComesFirstAndThenTheLoadersPath) {
  const auto all = candidates(12040);
  ASSERT_GE(all.size(), 4u);
  EXPECT_TRUE(all[0].loaded && all[1].loaded);
  EXPECT_EQ(all[0].path, "libcublasLt.so.12");
  EXPECT_EQ(all[1].path, "libcublasLt.so.11");
  EXPECT_EQ(all[2].path, "libcublasLt.so.12");
  EXPECT_FALSE(all[2].loaded);
}

TEST_F(CublasSearch, FindsToolkitsAndPythonsPackages) {
  const std::string site = "venv/lib/python3.11/site-packages/";
  const std::string cu12 = file(site + "nvidia/cublas/lib/libcublasLt.so.12");
  const std::string cu13 = file(site + "nvidia/cu13/lib/libcublasLt.so.13");
  const std::string torch = file("conda/lib/python3.12/site-packages/torch/lib/libcublasLt.so.12");
  const std::string in_toolkit = file("cuda/lib64/libcublasLt.so.12");
  const std::string user = file("home/.local/lib/python3.10/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  const std::string listed = file("listed/nvidia/cublas/lib/libcublasLt.so.12");
  file(site + "nvidia/cublas/lib/libcublasLt.so.12.4.5");
  const Variable a("VIRTUAL_ENV", (root / "venv").string()), b("CONDA_PREFIX", (root / "conda").string()),
      c("CUDA_HOME", (root / "cuda").string()), d("HOME", (root / "home").string()),
      e("PYTHONPATH", "/nowhere::" + (root / "listed").string());
  EXPECT_THAT(found(12040), ElementsAre(in_toolkit, listed, cu12, torch, user));
  EXPECT_THAT(found(13000), ElementsAre(cu13, in_toolkit, listed, cu12, torch, user));
}

// A virtual environment that is not activated: the first python3 of PATH is in it.
TEST_F(CublasSearch, FindsThePackagesOfTheFirstPython) {
  const std::string library = file("env/lib/python3.11/site-packages/nvidia/cublas/lib/libcublasLt.so.12");
  file("env/bin/python3");
  file("empty/bin/nothing");
  const Variable a("PATH", (root / "empty/bin").string() + ":" + (root / "env/bin").string() + ":/usr/bin");
  EXPECT_THAT(found(12040), ElementsAre(library));
}

TEST_F(CublasSearch, FirstThatStartsWins) {
  const std::string no_library = file("a/libcublasLt.so.12"), other = file("b/libcublasLt.so.12", "libm.so.6"),
                    good = file("d/libcublasLt.so.12", test::stand_in_cuda());
  const runtime::SearchList choice{
      false, {{(root / "missing.so").string()}, {no_library}, {other}, {test::stand_in_refusing()}, {good}}};
  std::vector<std::string> started;
  const auto library = runtime::cublas::first_that_starts(choice, [&](const runtime::cublas::Library& one) {
    started.push_back(runtime::cublas::description(one));
    runtime::cublas::Handle handle = nullptr;
    return started.size() > 1 || one.create(&handle) == runtime::cublas::kSuccess;
  });
  ASSERT_NE(library, nullptr);
  ASSERT_EQ(started.size(), 2u);
  EXPECT_THAT(started[0], HasSubstr("13.1.2, "));
  EXPECT_THAT(started[0], HasSubstr("stand_in_refusing"));
  EXPECT_THAT(started[1], HasSubstr("13.0.0, "));
  std::string problem;
  EXPECT_EQ(runtime::cublas::open_library("libm.so.6", false, problem), nullptr);
  EXPECT_EQ(problem, "libm.so.6 has no cublasLtCreate");
}

/// Number of products that cuBLASLt is called for under this value of CALQUE_LIBCUBLASLT.
int products_with(const std::string& libraries) {
  const Variable named("CALQUE_LIBCUBLASLT", libraries);
  const double usual = runtime::least_library_flops();
  runtime::least_library_flops() = 0;
  const int before = StandIn::get().calls("cublasLtMatmul");
  {
    const runtime::CudaDevices all = runtime::open_cuda_devices(test::stand_in_cuda());
    const Graph g = parse(
        "calque 1\ngraph f(%a: f32[16,16]) {\n %d = dot_general[lhs_batch=[], lhs_contract=[1], rhs_batch=[], "
        "rhs_contract=[0]] %a %a\n return %d\n}\n");
    const auto a = Array<float>::ones({16, 16});
    EXPECT_EQ(Array<float>(test::run_on(*all.devices.at(0), g, {a}, {})[0])(3, 5), 16);
  }
  runtime::least_library_flops() = usual;
  return StandIn::get().calls("cublasLtMatmul") - before;
}

TEST_F(CublasSearch, DeviceTriesTheNextWhenOneDoesNotStart) {
  const std::string good = test::stand_in_cuda(), refusing = test::stand_in_refusing();
  EXPECT_EQ(products_with(good), 1);
  EXPECT_EQ(products_with(refusing + ":libm.so.6:/nowhere/libcublasLt.so:" + good), 1);
  EXPECT_EQ(products_with(refusing + ":libm.so.6"), 0);
  EXPECT_EQ(products_with("off"), 0);
  StandIn::get().fail("cublasLtCreate", 1);
  EXPECT_EQ(products_with(good + ":" + good), 1);
}

}  // namespace
}  // namespace calque
