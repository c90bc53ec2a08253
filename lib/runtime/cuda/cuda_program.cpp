// A graph's nodes are sequential, as on the stream, since its kernels share one workspace.
#include "runtime/cuda/cuda_program.h"

#include <algorithm>

#include "calque/ir/attribute.h"

#include "ir/log.h"

namespace calque::runtime {
namespace {

using cuda::Address;
using cuda::address_of;

std::vector<void*> parameters_of(void* const* addresses, size_t count) {
  std::vector<void*> parameters;
  parameters.reserve(count);
  for (size_t i = 0; i < count; ++i) parameters.push_back(const_cast<void**>(addresses + i));
  return parameters;
}

cuda::KernelNode kernel_node(const CudaModule::Kernel& kernel, std::vector<void*>& parameters) {
  cuda::KernelNode node;
  node.function = kernel.function;
  node.grid_x = kernel.blocks;
  node.block_x = kernel.threads;
  node.shared_bytes = kernel.shared_bytes;
  node.parameters = parameters.data();
  return node;
}

cuda::CopyNode copy_node(const Command& command) {
  cuda::CopyNode node;
  node.to.device = address_of(command.addresses[0]);
  node.from.device = address_of(command.addresses[1]);
  node.width = command.bytes;
  return node;
}

cuda::StoreNode store_node(const Command& command) {
  cuda::StoreNode node;
  node.to = address_of(command.addresses[0]);
  node.value = command.value;
  node.element_bytes = static_cast<unsigned>(command.bytes);
  return node;
}

unsigned grid_of(int64_t blocks, const std::string& name) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  if (blocks < 1 || blocks > kMost) {
    throw CompileError("compile: kernel " + name + " has a grid of " + std::to_string(blocks) + " blocks");
  }
  return static_cast<unsigned>(blocks);
}

}  // namespace

CudaModule::CudaModule(CudaContext& context, const kernel::Program& program, const codegen::DeviceImage& image,
                       std::shared_ptr<const codegen::SimulatedProgram> simulated, const std::string& blame)
    : context_(context), simulated_(std::move(simulated)) {
  const cuda::Driver& driver = context.driver();
  const CudaContext::Current current(context);
  std::vector<char> log(size_t{16} << 10);
  const int options[] = {cuda::kErrorLogBuffer, cuda::kErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const std::string& code = image.cubin.empty() ? image.ptx : image.cubin;
  if (const cuda::Status status = driver.module_load(&module_, code.c_str(), 2, options, values);
      status == cuda::kOutOfMemory) {
    context.fail(status, "loading code" + blame);
  } else if (status != cuda::kSuccess) {
    log.back() = '\0';
    throw CompileError("compile: the driver refuses the code of " +
                       (image.functions.empty() ? "a program" : image.functions.front().name) + blame + ": " +
                       driver.describe(status) + (log[0] != '\0' ? "\n" : "") + log.data());
  }
  try {
    if (driver.load_simulated != nullptr) {
      context.check(driver.load_simulated(module_, simulated_.get()), "simulated code cannot be loaded");
    }
    for (const codegen::DeviceFunction& f : image.functions) {
      Kernel kernel{nullptr,
                    grid_of(f.blocks, f.name),
                    static_cast<unsigned>(f.threads),
                    static_cast<unsigned>(f.shared_bytes),
                    program.kernels[kernels_.size()].num_parameters(),
                    f.name};
      context.check(driver.module_function(&kernel.function, module_, f.name.c_str()), "kernel " + f.name + blame);
      if (f.shared_bytes != 0) {
        context.check(driver.function_set(kernel.function, cuda::kMaxDynamicSharedMemory, f.shared_bytes),
                      "shared memory of kernel " + f.name + blame);
      }
      kernels_.push_back(std::move(kernel));
    }
  } catch (...) {
    driver.module_unload(module_);
    throw;
  }
}

// Its kernels may still be running; if they cannot be waited for, the module is not unloaded.
CudaModule::~CudaModule() {
  if (const CudaContext::Idle idle(context_); idle) context_.driver().module_unload(module_);
}

CudaGraph::CudaGraph(CudaContext& context, const CudaLaunches& launches, std::span<const Command> commands)
    : context_(context) {
  const cuda::Driver& driver = context.driver();
  context.check(driver.graph_create(&graph_, 0), "there is no graph");
  try {
    for (const Command& command : commands) add(launches, command);
    context.check(driver.graph_instantiate(&exec_, graph_, 0), "the graph cannot be instantiated");
  } catch (...) {
    destroy();
    throw;
  }
}

CudaGraph::~CudaGraph() {
  if (const CudaContext::Idle idle(context_); idle) destroy();
}

void CudaGraph::destroy() noexcept {
  const cuda::Driver& driver = context_.driver();
  if (exec_ != nullptr) driver.graph_exec_destroy(exec_);
  if (graph_ != nullptr) driver.graph_destroy(graph_);
}

// The library call becomes one node: a child graph.
bool CudaGraph::add_call(const CudaLaunches& launches, const Command& command, cuda::Node& node) {
  const LibraryCall* const call = launches.call(command.kernel);
  if (call == nullptr) return false;
  const cuda::Driver& driver = context_.driver();
  const cuda::Graph child = launches.library->capture(*call, command.addresses.data());
  if (child == nullptr) return false;
  const cuda::Node before = nodes_.empty() ? nullptr : nodes_.back();
  const cuda::Status status = driver.graph_add_graph(&node, graph_, &before, nodes_.empty() ? 0 : 1, child);
  driver.graph_destroy(child);  // the node has a copy
  return status == cuda::kSuccess;
}

void CudaGraph::add(const CudaLaunches& launches, const Command& command) {
  const cuda::Driver& driver = context_.driver();
  const cuda::Node before = nodes_.empty() ? nullptr : nodes_.back();
  const size_t count = nodes_.empty() ? 0 : 1;
  cuda::Node node = nullptr;
  is_call_.push_back(command.kind == Command::Kind::launch && add_call(launches, command, node));
  if (is_call_.back()) {
    nodes_.push_back(node);
    addresses_.push_back(command.addresses);
    return;
  }
  switch (command.kind) {
    case Command::Kind::launch: {
      std::vector<void*> parameters = parameters_of(command.addresses.data(), command.addresses.size());
      const CudaModule::Kernel& kernel = launches.module->kernel(command.kernel);
      const cuda::KernelNode kernel_parameters = kernel_node(kernel, parameters);
      context_.check(driver.graph_add_kernel(&node, graph_, &before, count, &kernel_parameters),
                     "kernel " + kernel.name + " cannot be part of a graph");
      break;
    }
    case Command::Kind::copy: {
      const cuda::CopyNode copy = copy_node(command);
      context_.check(driver.graph_add_copy(&node, graph_, &before, count, &copy, context_.context()),
                     "a copy cannot be part of a graph");
      break;
    }
    case Command::Kind::store: {
      const cuda::StoreNode store = store_node(command);
      context_.check(driver.graph_add_store(&node, graph_, &before, count, &store, context_.context()),
                     "a store cannot be part of a graph");
      break;
    }
  }
  nodes_.push_back(node);
  addresses_.push_back(command.addresses);
}

bool CudaGraph::update_call(const CudaLaunches& launches, cuda::Node node, const Command& command) {
  const cuda::Driver& driver = context_.driver();
  const cuda::Graph child = launches.library->capture(*launches.call(command.kernel), command.addresses.data());
  if (child == nullptr) return false;
  const cuda::Status status = driver.graph_set_graph(exec_, node, child);
  driver.graph_destroy(child);
  return status == cuda::kSuccess;
}

bool CudaGraph::update(const CudaLaunches& launches, size_t number, const Command& command) {
  const cuda::Driver& driver = context_.driver();
  const cuda::Node node = nodes_[number];
  if (is_call_[number]) return update_call(launches, node, command);
  switch (command.kind) {
    case Command::Kind::launch: {
      std::vector<void*> parameters = parameters_of(command.addresses.data(), command.addresses.size());
      const cuda::KernelNode kernel = kernel_node(launches.module->kernel(command.kernel), parameters);
      return driver.graph_set_kernel(exec_, node, &kernel) == cuda::kSuccess;
    }
    case Command::Kind::copy: {
      const cuda::CopyNode copy = copy_node(command);
      return driver.graph_set_copy(exec_, node, &copy, context_.context()) == cuda::kSuccess;
    }
    case Command::Kind::store: {
      const cuda::StoreNode store = store_node(command);
      return driver.graph_set_store(exec_, node, &store, context_.context()) == cuda::kSuccess;
    }
  }
  return false;
}

bool CudaGraph::update(const CudaLaunches& launches, std::span<const Command> commands) {
  for (size_t i = 0; i < commands.size(); ++i) {
    if (addresses_[i] == commands[i].addresses) continue;
    addresses_[i].clear();  // unknown if the update fails
    if (!update(launches, i, commands[i])) return false;
    addresses_[i] = commands[i].addresses;
  }
  return true;
}

void CudaGraph::launch() {
  context_.check(context_.driver().graph_launch(exec_, context_.stream()), "a graph of kernels cannot be launched");
}

CudaProgram::CudaProgram(CudaContext& context, CudaLaunches launches, const std::string& blame)
    : context_(context), launches_(std::move(launches)) {
  for (size_t k = 0; k < launches_.calls.size(); ++k) {
    labels_.push_back(intern("kernel " + launches_.module->kernel(static_cast<int32_t>(k)).name + blame).data());
  }
}

void CudaProgram::launch(int32_t number, void* const* addresses) const {
  const CudaModule::Kernel& kernel = launches_.module->kernel(number);
  const char* const label = labels_[static_cast<size_t>(number)];
  const CudaContext::Current current(context_);
  if (const LibraryCall* call = launches_.call(number);
      call != nullptr && launches_.library->launch(*call, addresses)) {
    return context_.launches().add(label);
  }
  std::vector<void*> parameters = parameters_of(addresses, kernel.parameters);
  if (const cuda::Status status =
          context_.driver().launch(kernel.function, kernel.blocks, 1, 1, kernel.threads, 1, 1, kernel.shared_bytes,
                                   context_.stream(), parameters.data(), nullptr);
      status != cuda::kSuccess) {
    context_.fail(status, std::string(label) + " cannot be launched");
  }
  context_.launches().add(label);
}

// A loop that feeds results back alternates between two or three sets of addresses: each has its graph, so that none
// has to be updated.
CudaProgram::Instance& CudaProgram::instance(Chain& chain, std::span<void* const> buffers,
                                             const MakeCommands& commands) const {
  constexpr size_t kMost = 4;
  auto& all = chain.instances;
  auto found =
      std::find_if(all.begin(), all.end(), [&](const Instance& i) { return std::ranges::equal(i.buffers, buffers); });
  if (found == all.end()) {
    if (all.size() < kMost) {
      all.push_back({std::make_unique<CudaGraph>(context_, launches_, commands()), {}});
    } else {
      all.back().buffers.clear();
      const std::vector<Command> now = commands();
      if (!all.back().graph->update(launches_, now))
        all.back().graph = std::make_unique<CudaGraph>(context_, launches_, now);
    }
    found = all.end() - 1;
    found->buffers.assign(buffers.begin(), buffers.end());
  }
  std::rotate(all.begin(), found, found + 1);
  return all.front();
}

// Chains that the driver does not accept as a graph are launched one by one; if the device is lost, that fails too.
bool CudaProgram::replay(size_t number, std::span<void* const> buffers, const MakeCommands& commands) const {
  if (!launches_.module) return false;  // copies alone
  std::lock_guard lock(mutex_);
  Chain& chain = chains_[number];
  if (chain.refused || chain.calls++ == 0) return false;
  const CudaContext::Current current(context_);
  CudaGraph* graph = nullptr;
  try {
    graph = instance(chain, buffers, commands).graph.get();
  } catch (const DeviceFailure& e) {
    library_log().warn("{}; its commands are launched one by one", e.what());
    chain.refused = true;
    chain.instances.clear();
    return false;
  }
  for (const char* label : labels_) context_.launches().add(label);
  graph->launch();
  return true;
}

}  // namespace calque::runtime
