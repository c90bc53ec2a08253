// Functions of lib/math are compiled once for all processes that share a store.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "calque/calque.h"

#include "codegen/code_image.h"
#include "codegen/codegen.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque {
namespace {

using MathObject = codegen::CodeImage::MathObject;

/// Keys begin with the target and the mode; `functions` is by the name behind them, the part after the last separator.
class Store final : public codegen::MathStore {
 public:
  std::optional<MathObject> load(const std::string& key) const override {
    ++loads;
    const auto found = objects.find(function_of(key));
    return found == objects.end() ? std::nullopt : std::optional(found->second);
  }
  void store(const std::string& key, const MathObject& object) const noexcept override {
    objects.insert_or_assign(function_of(key), object);
    ++stores;
    quick_stores += key.find("quick ") != std::string::npos;
  }
  static std::string function_of(const std::string& key) { return key.substr(key.find("calque.")); }

  mutable std::map<std::string, MathObject> objects;
  mutable int loads = 0, stores = 0, quick_stores = 0;
};

kernel::Program gammas() {
  const Graph g = jit([](auto x) { return lgamma(x) + exp(x); }).trace(spec<double>({100}));
  return test::stages::build_program(transform::simplify(g));
}

/// Each CPU has functions of its own, as each process has: these are in no other test.
codegen::CodegenOptions options_for(const std::string& cpu, const Store& store) {
  codegen::CodegenOptions options;
  options.target.cpu = cpu;
  options.math = &store;
  return options;
}

TEST(MathStore, FunctionsAreStoredUnderTheirNamesAndFound) {
  const Store store;
  const kernel::Program program = gammas();
  (void)test::stages::compile(program, options_for("core2", store));
  ASSERT_GE(store.objects.size(), 1u);
  for (const auto& [name, object] : store.objects) {
    EXPECT_NE(std::find(object.names.begin(), object.names.end(), name), object.names.end()) << name;
    EXPECT_FALSE(object.object.empty());
  }
  // Known to the process: not looked for again.
  const int loads = store.loads, stores = store.stores;
  (void)test::stages::compile(program, options_for("core2", store));
  EXPECT_EQ(store.loads, loads);
  EXPECT_EQ(store.stores, stores);
  // Another CPU's functions are not known; those found in the store are not compiled.
  (void)test::stages::compile(program, options_for("penryn", store));
  EXPECT_GT(store.loads, loads);
  EXPECT_EQ(store.stores, stores);
}

TEST(MathStore, QuickFunctionsAreForQuickCodeAlone) {
  const kernel::Program program = gammas();
  const Store store;
  codegen::CodegenOptions quick = options_for("nehalem", store), optimized = quick;
  quick.quick = true;
  (void)test::stages::compile(program, quick);
  const int quick_stores = store.stores;
  EXPECT_GT(quick_stores, 0);
  EXPECT_EQ(store.quick_stores, quick_stores);
  store.objects.clear();
  (void)test::stages::compile(program, optimized);
  EXPECT_GT(store.stores, quick_stores);
  EXPECT_EQ(store.quick_stores, quick_stores);
  // Optimized functions are for all code.
  const Store other;
  (void)test::stages::compile(program, options_for("westmere", other));
  const int stores = other.stores;
  quick = options_for("westmere", other);
  quick.quick = true;
  codegen::CodeImage image;
  quick.image = &image;
  (void)test::stages::compile(program, quick);
  EXPECT_EQ(other.stores, stores);
  // An image of quick code links with what the process has.
  ASSERT_FALSE(image.math.empty());
  EXPECT_TRUE(image.quick);
  EXPECT_NE(codegen::link(image, quick), nullptr);
}

}  // namespace
}  // namespace calque
