#pragma once
// One block of a simulated launch: its threads, each with its execution state, and its shared memory.
#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/gpu/device_code.h"
#include "runtime/simulator/access_shadow.h"
#include "runtime/simulator/fiber.h"
#include "runtime/simulator/simulated_memory.h"
#include "runtime/simulator/warp_exchange.h"

namespace calque::runtime {

class SimulatedBlock;

/// Shared by all threads of all blocks.
extern const codegen::SimulatorTable kSimulatorTable;

/// Collective operations, at which threads wait for one another.
enum class Collective : uint8_t { none, barrier, warp_barrier, shuffle, mma, load_matrix };

/// An asynchronous copy to shared memory that has been issued.
struct AsyncCopy {
  size_t offset = 0;
  const std::byte* global = nullptr;
  int32_t valid = 0;
  uint32_t group = 0;
};

struct BlockThread : codegen::SimulatedThread {
  SimulatedBlock* owner = nullptr;
  std::unique_ptr<Fiber> fiber;  ///< on which it has paused
  enum class State : uint8_t { fresh, waiting, ready, returned } state = State::fresh;
  bool has_paused = false;
  Collective collective = Collective::none;
  int32_t site = 0;
  // Operands and results of the collective.
  int32_t mode = 0;
  uint32_t value = 0, operand = 0;
  MatrixFragments fragments;
  const std::byte* row = nullptr;
  uint32_t* out = nullptr;
  std::vector<AsyncCopy> copies;
  uint32_t commits = 0;
};

/// A mistake of a thread, recorded until no thread runs any more.
struct Mistake {
  enum Kind : uint8_t { none, global_bounds, misaligned, shared_bounds, shared, global, divergence, guard } kind = none;
  AccessMistake how = AccessMistake::none;
  int32_t thread = 0, other = -1;
  int32_t access = 0;  ///< SimulatorTable::Access
  uintptr_t address = 0;
  int64_t bytes = 0;
  int32_t site = 0;
};

class SimulatedBlock {
 public:
  SimulatedBlock(const codegen::SimulatedProgram& program, size_t kernel, std::span<void* const> buffers,
                 const SimulatedMemory& memory);
  SimulatedBlock(const SimulatedBlock&) = delete;
  SimulatedBlock& operator=(const SimulatedBlock&) = delete;
  ~SimulatedBlock();

  /// Runs all threads of the block to their end. Throws DeviceError.
  void run(int64_t block);

  // ---- called by its threads
  void access(BlockThread& t, const void* address, int64_t bytes, int32_t kind, int32_t site);
  void arrive_and_wait(BlockThread& t, Collective collective, int32_t site);
  void begin_copy(BlockThread& t, void* shared, const void* global, int32_t valid, int32_t site);
  void end_copies(BlockThread& t, uint32_t pending);

 private:
  static void run_threads(void* block);
  void begin(BlockThread& t) const;
  void begin_threads();
  void resume(BlockThread& t);
  void run_warp(size_t first);
  bool release_warp(size_t first);
  bool release_block();
  void exchange(std::span<BlockThread, kWarp> warp);
  void check_guards();

  // ---- simulated_access.cpp
  /// Cache of an operation's last access: most operations stay in one allocation, many in one page.
  struct Site {
    SimulatedMemory::Range range;
    uintptr_t page = 0;
    AccessShadow* shadow = nullptr;
  };
  AccessTime now(const BlockThread& t) const {
    return {t.thread, first_epoch_, epoch_, warp_epochs_[static_cast<size_t>(t.thread / kWarp)]};
  }
  Site& site(int32_t number) { return sites_[static_cast<size_t>(number) % sites_.size()]; }
  void access_global(const BlockThread& t, const Mistake& access);
  void access_shared(const BlockThread& t, const Mistake& access);
  void find_allocation(const Mistake& access);
  AccessShadow* shadow_of(uintptr_t page);
  void record(AccessShadow& shadow, size_t offset, const BlockThread& t, const Mistake& access, Mistake::Kind kind);
  size_t shared_offset(const Mistake& access);

  /// Ends the running thread, and with it the launch.
  [[noreturn]] void fail(const Mistake& mistake);
  /// The same while no thread runs.
  [[noreturn]] void raise(const Mistake& mistake);
  std::string describe(const Mistake& mistake) const;
  std::string describe_divergence(const Mistake& mistake) const;

  const codegen::DeviceFunction& function_;
  codegen::SimulatedProgram::Function code_;
  std::span<void* const> buffers_;
  const SimulatedMemory& memory_;
  std::vector<BlockThread> threads_;
  size_t begun_ = 0;
  BlockThread* running_ = nullptr;
  Fiber* fiber_ = nullptr;  ///< on which it runs
  std::vector<std::unique_ptr<Fiber>> idle_;
  std::unique_ptr<std::byte[]> shared_memory_;
  std::byte* shared_ = nullptr;
  AccessShadow shadow_;
  /// Shadow of global memory by page, up to a limit.
  std::unordered_map<uintptr_t, AccessShadow> pages_;
  uint32_t epoch_ = 0, first_epoch_ = 0;
  std::vector<uint32_t> warp_epochs_;
  std::array<Site, 64> sites_;
  int64_t block_ = 0;
  Mistake mistake_;
};

}  // namespace calque::runtime
