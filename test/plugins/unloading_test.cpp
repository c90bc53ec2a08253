// Unloading a library removes all cache entries that refer to it; a library loaded at the same address starts fresh.
#include <atomic>
#include <cmath>
#include <sstream>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "compile/executable.h"
#include "plugins/plugin.h"
#include "support/paths.h"

namespace calque::plugins {
namespace {

class Plugin {
 public:
  explicit Plugin(const std::string& path) : path_(path), handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
    const auto entry = reinterpret_cast<Interface (*)()>(dlsym(handle_, "calque_plugin"));
    functions_ = entry();
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() { unload(); }
  const Interface* operator->() const { return &functions_; }
  /// False when the library stays mapped.
  bool unload() {
    if (handle_ == nullptr) return true;
    dlclose(std::exchange(handle_, nullptr));
    void* still = dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (still != nullptr) dlclose(still);
    return still == nullptr;
  }

 private:
  std::string path_;
  void* handle_;
  Interface functions_;
};

void expect_own_results(const Plugin& plugin) {
  EXPECT_EQ(plugin->lambda(5.0), 5.0 * plugin->factor);
  EXPECT_EQ(plugin->pointer(5.0), 5.0 * plugin->factor);
  EXPECT_EQ(plugin->slope(5.0), plugin->factor);
  EXPECT_EQ(plugin->structure(5.0), 5.0 * plugin->factor);
  EXPECT_EQ(plugin->host(5.0), 5.0 * plugin->factor);
  EXPECT_EQ(plugin->constant(5.0), 5.0 * plugin->factor);
}

/// An argument type defined by the program.
template <class A>
struct Own {
  std::vector<A> values;
};

#define CALQUE_UNLOAD(plugin) \
  if (!(plugin).unload()) GTEST_SKIP() << "the dynamic linker keeps the library"

TEST(UnloadedPlugin, DoesNotRunForTheNextAtItsAddress) {
  Plugin first(test::built_file("libplugin_2.so"));
  const auto* const address = reinterpret_cast<const void*>(first->lambda);
  expect_own_results(first);
  CALQUE_UNLOAD(first);
  const Plugin second(test::built_file("libplugin_3.so"));
  if (reinterpret_cast<const void*>(second->lambda) != address) GTEST_SKIP() << "the second is mapped elsewhere";
  expect_own_results(second);
}

TEST(UnloadedPlugin, IsNotCalledByCachesOfTheProgram) {
  const auto doubled = jit(Doubled{});
  for (int round = 0; round < 3; ++round) {
    Plugin plugin(round % 2 == 0 ? test::built_file("libplugin_2.so") : test::built_file("libplugin_3.so"));
    expect_own_results(plugin);
    EXPECT_EQ(plugin->caller(doubled, 4.0), 8.0);
    EXPECT_EQ(doubled.cache_info().entries, 1u);
    CALQUE_UNLOAD(plugin);
    EXPECT_EQ(doubled.cache_info().entries, 0u) << "its types' signatures";
  }
  doubled.clear_cache();
  runtime::clear_executables();
}

TEST(UnloadedPlugin, LeavesItsGraphsReadable) {
  Plugin plugin(test::built_file("libplugin_2.so"));
  const Graph graph = plugin->graph();
  CALQUE_UNLOAD(plugin);
  const Plugin other(test::built_file("libplugin_3.so"));
  std::ostringstream text;
  text << graph;
  EXPECT_NE(text.str().find("plugin.cpp"), std::string::npos) << text.str();
  EXPECT_EQ(jit(graph)(0.5)[0].as<double>().item(), std::sin(0.5) * 2.0);
}

TEST(UnloadedPlugin, LeavesItsCallablesOfTheProgramsFunctionsUsable) {
  Plugin plugin(test::built_file("libplugin_2.so"));
  const auto squared = plugin->wrapped([](Tracer<double> x) { return x * x; });
  EXPECT_EQ(squared(3.0), 9.0);
  CALQUE_UNLOAD(plugin);
  EXPECT_NE(squared.explain(4.0).find("plugin.cpp"), std::string::npos);
  EXPECT_EQ(squared(4.0), 16.0);
}

TEST(UnloadedPlugin, LeavesItsConstantsUsable) {
  {
    Plugin plugin(test::built_file("libplugin_2.so"));
    EXPECT_EQ(plugin->constant(5.0), 10.0);
    CALQUE_UNLOAD(plugin);
  }
  const auto same_code = jit([](auto v) { return sum(v * Array<double>{2.0, 2.0}); });
  EXPECT_EQ(same_code(5.0), 20.0);
}

TEST(UnloadedPlugin, GoesWhileOtherThreadsCall) {
  const auto doubled = jit(Doubled{});
  std::atomic<bool> over{false};
  std::thread caller([&] {
    for (double x = 0; !over; ++x) EXPECT_EQ(doubled(Own<double>{{x}}).values[0].item(), 2 * x);
  });
  for (int round = 0; round < 50; ++round) {
    Plugin plugin(round % 2 == 0 ? test::built_file("libplugin_2.so") : test::built_file("libplugin_3.so"));
    EXPECT_EQ(plugin->caller(doubled, 4.0), 8.0);
    EXPECT_EQ(plugin->lambda(5.0), 5.0 * plugin->factor);
  }
  over = true;
  caller.join();
}

TEST(UnloadedPlugin, CostsNoMemoryHoweverOften) {
  const auto doubled = jit(Doubled{});
  size_t executables = 0, bytes = 0;
  for (int round = 0; round < 600; ++round) {
    Plugin plugin(round % 2 == 0 ? test::built_file("libplugin_2.so") : test::built_file("libplugin_3.so"));
    EXPECT_EQ(plugin->lambda(5.0), 5.0 * plugin->factor);
    EXPECT_EQ(plugin->structure(5.0), 5.0 * plugin->factor);
    EXPECT_EQ(plugin->caller(doubled, 4.0), 8.0);
    if (round == 100) {
      executables = runtime::num_executables();
      bytes = mallinfo2().uordblks;
    }
    CALQUE_UNLOAD(plugin);
  }
  EXPECT_EQ(runtime::num_executables(), executables);
  EXPECT_LT(mallinfo2().uordblks, bytes + (size_t{100} << 10)) << "less than 200 bytes for each of 500 rounds";
}

}  // namespace
}  // namespace calque::plugins
