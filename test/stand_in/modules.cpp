// Modules, launches and graphs of the stand-in. Kernels run on the simulator; only those that the PTX contains can be
// launched.
#include <algorithm>
#include <cstring>
#include <exception>
#include <regex>

#include "runtime/simulator/simulator.h"
#include "state.h"

using namespace stand_in;  // NOLINT: everything here is the stand-in's
namespace cuda = calque::runtime::cuda;

namespace {

/// Number of parameters of each kernel in a PTX text.
std::map<std::string, size_t> entries_of(const std::string& ptx) {
  std::map<std::string, size_t> entries;
  const std::regex entry(R"(\.entry\s+([A-Za-z_$][\w$]*)\s*(\([^)]*\))?)");
  for (auto i = std::sregex_iterator(ptx.begin(), ptx.end(), entry); i != std::sregex_iterator(); ++i) {
    const std::string parameters = (*i)[2];
    size_t count = 0;
    for (size_t at = parameters.find(".param"); at != std::string::npos; at = parameters.find(".param", at + 1))
      ++count;
    entries[(*i)[1]] = count;
  }
  return entries;
}

/// The work of a launch with the current arguments.
Status launch_work(State& s, const Function* f, unsigned grid, unsigned block, unsigned shared, void** parameters,
                   Work& work) {
  if (s.functions.find(f) == nullptr) return s.misuse("no function is launched", kInvalidHandle);
  if (f->module->program == nullptr) return s.misuse("a module without code is launched", kNotFound);
  const calque::codegen::DeviceFunction& wanted = f->module->program->functions()[f->kernel];
  if (wanted.blocks != grid || wanted.threads != static_cast<int>(block))
    return s.misuse(f->name + ": another shape than its code is for");
  if (wanted.shared_bytes != static_cast<int>(shared)) return s.misuse(f->name + ": another amount of shared memory");
  if (static_cast<int>(shared) > f->dynamic_shared) return s.misuse(f->name + ": more shared memory than was allowed");
  std::vector<void*> arguments;
  for (size_t i = 0; i < f->parameters; ++i) arguments.push_back(*static_cast<void**>(parameters[i]));
  work = [&s, f, arguments] {
    if (s.functions.find(f) == nullptr) return s.misuse("a module was unloaded before its kernel ran", kInvalidHandle);
    if (const Status status = s.injected("kernel"); status != kSuccess) return status;
    try {
      calque::runtime::launch(*f->module->program, f->kernel, arguments, s.memory);
      return kSuccess;
    } catch (const std::exception& e) {
      s.failure = e.what();
      return kLaunchFailed;
    }
  };
  return kSuccess;
}

void* pointer(cuda::Address address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

Status copy_work(State& s, const cuda::CopyNode& copy, Work& work) {
  if (copy.from.memory_type != 2 || copy.to.memory_type != 2 || copy.height != 1 || copy.depth != 1)
    return s.misuse("a copy in a graph that is none of bytes on the device");
  if (!s.holds(copy.from.device, copy.width) || !s.holds(copy.to.device, copy.width))
    return s.misuse("a copy leaves its allocation");
  work = [copy] {
    std::memcpy(pointer(copy.to.device), pointer(copy.from.device), copy.width);
    return kSuccess;
  };
  return kSuccess;
}

Status store_work(State& s, const cuda::StoreNode& store, Work& work) {
  if (store.width != 1 || store.height != 1 || !s.holds(store.to, store.element_bytes))
    return s.misuse("a store leaves its allocation");
  work = [store] {
    std::memcpy(pointer(store.to), &store.value, store.element_bytes);
    return kSuccess;
  };
  return kSuccess;
}

Status add(State& s, cuda::Node* node, cuda::Graph handle, const cuda::Node* before, size_t count, Node made) {
  Graph* graph = s.graphs.find(handle);
  if (graph == nullptr) return s.misuse("a node for no graph", kInvalidHandle);
  made.graph = graph;
  for (size_t i = 0; i < count; ++i) made.before.push_back(reinterpret_cast<Node*>(before[i]));
  graph->nodes.push_back(new Node(std::move(made)));
  *node = reinterpret_cast<cuda::Node>(graph->nodes.back());
  return kSuccess;
}

/// A copy of all work of a graph, as the work of one node.
Status graph_work(State& s, cuda::Graph handle, Node& node) {
  const Graph* graph = s.graphs.find(handle);
  if (graph == nullptr) return s.misuse("no graph is put into a graph", kInvalidHandle);
  std::vector<Work> all;
  for (const Node* one : graph->nodes) all.push_back(one->work);
  node.size = all.size();
  node.work = [all] {
    for (const Work& work : all)
      if (const Status status = work(); status != kSuccess) return status;
    return kSuccess;
  };
  return kSuccess;
}

Status set(State& s, cuda::GraphExec exec, cuda::Node node, Node::Kind kind, const Function* function, Work work) {
  GraphExec* e = s.execs.find(exec);
  auto* n = reinterpret_cast<Node*>(node);
  if (e == nullptr || !e->work.contains(n)) return s.misuse("a node of another graph is changed", kInvalidHandle);
  if (n->kind != kind || n->function != function) return s.misuse("a node is changed to another kind");
  e->work[n] = std::move(work);
  return kSuccess;
}

}  // namespace

#define ENTER()                                                                            \
  State& s = state();                                                                      \
  std::lock_guard lock(s.mutex);                                                           \
  if (const Status failure = s.enter(__func__, true); failure != kSuccess) return failure; \
  if (s.sticky() != kSuccess) return s.sticky()

extern "C" {

Status cuModuleLoadDataEx(cuda::Module* module, const void* image, unsigned count, const int* options, void** values) {
  ENTER();
  std::string ptx = static_cast<const char*>(image);
  if (ptx.starts_with("\x7f")) {
    const std::string header = s.cubin_header();
    ++s.calls["cubin"];
    if (!ptx.starts_with(header)) return kOtherGpu;
    ptx.erase(0, header.size());
  }
  if (ptx.find(".version") == std::string::npos || ptx.find(".target sm_") == std::string::npos) {
    if (count == 2 && options[0] == cuda::kErrorLogBuffer) {
      std::strncpy(static_cast<char*>(values[0]), "line 1: no PTX", reinterpret_cast<size_t>(values[1]));
    }
    return kInvalidPtx;
  }
  *module = s.modules.make<cuda::Module>({entries_of(ptx)});
  return kSuccess;
}
Status cuLinkCreate_v2(unsigned, const int*, void**, cuda::Link* link) {
  ENTER();
  *link = s.links.make<cuda::Link>({current().back(), {}, {}});
  return kSuccess;
}
Status cuLinkAddData_v2(cuda::Link link, int input, void* data, size_t bytes, const char*, unsigned, const int*,
                        void**) {
  ENTER();
  Link* l = s.links.find(link);
  if (l == nullptr || l->context != current().back()) return s.misuse("PTX for no link", kInvalidHandle);
  const auto* text = static_cast<const char*>(data);
  if (input != cuda::kPtxInput || bytes == 0 || text[bytes - 1] != '\0') return s.misuse("a link of something else");
  l->ptx = text;
  return l->ptx.find(".version") == std::string::npos ? kInvalidPtx : kSuccess;
}
Status cuLinkComplete(cuda::Link link, void** cubin, size_t* bytes) {
  ENTER();
  Link* l = s.links.find(link);
  if (l == nullptr || l->ptx.empty()) return s.misuse("no link is completed", kInvalidHandle);
  l->cubin = s.cubin_header() + l->ptx;
  *cubin = l->cubin.data();
  *bytes = l->cubin.size();
  return kSuccess;
}
Status cuLinkDestroy(cuda::Link link) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const Status failure = s.enter(__func__, true); failure != kSuccess) return failure;
  return s.links.destroy(link) ? kSuccess : s.misuse("no link is destroyed", kInvalidHandle);
}
Status calqueModuleLoadSimulated(cuda::Module module, const calque::codegen::SimulatedProgram* program) {
  ENTER();
  Module* m = s.modules.find(module);
  if (m == nullptr || program == nullptr) return s.misuse("code for no module", kInvalidHandle);
  m->program = program;
  return kSuccess;
}
Status cuModuleUnload(cuda::Module module) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const Status failure = s.enter(__func__, true); failure != kSuccess) return failure;
  Module* m = s.modules.find(module);
  if (m == nullptr) return s.misuse("no module is unloaded", kInvalidHandle);
  std::vector<Function*> gone;
  s.functions.each([&](Function& f) {
    if (f.module == m) gone.push_back(&f);
  });
  for (Function* f : gone) s.functions.destroy(f);
  s.modules.destroy(m);
  return kSuccess;
}
Status cuModuleGetFunction(cuda::Function* function, cuda::Module module, const char* name) {
  ENTER();
  Module* m = s.modules.find(module);
  if (m == nullptr || m->program == nullptr) return s.misuse("a function of no module", kInvalidHandle);
  const auto entry = m->parameters.find(name);
  if (entry == m->parameters.end()) return s.misuse(std::string(name) + " is not in the PTX", kNotFound);
  const auto& all = m->program->functions();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
  if (found == all.end()) return s.misuse(std::string(name) + " is not in the simulated code", kNotFound);
  *function = s.functions.make<cuda::Function>({m, name, static_cast<size_t>(found - all.begin()), entry->second});
  return kSuccess;
}
Status cuFuncSetAttribute(cuda::Function function, int attribute, int value) {
  ENTER();
  Function* f = s.functions.find(function);
  if (f == nullptr || attribute != cuda::kMaxDynamicSharedMemory) return s.misuse("an attribute of no function");
  if (value > 227 << 10) return kInvalidValue;
  f->dynamic_shared = value;
  return kSuccess;
}
Status cuLaunchKernel(cuda::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared, cuda::Stream stream, void** parameters,
                      void** extra) {
  ENTER();
  if (grid_y * grid_z * block_y * block_z != 1 || extra != nullptr)
    return s.misuse("a launch in more than one dimension");
  Work work;
  const Status status =
      launch_work(s, reinterpret_cast<Function*>(function), grid_x, block_x, shared, parameters, work);
  return status == kSuccess ? s.ask(stream, std::move(work)) : status;
}

// Captured work is sequential.
Status cuStreamBeginCapture_v2(cuda::Stream stream, int) {
  ENTER();
  Stream* found = s.streams.find(stream);
  if (found == nullptr || found->captures) return s.misuse("no stream captures", kInvalidHandle);
  found->captures = true;
  found->captured.clear();
  return kSuccess;
}
Status cuStreamEndCapture(cuda::Stream stream, cuda::Graph* graph) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const Status failure = s.enter(__func__, true);
  Stream* found = s.streams.find(stream);
  if (found == nullptr || !found->captures) return s.misuse("no capture ends", kInvalidHandle);
  found->captures = false;
  if (failure != kSuccess) return failure;
  *graph = s.graphs.make<cuda::Graph>({});
  for (Work& work : found->captured) {
    cuda::Node node = nullptr;
    const Graph* g = s.graphs.find(*graph);
    cuda::Node before = g->nodes.empty() ? nullptr : reinterpret_cast<cuda::Node>(g->nodes.back());
    Node made{.kind = Node::Kind::graph, .work = std::move(work)};
    add(s, &node, *graph, &before, g->nodes.empty() ? 0 : 1, std::move(made));
  }
  return kSuccess;
}

Status cuGraphCreate(cuda::Graph* graph, unsigned) {
  ENTER();
  *graph = s.graphs.make<cuda::Graph>({});
  return kSuccess;
}
Status cuGraphDestroy(cuda::Graph graph) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const Status failure = s.enter(__func__, true); failure != kSuccess) return failure;
  Graph* g = s.graphs.find(graph);
  if (g == nullptr) return s.misuse("no graph is destroyed", kInvalidHandle);
  for (Node* node : g->nodes) delete node;
  s.graphs.destroy(g);
  return kSuccess;
}
Status cuGraphAddKernelNode(cuda::Node* node, cuda::Graph graph, const cuda::Node* before, size_t count,
                            const cuda::KernelNode* kernel) {
  ENTER();
  Node made{.kind = Node::Kind::kernel, .work = {}, .function = reinterpret_cast<Function*>(kernel->function)};
  const Status status = launch_work(s, made.function, kernel->grid_x, kernel->block_x, kernel->shared_bytes,
                                    kernel->parameters, made.work);
  return status == kSuccess ? add(s, node, graph, before, count, std::move(made)) : status;
}
Status cuGraphAddMemcpyNode(cuda::Node* node, cuda::Graph graph, const cuda::Node* before, size_t count,
                            const cuda::CopyNode* copy, cuda::Context) {
  ENTER();
  Node made{.kind = Node::Kind::copy, .work = {}};
  const Status status = copy_work(s, *copy, made.work);
  return status == kSuccess ? add(s, node, graph, before, count, std::move(made)) : status;
}
Status cuGraphAddMemsetNode(cuda::Node* node, cuda::Graph graph, const cuda::Node* before, size_t count,
                            const cuda::StoreNode* store, cuda::Context) {
  ENTER();
  Node made{.kind = Node::Kind::store, .work = {}};
  const Status status = store_work(s, *store, made.work);
  return status == kSuccess ? add(s, node, graph, before, count, std::move(made)) : status;
}
Status cuGraphAddChildGraphNode(cuda::Node* node, cuda::Graph graph, const cuda::Node* before, size_t count,
                                cuda::Graph child) {
  ENTER();
  Node made{.kind = Node::Kind::graph, .work = {}};
  const Status status = graph_work(s, child, made);
  return status == kSuccess ? add(s, node, graph, before, count, std::move(made)) : status;
}
Status cuGraphInstantiateWithFlags(cuda::GraphExec* exec, cuda::Graph graph, unsigned long long) {
  ENTER();
  Graph* g = s.graphs.find(graph);
  if (g == nullptr) return s.misuse("no graph is instantiated", kInvalidHandle);
  GraphExec made{g, {}, {}};
  // Of the nodes that are ready, the one that was created last.
  while (made.order.size() < g->nodes.size()) {
    const auto next = std::find_if(g->nodes.rbegin(), g->nodes.rend(), [&](Node* node) {
      return !made.work.contains(node) && std::all_of(node->before.begin(), node->before.end(),
                                                      [&](Node* other) { return made.work.contains(other); });
    });
    if (next == g->nodes.rend()) return s.misuse("a graph whose nodes wait for each other");
    made.order.push_back(*next);
    made.work[*next] = (*next)->work;
  }
  *exec = s.execs.make<cuda::GraphExec>(std::move(made));
  return kSuccess;
}
Status cuGraphExecDestroy(cuda::GraphExec exec) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (const Status failure = s.enter(__func__, true); failure != kSuccess) return failure;
  return s.execs.destroy(exec) ? kSuccess : s.misuse("no graph is destroyed", kInvalidHandle);
}
Status cuGraphLaunch(cuda::GraphExec exec, cuda::Stream stream) {
  ENTER();
  GraphExec* e = s.execs.find(exec);
  Stream* found = s.streams.find(stream);
  if (e == nullptr || found == nullptr) return s.misuse("no graph is launched", kInvalidHandle);
  for (Node* node : e->order) found->queue.push_back(e->work[node]);
  return kSuccess;
}
Status cuGraphExecKernelNodeSetParams(cuda::GraphExec exec, cuda::Node node, const cuda::KernelNode* kernel) {
  ENTER();
  Work work;
  const auto* function = reinterpret_cast<Function*>(kernel->function);
  const Status status =
      launch_work(s, function, kernel->grid_x, kernel->block_x, kernel->shared_bytes, kernel->parameters, work);
  return status == kSuccess ? set(s, exec, node, Node::Kind::kernel, function, std::move(work)) : status;
}
Status cuGraphExecMemcpyNodeSetParams(cuda::GraphExec exec, cuda::Node node, const cuda::CopyNode* copy,
                                      cuda::Context) {
  ENTER();
  Work work;
  const Status status = copy_work(s, *copy, work);
  return status == kSuccess ? set(s, exec, node, Node::Kind::copy, nullptr, std::move(work)) : status;
}
Status cuGraphExecChildGraphNodeSetParams(cuda::GraphExec exec, cuda::Node node, cuda::Graph child) {
  ENTER();
  Node made{.kind = Node::Kind::graph, .work = {}};
  if (const Status status = graph_work(s, child, made); status != kSuccess) return status;
  if (s.execs.find(exec) != nullptr && reinterpret_cast<Node*>(node)->size != made.size)
    return s.misuse("a graph in a graph changes its shape");
  return set(s, exec, node, Node::Kind::graph, nullptr, std::move(made.work));
}
Status cuGraphExecMemsetNodeSetParams(cuda::GraphExec exec, cuda::Node node, const cuda::StoreNode* store,
                                      cuda::Context) {
  ENTER();
  Work work;
  const Status status = store_work(s, *store, work);
  return status == kSuccess ? set(s, exec, node, Node::Kind::store, nullptr, std::move(work)) : status;
}

}  // extern "C"
