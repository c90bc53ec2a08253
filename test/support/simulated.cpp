#include "support/simulated.h"

#include "ir/values/bytes.h"
#include "kernel/lower/build.h"
#include "runtime/device/step_runner.h"
#include "runtime/simulator/simulated_device.h"
#include "support/stages.h"
#include "transform/simplify/simplify.h"

namespace calque::test {

namespace {

/// Simulator memory of exactly the size of its contents.
class DeviceBytes {
 public:
  DeviceBytes(runtime::DeviceApi& api, size_t bytes) : api_(api), bytes_(bytes), address_(api.allocate(bytes)) {}
  DeviceBytes(DeviceBytes&& from) noexcept
      : api_(from.api_), bytes_(from.bytes_), address_(std::exchange(from.address_, nullptr)) {}
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes() { api_.release(address_, bytes_); }
  void* address() const { return address_; }

 private:
  runtime::DeviceApi& api_;
  size_t bytes_;
  void* address_;
};

}  // namespace

kernel::Program program_for_gpu(const Graph& graph, const kernel::GpuLimits& limits) {
  const Graph g = transform::simplify(graph);
  kernel::BuildOptions build;
  build.alignment = 64;  // the alignment of device allocations
  return test::stages::schedule_for_gpu(test::stages::build_program(g, build), limits);
}

std::vector<AnyArray> run_simulated(const Graph& graph, const std::vector<AnyArray>& inputs,
                                    const kernel::GpuLimits& limits, const codegen::DeviceOptions& options) {
  return run_on(runtime::simulated_device(), graph, inputs, limits, options);
}

std::vector<AnyArray> run_on(runtime::KernelDevice& api, const Graph& graph, const std::vector<AnyArray>& inputs,
                             const kernel::GpuLimits& limits, const codegen::DeviceOptions& options) {
  const kernel::Program program = program_for_gpu(graph, limits);
  const auto code = api.load(program, options, stages::device_image(api, program, options), "");
  std::vector<AnyArray> outputs;
  for (const Type& t : graph.output_types()) outputs.push_back(AnyArray::uninitialized(t));
  const DeviceBytes workspace(api, static_cast<size_t>(program.workspace_bytes));
  std::vector<DeviceBytes> memory;
  std::vector<void*> buffers;
  for (const kernel::ProgramBuffer& b : program.buffers) {
    if (b.kind == kernel::BufferKind::workspace) {
      buffers.push_back(static_cast<std::byte*>(workspace.address()) + b.offset);
      continue;
    }
    const auto i = static_cast<size_t>(b.index);
    memory.emplace_back(api, bytes_of(b.type));
    buffers.push_back(memory.back().address());
    if (b.kind == kernel::BufferKind::output) continue;
    const AnyArray& from = b.kind == kernel::BufferKind::input ? inputs[i] : program.constants[i];
    if (from.bytes() != 0) api.upload(buffers.back(), from.data(), from.bytes());
  }
  runtime::StepRunner(api, program, *code, buffers).run();
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (program.buffers[b].kind != kernel::BufferKind::output) continue;
    AnyArray& to = outputs[static_cast<size_t>(program.buffers[b].index)];
    if (to.bytes() != 0) api.download(to.mutable_data(), buffers[b], to.bytes());
  }
  return outputs;
}

std::vector<std::vector<int32_t>> run_on_simulator(const kernel::Program& program,
                                                   const std::vector<std::vector<int32_t>>& inputs) {
  runtime::KernelDevice& api = runtime::simulated_device();
  const auto code = api.load(program, {}, stages::device_image(api, program, {}), "");
  std::vector<void*> buffers;
  std::vector<size_t> bytes;
  for (const kernel::ProgramBuffer& b : program.buffers) {
    const auto i = static_cast<size_t>(b.index);
    bytes.push_back(bytes_of(b.type));
    buffers.push_back(api.allocate(bytes.back()));
    if (b.kind == kernel::BufferKind::input) api.upload(buffers.back(), inputs[i].data(), bytes.back());
  }
  runtime::StepRunner(api, program, *code, buffers).run();
  std::vector<std::vector<int32_t>> outputs(static_cast<size_t>(program.num_outputs));
  for (size_t b = 0; b < buffers.size(); ++b) {
    const kernel::ProgramBuffer& buffer = program.buffers[b];
    if (buffer.kind == kernel::BufferKind::output) {
      auto& to = outputs[static_cast<size_t>(buffer.index)];
      to.resize(bytes[b] / sizeof(int32_t));
      api.download(to.data(), buffers[b], bytes[b]);
    }
    api.release(buffers[b], bytes[b]);
  }
  return outputs;
}

}  // namespace calque::test
