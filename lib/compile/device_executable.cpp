// Compilation for a device shares the CPU's passes up to the schedule of the kernels.
#include "compile/device_executable.h"

#include <algorithm>

#include "calque/ir/errors.h"

#include "compile/compiler.h"
#include "compile/passes.h"
#include "compile/stored_code.h"
#include "ir/fork.h"
#include "ir/log.h"
#include "runtime/device/device_memory.h"
#include "runtime/device/step_runner.h"

namespace calque::runtime {
namespace {

// Longer programs without control flow are interpreted step by step.
constexpr size_t kLongestChain = 4096;
// Launching fewer commands one by one is about as fast.
constexpr size_t kShortestChain = 3;
class GpuProgram final : public DeviceProgram {
 public:
  GpuProgram(KernelDevice& api, kernel::Program program, std::shared_ptr<const LoadedProgram> code)
      : api_(api), program_(std::move(program)), code_(std::move(code)) {
    for (const AnyArray& a : program_.constants) constants_.push_back(upload_to(api, a.data(), a.bytes()));
    program_.constants.clear();
    chains_ = chains_of(program_, kShortestChain, kLongestChain);
  }

  void run(std::span<void* const> inputs, std::span<void* const> outputs) const override {
    const ScopedMemory workspace(api_, static_cast<size_t>(program_.workspace_bytes));
    std::vector<void*> buffers;
    buffers.reserve(program_.buffers.size());
    for (const kernel::ProgramBuffer& b : program_.buffers) {
      const auto i = static_cast<size_t>(b.index);
      switch (b.kind) {
        case kernel::BufferKind::input:
          buffers.push_back(inputs[i]);
          break;
        case kernel::BufferKind::output:
          buffers.push_back(outputs[i]);
          break;
        case kernel::BufferKind::constant:
          buffers.push_back(static_cast<const ArrayMemory*>(constants_[i].device_memory())->address());
          break;
        case kernel::BufferKind::workspace:
          buffers.push_back(workspace.address() + b.offset);
          break;
      }
    }
    StepRunner(api_, program_, *code_, buffers, &chains_).run();
  }

 private:
  KernelDevice& api_;
  kernel::Program program_;
  std::shared_ptr<const LoadedProgram> code_;
  std::vector<detail::Storage> constants_;
  Chains chains_;
};

/// The user's source lines that recorded a graph, for messages.
std::string lines_of(const Graph& graph) {
  constexpr size_t kMost = 3;
  std::vector<std::string> lines;
  for (const Equation& e : graph.equations()) {
    if (!e.location().known()) continue;
    const std::string line = to_string(e.location());
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMost); ++i) text += (i == 0 ? " (" : ", ") + lines[i];
  if (lines.size() > kMost) text += " and " + std::to_string(lines.size() - kMost) + " more";
  return text.empty() ? text : text + ")";
}

}  // namespace

std::string ptx_of(const Graph& graph, CompileOptions options) {
  if (has_host_memory(options.device) && gpu_available()) options.device = gpu();
  Compilation c(Device::Kind::gpu, options);
  c.graph = graph;
  return make_assembly(c, kTracePass.name);
}

namespace {

class KernelDeviceCompiler final : public Compiler {
 public:
  std::shared_ptr<const Executable> compile(const Graph& graph, std::span<const Strides> strides,
                                            const CompileOptions& options, const std::string& stored_key,
                                            CompileReport& report) const override;
};

/// Runs on the host in place of the device.
std::shared_ptr<const Executable> make_host_executable(const Graph& graph, const CompileOptions& options) {
  auto executable = std::make_shared<Executable>();
  executable->inputs = graph.input_types();
  executable->set_outputs(graph.output_types());
  CompileOptions host = options;
  host.device = cpu();
  host.donated.clear();
  std::vector<Strides> strides;
  for (const Type& type : executable->inputs) strides.push_back(row_major_strides(type.shape));
  executable->host = find_executable(graph, strides, host);
  return executable;
}

std::shared_ptr<const Executable> make_device_executable(KernelDevice& api, const Graph& graph, kernel::Program program,
                                                         std::shared_ptr<const LoadedProgram> loaded) {
  auto executable = std::make_shared<Executable>();
  executable->inputs = graph.input_types();
  executable->set_outputs(graph.output_types());
  executable->in_place = program.in_place;
  executable->device = std::make_shared<const GpuProgram>(api, std::move(program), std::move(loaded));
  return executable;
}

/// A cubin that the driver made, but does not load, is dropped: the PTX is loaded, or refused, as without it.
std::shared_ptr<const LoadedProgram> load_generated(KernelDevice& api, const kernel::Program& program,
                                                    const codegen::DeviceOptions& options, codegen::DeviceImage& image,
                                                    const std::string& blame) {
  try {
    return api.load(program, options, image, blame);
  } catch (const CompileError&) {
    if (image.cubin.empty()) throw;
    image.cubin.clear();
    return api.load(program, options, image, blame);
  }
}

std::shared_ptr<const Executable> KernelDeviceCompiler::compile(const Graph& graph, std::span<const Strides>,
                                                                const CompileOptions& options,
                                                                const std::string& stored_key,
                                                                CompileReport& report) const {
  KernelDevice& api = kernel_device(options.device);
  if (options.reference || !codegen::can_compile()) return make_host_executable(graph, options);
  Compilation c(graph, {}, options, &report.passes);
  run_passes(c, kTracePass.name);
  kernel::Program& program = *c.program;
  report.kernels = program.kernels.size();
  codegen::DeviceImage image = std::move(c.device_code->image());
  api.complete(image, program, c.device, !stored_key.empty());
  auto loaded = load_generated(api, program, c.device, image, lines_of(graph));
  store_executable(stored_key, program, image);
  return make_device_executable(api, graph, std::move(program), std::move(loaded));
}

}  // namespace

std::shared_ptr<const Executable> load_device_executable(const Graph& graph, kernel::Program program,
                                                         const codegen::DeviceImage& image,
                                                         const CompileOptions& options) {
  KernelDevice& api = kernel_device(options.device);
  auto loaded = api.load(program, device_code_options(options), image, lines_of(graph));
  return make_device_executable(api, graph, std::move(program), std::move(loaded));
}

const Compiler& kernel_device_compiler() {
  return process_wide([] { return new const KernelDeviceCompiler; });
}

}  // namespace calque::runtime
