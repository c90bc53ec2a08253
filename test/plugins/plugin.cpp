// A plug-in whose lambdas scale by CALQUE_PLUGIN_FACTOR: built twice with different factors, otherwise identical.
#include "plugins/plugin.h"

#include <string>

namespace calque::plugins {
namespace {

constexpr double kFactor = CALQUE_PLUGIN_FACTOR;

Tracer<double> scaled(Tracer<double> x) { return x * kFactor; }

/// A result whose destructor is the plug-in's code.
template <class A>
struct Parts {
  std::vector<A> values;
  std::string label;
};

double small_table[2] = {kFactor, kFactor};

double lambda(double x) {
  return jit([](auto v) { return v * kFactor; })(x);
}
double pointer(double x) { return jit(&scaled)(x); }
double slope(double x) {
  return grad([](auto v) { return v * kFactor; })(x);
}
double structure(double x) {
  const auto f = jit([](auto v, const std::string& label) {
    return Parts<Tracer<double>>{{v * kFactor, v}, label + ", and long enough for a heap allocation"};
  });
  return f(x, static_arg(std::string("scaled"))).values[0];
}
double host(double x) {
  const std::vector<double> factors(100, kFactor);
  const auto scale = [factors](const Array<double>& v) { return Array<double>(v.item() * factors[0]); };
  return jit([scale](auto v) { return host_call(scale, spec<double>({}), v); })(x);
}
double constant(double x) {
  return jit([](auto v) { return sum(v * Array<double>::wrap(small_table, {2}, [](double*) {})); })(x) / 2;
}
double caller(const DoubledFunction& f, double x) {
  return f(Parts<double>{{x}, "a label of the plug-in's"}).values[0];
}
Graph graph() {
  return jit([](auto v) { return sin(v) * kFactor; }).trace(1.0);
}
PointerFunction wrapped(OfTracer f) { return jit(f); }

}  // namespace

extern "C" [[gnu::visibility("default")]] Interface calque_plugin() {
  return {kFactor, &lambda, &pointer, &slope, &structure, &host, &constant, &caller, &graph, &wrapped};
}

}  // namespace calque::plugins
