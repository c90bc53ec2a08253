#pragma once
// Modules in the driver, their functions, and chains of launches that the driver replays as one graph.
#include <map>
#include <mutex>
#include <vector>

#include "runtime/cuda/cublaslt.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/device/device_api.h"

namespace calque::runtime {

/// A loaded module, shared by all programs with the same PTX.
class CudaModule {
 public:
  struct Kernel {
    cuda::Function function = nullptr;
    unsigned blocks = 1, threads = 1, shared_bytes = 0;
    size_t parameters = 0;
    std::string name;
  };

  /// Of the image's cubin, or of its PTX where it has none. Throws CompileError with the driver's log when it refuses
  /// that.
  CudaModule(CudaContext& context, const kernel::Program& program, const codegen::DeviceImage& image,
             std::shared_ptr<const codegen::SimulatedProgram> simulated, const std::string& blame);
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule();
  const Kernel& kernel(int32_t number) const { return kernels_[static_cast<size_t>(number)]; }

 private:
  CudaContext& context_;
  cuda::Module module_ = nullptr;
  std::vector<Kernel> kernels_;
  std::shared_ptr<const codegen::SimulatedProgram> simulated_;
};

/// What a program's launches run: kernels of a module, or library calls in place of them.
struct CudaLaunches {
  std::shared_ptr<const CudaModule> module;
  std::vector<std::shared_ptr<const LibraryCall>> calls;  ///< by kernel; null where the kernel runs
  ProductLibrary* library = nullptr;

  const LibraryCall* call(int32_t kernel) const { return calls[static_cast<size_t>(kernel)].get(); }
};

/// Commands as a graph in the driver. Not thread-safe.
class CudaGraph {
 public:
  CudaGraph(CudaContext& context, const CudaLaunches& launches, std::span<const Command> commands);
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph();
  /// Changes the graph's addresses to those of the commands. False if the driver refuses: the graph must be rebuilt.
  bool update(const CudaLaunches& launches, std::span<const Command> commands);
  void launch();

 private:
  void add(const CudaLaunches& launches, const Command& command);
  bool add_call(const CudaLaunches& launches, const Command& command, cuda::Node& node);
  bool update(const CudaLaunches& launches, size_t node, const Command& command);
  bool update_call(const CudaLaunches& launches, cuda::Node node, const Command& command);
  void destroy() noexcept;

  CudaContext& context_;
  cuda::Graph graph_ = nullptr;
  cuda::GraphExec exec_ = nullptr;
  std::vector<cuda::Node> nodes_;
  std::vector<bool> is_call_;  ///< by node: a graph captured from a library call
  std::vector<std::vector<void*>> addresses_;
};

class CudaProgram final : public LoadedProgram {
 public:
  /// `blame` follows the name of a kernel in messages.
  CudaProgram(CudaContext& context, CudaLaunches launches, const std::string& blame);

  void launch(int32_t kernel, void* const* addresses) const;
  /// True when it launched the commands as a graph: from the second time on.
  bool replay(size_t chain, std::span<void* const> buffers, const MakeCommands& commands) const;

 private:
  /// One graph, and the buffer addresses of its last use.
  struct Instance {
    std::unique_ptr<CudaGraph> graph;
    std::vector<void*> buffers;
  };
  struct Chain {
    size_t calls = 0;
    bool refused = false;             ///< the driver does not take it as a graph
    std::vector<Instance> instances;  ///< latest first
  };
  Instance& instance(Chain& chain, std::span<void* const> buffers, const MakeCommands& commands) const;

  CudaContext& context_;
  const CudaLaunches launches_;
  std::vector<const char*> labels_;  ///< by kernel, for messages
  mutable std::mutex mutex_;
  mutable std::map<size_t, Chain> chains_;
};

}  // namespace calque::runtime
