#include "support/native.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "kernel/lower/build.h"
#include "reference/evaluate.h"
#include "runtime/memory/workspace.h"
#include "runtime/process/parallel.h"
#include "runtime/routines/routines.h"
#include "support/sanitizers.h"
#include "support/stages.h"
#include "transform/complex/split_complex.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"

namespace calque::test {

namespace {

struct TestContext {
  codegen::ContextHeader header;
  const kernel::Program* program;
};

int32_t no_host_call(void*, int32_t, void* const*) noexcept { return 0; }
int32_t routine(void* context, int32_t index, void* const* pointers) noexcept {
  const auto& program = *static_cast<TestContext*>(context)->program;
  runtime::run_routine(program.routines[static_cast<size_t>(index)], pointers);
  return 0;
}
template <class T>
double as_double(const void* data, int64_t i) {
  const T v = static_cast<const T*>(data)[i];
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return static_cast<double>(v.real());
  } else {
    return static_cast<double>(v);
  }
}

double element(const AnyArray& a, int64_t i) {
  return visit_dtype(a.dtype(), [&]<class T>() { return as_double<T>(a.data(), i); });
}

/// Real and imaginary parts in turn.
AnyArray as_parts(const AnyArray& a) { return AnyArray(transform::joined_type(a.type()), a.storage()); }

std::string describe(const AnyArray& got, const AnyArray& want, int64_t i) {
  std::ostringstream out;
  out.precision(17);
  out << "element " << i << " of " << got.type() << ": got " << element(got, i) << ", want " << element(want, i);
  return out.str();
}

}  // namespace

NativeGraph::NativeGraph(const Graph& graph, const kernel::BuildOptions& build, const codegen::CodegenOptions& options,
                         const kernel::GpuLimits* limits) {
  const Graph g = transform::simplify(graph, transform::InlineScope::all, codegen::math_forms(options));
  outputs_ = g.output_types();
  program_ = test::stages::build_program(g, build);
  if (limits) program_ = test::stages::schedule_for_gpu(program_, *limits);
  codegen::CodegenOptions instrumented = options;
  instrumented.sanitize = kAddressSanitizer;
  code_ = test::stages::compile(program_, instrumented);
}

size_t NativeGraph::reused_inputs() const {
  return static_cast<size_t>(std::ranges::count_if(program_.in_place, [](auto input) { return input >= 0; }));
}

std::vector<AnyArray> NativeGraph::operator()(const std::vector<AnyArray>& inputs) const {
  static const codegen::RuntimeTable table{
      codegen::RuntimeTable{}.version, &no_host_call, &runtime::parallel_for, &runtime::scratch, &runtime::num_threads,
      &runtime::private_memory,        &routine};
  TestContext context{{&table}, &program_};
  std::vector<AnyArray> outputs;
  std::vector<void*> pointers;
  for (const AnyArray& a : inputs) pointers.push_back(const_cast<void*>(a.data()));
  for (const Type& t : outputs_) outputs.push_back(AnyArray::uninitialized(t));
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (o < program_.in_place.size() && program_.in_place[o] >= 0) {
      const auto i = static_cast<size_t>(program_.in_place[o]);
      std::memcpy(outputs[o].mutable_data(), inputs[i].data(), outputs[o].bytes());
      pointers[i] = outputs[o].mutable_data();
    }
  }
  for (AnyArray& a : outputs) pointers.push_back(a.mutable_data());
  for (const AnyArray& a : program_.constants) pointers.push_back(const_cast<void*>(a.data()));
  const auto workspace = detail::Storage::allocate(static_cast<size_t>(program_.workspace_bytes) + 1);
  pointers.push_back(workspace.data());
  if (code_->entry()(&context, pointers.data()) != 0) throw Error("the entry failed");
  return outputs;
}

namespace {

/// Parallel loops where that does not change the bits.
kernel::BuildOptions on_threads() {
  kernel::BuildOptions build;
  build.parallel_loops = kernel::ParallelLoops::maps;
  return build;
}

}  // namespace

std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options) {
  return run_native(graph, inputs, options, on_threads());
}

std::vector<AnyArray> run_native(const Graph& graph, const std::vector<AnyArray>& inputs,
                                 const codegen::CodegenOptions& options, const kernel::BuildOptions& build) {
  return NativeGraph(graph, build, options)(inputs);
}

std::vector<AnyArray> run_donating(const Graph& graph, const std::vector<AnyArray>& inputs, size_t& taken,
                                   const codegen::CodegenOptions& options) {
  kernel::BuildOptions build = on_threads();
  build.donated.assign(inputs.size(), true);
  const NativeGraph compiled(graph, build, options);
  taken += compiled.reused_inputs();
  return compiled(inputs);
}

std::vector<AnyArray> run_scheduled(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::CodegenOptions& options) {
  return NativeGraph(graph, {}, options, &limits)(inputs);
}

std::string difference(const AnyArray& got, const AnyArray& want) {
  if (!(got.type() == want.type())) return "types " + to_string(got.type()) + " and " + to_string(want.type());
  if (is_complex(got.dtype())) return difference(as_parts(got), as_parts(want));
  const size_t size = size_of(got.dtype());
  for (int64_t i = 0; i < got.size(); ++i) {
    const auto* a = static_cast<const char*>(got.data()) + static_cast<size_t>(i) * size;
    const auto* b = static_cast<const char*>(want.data()) + static_cast<size_t>(i) * size;
    if (std::memcmp(a, b, size) == 0) continue;
    if (is_floating(got.dtype()) && std::isnan(element(got, i)) && std::isnan(element(want, i))) continue;
    return describe(got, want, i);
  }
  return {};
}

std::string difference(const AnyArray& got, const AnyArray& want, double rtol, double atol) {
  if (!(got.type() == want.type())) return "types " + to_string(got.type()) + " and " + to_string(want.type());
  if (is_complex(got.dtype())) return difference(as_parts(got), as_parts(want), rtol, atol);
  if (!is_floating(got.dtype())) return difference(got, want);
  for (int64_t i = 0; i < got.size(); ++i) {
    const double a = element(got, i), b = element(want, i);
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::abs(a - b) <= atol + rtol * std::abs(b)) continue;
    return describe(got, want, i);
  }
  return {};
}

std::string compare_strictly(const Graph& graph, const std::vector<AnyArray>& inputs, const std::string& cpu) {
  codegen::CodegenOptions options;
  options.strict = true;
  options.target.cpu = cpu;
  const std::vector<AnyArray> want = reference::evaluate(transform::inline_calls(graph), inputs, kStrictReference);
  const std::vector<AnyArray> got = run_native(graph, inputs, options);
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string d = difference(got[i], want[i]);
    if (d.empty()) continue;
    std::ostringstream out;
    out << "output " << i << ": " << d << "\n" << graph;
    return out.str();
  }
  return {};
}

}  // namespace calque::test
