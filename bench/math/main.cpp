// Prints cycles an element, with the largest error in ulp, of every function and rival: functions over 2048 numbers,
// whose loops are called as they are, without a call's dispatch. Variants run interleaved; a figure is a median.
//
//   bench_math [--md] [--json=FILE] [FUNCTION...]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>

#include <calque/calque.h>
#include <nlohmann/json.hpp>

#include "math/routines.h"
#include "runtime/executable.h"

namespace cq = calque;

namespace {

constexpr size_t kElements = 2048;
constexpr int kRepetitions = 15;

/// A function: how tracers call it, its exact value, the arguments it is timed on.
struct Function {
  std::string name;
  std::function<cq::Graph(bool twice)> trace;
  std::function<long double(long double, long double)> exact;
  double low, high;
  double second_low = 0, second_high = 0;
};

template <class T>
struct Variant {
  std::string name;
  std::function<void(const T*, const T*, T*)> run;
  double cycles = 0;
  double ulp = 0;
};

/// The native loop of a graph.
template <class T>
std::function<void(const T*, const T*, T*)> native(const cq::Graph& graph, bool fast_math) {
  cq::runtime::CompileOptions options;
  options.fast_math = fast_math;
  const auto code = cq::runtime::find_executable(graph, {}, options);
  const auto workspace = std::make_shared<std::vector<char>>(static_cast<size_t>(code->workspace_bytes) + 64);
  const bool two = graph.inputs().size() == 2;
  return [code, workspace, two](const T* x, const T* y, T* out) {
    static const cq::codegen::RuntimeTable table;
    cq::runtime::Context context;
    context.header.table = &table;
    void* buffers[16];
    size_t n = 0;
    buffers[n++] = const_cast<T*>(x);
    if (two) buffers[n++] = const_cast<T*>(y);
    buffers[n++] = out;
    for (const void* c : code->constants) buffers[n++] = const_cast<void*>(c);
    buffers[n++] = workspace->data();
    code->entry(&context, buffers);
  };
}

/// |got - exact| in units of the last place of a T near `exact`.
template <class T>
double ulp_error(T got, long double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int place = std::max(exponent, std::numeric_limits<T>::min_exponent) - std::numeric_limits<T>::digits;
  return static_cast<double>(std::fabs(std::ldexp(static_cast<long double>(got) - exact, -place)));
}

template <class T>
std::vector<T> random_numbers(double low, double high, uint64_t seed, size_t n) {
  std::mt19937_64 bits(seed);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53));
  return values;
}

/// The largest error over 64 blocks of random arguments.
template <class T>
double largest_error(const Function& f, const Variant<T>& v) {
  double worst = 0;
  std::vector<T> out(kElements);
  for (uint64_t block = 0; block < 64; ++block) {
    const auto x = random_numbers<T>(f.low, f.high, 2 * block, kElements);
    const auto y = random_numbers<T>(f.second_low, f.second_high, 2 * block + 1, kElements);
    v.run(x.data(), y.data(), out.data());
    for (size_t i = 0; i < kElements; ++i) worst = std::max(worst, ulp_error(out[i], f.exact(x[i], y[i])));
  }
  return worst;
}

template <class T>
void time_variants(const Function& f, std::vector<Variant<T>>& variants, double frequency) {
  using Clock = std::chrono::steady_clock;
  const auto x = random_numbers<T>(f.low, f.high, 1, kElements);
  const auto y = random_numbers<T>(f.second_low, f.second_high, 2, kElements);
  std::vector<T> out(kElements);
  std::vector<std::vector<double>> seconds(variants.size());
  std::vector<int> calls(variants.size(), 1);
  for (int r = -1; r < kRepetitions; ++r) {
    for (size_t i = 0; i < variants.size(); ++i) {
      const auto start = Clock::now();
      for (int c = 0; c < calls[i]; ++c) variants[i].run(x.data(), y.data(), out.data());
      const double each = std::chrono::duration<double>(Clock::now() - start).count() / calls[i];
      if (r < 0) {
        calls[i] = std::max(1, static_cast<int>(3e-4 / each));
      } else {
        seconds[i].push_back(each);
      }
    }
  }
  for (size_t i = 0; i < variants.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + kRepetitions / 2, seconds[i].end());
    variants[i].cycles = seconds[i][kRepetitions / 2] * frequency / kElements;
    variants[i].ulp = largest_error(f, variants[i]);
  }
}

template <class T>
void measure(const Function& f, const std::vector<Routine<T>>& rivals, double frequency, nlohmann::ordered_json& rows) {
  const bool twice = sizeof(T) == 8;
  const cq::Graph graph = f.trace(twice);
  std::vector<Variant<T>> variants = {{"calque", native<T>(graph, false)},
                                      {"calque fast_math", native<T>(graph, true)}};
  for (const Routine<T>& r : rivals) {
    if (f.name != r.function) continue;
    variants.push_back({r.rival, [run = r.run](const T* x, const T* y, T* out) { run(x, y, out, kElements); }});
  }
  time_variants(f, variants, frequency);
  std::printf("| %s | %s |", f.name.c_str(), twice ? "f64" : "f32");
  for (const char* name :
       {"calque", "calque fast_math", "sleef u10", "sleef u35", "eigen", "libmvec", "libm", "intrinsics"}) {
    const auto v = std::find_if(variants.begin(), variants.end(), [&](const auto& each) {
      return each.name == name || (each.name == "sleef u05" && std::strcmp(name, "sleef u10") == 0) ||
             (each.name == "sleef u15" && std::strcmp(name, "sleef u10") == 0);
    });
    if (v == variants.end()) {
      std::printf(" |");
      continue;
    }
    std::printf(v->ulp < 1e3 ? " %.2f (%.2f) |" : " %.2f (%.0e) |", v->cycles, v->ulp);
    rows.push_back({{"function", f.name},
                    {"type", twice ? "f64" : "f32"},
                    {"variant", v->name},
                    {"cycles", v->cycles},
                    {"ulp", v->ulp}});
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<Function> functions() {
  std::vector<Function> list;
  const auto add = [&](const char* name, auto f, auto exact, double low, double high) {
    const auto trace = [f](bool twice) {
      return twice ? cq::jit(f).trace(cq::Array<double>::zeros({kElements}))
                   : cq::jit(f).trace(cq::Array<float>::zeros({kElements}));
    };
    list.push_back({name, trace, [exact](long double x, long double) { return exact(x); }, low, high});
  };
  const auto add_pair = [&](const char* name, auto f, auto exact, double low, double high, double low2, double high2) {
    const auto trace = [f](bool twice) {
      return twice ? cq::jit(f).trace(cq::Array<double>::zeros({kElements}), cq::Array<double>::zeros({kElements}))
                   : cq::jit(f).trace(cq::Array<float>::zeros({kElements}), cq::Array<float>::zeros({kElements}));
    };
    list.push_back({name, trace, exact, low, high, low2, high2});
  };
#define CALQUE_ADD(f, low, high) \
  add(#f, [](auto x) { return f(x); }, [](long double x) { return std::f(x); }, low, high)
#define CALQUE_ADD_PAIR(f, low, high, low2, high2)                                                                \
  add_pair(                                                                                                       \
      #f, [](auto x, auto y) { return f(x, y); }, [](long double x, long double y) { return std::f(x, y); }, low, \
      high, low2, high2)
  CALQUE_ADD(exp, -20, 20);
  CALQUE_ADD(exp2, -20, 20);
  CALQUE_ADD(expm1, -5, 5);
  CALQUE_ADD(log, 0, 100);
  CALQUE_ADD(log2, 0, 100);
  CALQUE_ADD(log10, 0, 100);
  CALQUE_ADD(log1p, -0.9, 10);
  CALQUE_ADD(sin, -10, 10);
  CALQUE_ADD(cos, -10, 10);
  CALQUE_ADD(tan, -10, 10);
  CALQUE_ADD(asin, -1, 1);
  CALQUE_ADD(acos, -1, 1);
  CALQUE_ADD(atan, -10, 10);
  CALQUE_ADD(sinh, -5, 5);
  CALQUE_ADD(cosh, -5, 5);
  CALQUE_ADD(tanh, -5, 5);
  CALQUE_ADD(asinh, -10, 10);
  CALQUE_ADD(acosh, 1, 10);
  CALQUE_ADD(atanh, -1, 1);
  CALQUE_ADD(erf, -4, 4);
  CALQUE_ADD(erfc, -4, 4);
  CALQUE_ADD(sqrt, 0, 100);
  CALQUE_ADD(cbrt, 0, 100);
  CALQUE_ADD(lgamma, 0, 20);
  CALQUE_ADD(tgamma, 0, 20);
  add("rsqrt", [](auto x) { return rsqrt(x); }, [](long double x) { return 1 / std::sqrt(x); }, 0, 100);
  add("sigmoid", [](auto x) { return sigmoid(x); }, [](long double x) { return 1 / (1 + std::exp(-x)); }, -10, 10);
  CALQUE_ADD_PAIR(pow, 0, 10, -5, 5);
  CALQUE_ADD_PAIR(atan2, -10, 10, -10, 10);
  CALQUE_ADD_PAIR(hypot, -10, 10, -10, 10);
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names;
  std::string json_file;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--json=")) {
      json_file = argument.substr(7);
    } else if (!argument.starts_with("--")) {
      names.push_back(argument);
    }
  }
  Routines rivals;
  for (const auto& list :
       {sleef_routines(), eigen_routines(), plain_routines(), fast_math_routines(), intrinsics_routines()}) {
    rivals.f32.insert(rivals.f32.end(), list.f32.begin(), list.f32.end());
    rivals.f64.insert(rivals.f64.end(), list.f64.begin(), list.f64.end());
  }
  const double frequency = clock_frequency();
  std::printf("clock %.3g GHz; cycles an element (largest error in ulp)\n", frequency / 1e9);
  std::printf("| function | type | calque | fast_math | sleef u10 | sleef u35 | eigen | libmvec | libm | by hand |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Function& f : functions()) {
    if (!names.empty() && std::find(names.begin(), names.end(), f.name) == names.end()) continue;
    measure<float>(f, rivals.f32, frequency, rows);
    measure<double>(f, rivals.f64, frequency, rows);
  }
  if (!json_file.empty()) std::ofstream(json_file) << nlohmann::ordered_json{{"math", rows}}.dump(1) << '\n';
}
