#include "codegen/jit/backend.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "calque/ir/errors.h"

#include "codegen/cpu/entry.h"
#include "codegen/cpu/join_kernels.h"
#include "codegen/jit/optimization_level.h"
#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/contract_products.h"
#include "codegen/llvm/function_attributes.h"
#include "codegen/llvm/masks.h"
#include "codegen/llvm/rounding_fences.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

// LLVM is called only once the object has an owner: after an exception a partly constructed object must not be touched
// either.
std::unique_ptr<Backend> Backend::make(const TargetInfo& info, bool sanitize) {
  auto backend = make_llvm_owned<Backend>(info);
  backend->set_up(sanitize);
  return backend.release();
}

void Backend::set_up(bool sanitize) {
  llvm::TargetOptions options;
  machine_.reset(find_target(info_.triple)
                     .createTargetMachine(llvm::Triple(info_.triple), info_.cpu, info_.features, options,
                                          llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                          true));
  if (!machine_) throw CompileError("compile: no code generator for " + info_.triple);
  analyses_.set_up(*machine_);
  calls_.addPass(llvm::AlwaysInlinerPass(false));
  inlining_.addPass(llvm::AlwaysInlinerPass(false));
  inlining_.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)));
  // The emitter produces SSA form and rotated loops; these passes remove redundancy: index arithmetic, splats of
  // invariants.
  const auto passes = [&](bool unroll) {
    llvm::FunctionPassManager list;
    list.addPass(llvm::EarlyCSEPass());
    if (info_.fma) list.addPass(RoundingFencesPass());
    if (unroll) list.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
    list.addPass(llvm::InstCombinePass());
    list.addPass(llvm::SimplifyCFGPass());
    list.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
    list.addPass(llvm::EarlyCSEPass(true));
    // Sinks computations into the cold branches that alone use them.
    list.addPass(llvm::SinkingPass());
    return list;
  };
  passes_ = passes(false);
  // Passes over loops take longer than those over the instructions of a few iterations.
  short_ = passes(true);
  // Machine code of invariants in loops is made sooner than these are found.
  quick_.addPass(llvm::EarlyCSEPass());
  if (info_.fma) quick_.addPass(RoundingFencesPass());
  quick_.addPass(llvm::InstCombinePass());
  quick_.addPass(llvm::SinkingPass());
  joined_.addPass(llvm::EarlyCSEPass(true));
  one_block_.addPass(llvm::EarlyCSEPass());
  if (info_.fma) one_block_.addPass(RoundingFencesPass());
  one_block_.addPass(llvm::InstCombinePass());
  if (sanitize) {
    llvm::AddressSanitizerOptions asan;
    asan.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    sanitizing_.addPass(llvm::AddressSanitizerPass(asan));
  }
}

namespace {

// Which products and sums are contracted depends on the blocks that they are in and on how often they are used.
bool may_contract(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& i) {
    return i.getOpcode() == llvm::Instruction::FMul && i.hasAllowContract();
  });
}

}  // namespace

// A scalar entry is inlined together with its kernels, in optimize().
void Backend::inline_functions(llvm::Module& module) {
  if (module.getFunction(kScalarEntryName) || std::none_of(module.begin(), module.end(), is_math_function)) return;
  calls_.run(module, analyses_.modules);
  remove_unused_math(module);
}

void Backend::optimize(llvm::Module& module, bool quick) {
  if (is_forwarding_module(module)) return;
  if (module.getFunction(kScalarEntryName)) {
    inlining_.run(module, analyses_.modules);
    remove_unused_math(module);
  }
  for (llvm::Function& function : module) keep_masked_loads(function);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const bool is_short = function.hasFnAttribute(kShortAttribute);
    const bool is_quick = quick && !may_contract(function);
    (function.size() == 1 ? one_block_
     : is_quick           ? quick_
     : is_short           ? short_
                          : passes_)
        .run(function, analyses_.functions);
  }
  sanitizing_.run(module, analyses_.modules);
  for (llvm::Function& function : module) {
    write_single_lanes(function);
    info_.avx512 ? split_masks(function, info_.vector_bits) : widen_masks(function, info_.vector_bits);
    if (info_.fma) contract_products(function, false);
    remove_fences(function);
  }
  analyses_.clear();
}

void Backend::join_kernels(llvm::Module& module, bool quick) {
  const Joined which = quick ? Joined::all : Joined::short_kernels;
  for (llvm::Function* joined : codegen::join_kernels(module, which)) joined_.run(*joined, analyses_.functions);
  analyses_.clear();
}

Object Backend::emit(llvm::Module& module, llvm::CodeGenFileType type, llvm::CodeGenOptLevel level) {
  align_frames(module, info_);
  machine_->setOptLevel(level);
  const bool is_object = type == llvm::CodeGenFileType::ObjectFile;
  const bool schedule = is_worth_scheduling(module);
  std::unique_ptr<MachinePasses>& kept = objects_[schedule ? 1 : 0][static_cast<size_t>(level)];
  if (is_object && !kept) kept = make_machine_passes(*machine_, type, schedule).release();
  const LlvmOwned<MachinePasses> listing(is_object ? nullptr
                                                   : make_machine_passes(*machine_, type, schedule).release());
  MachinePasses& with = is_object ? *kept : *listing;
  // Constructing passes changes options of the machine, so they are set here.
  // FastISel turns a select of a loaded double into a blend that reads sixteen bytes: used only for code that forwards
  // pointers.
  machine_->setFastISel(is_forwarding_module(module));
  with.bytes.clear();
  with.passes.run(module);
  return Object(with.bytes.begin(), with.bytes.end());
}

namespace {

// Idle back ends, by target.
class Pool {
 public:
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }
  std::unique_ptr<Backend> take(const TargetInfo& info, bool sanitize) {
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[key(info, sanitize)];
      if (!idle.empty()) {
        auto backend = std::move(idle.back());
        idle.pop_back();
        return backend;
      }
    }
    return Backend::make(info, sanitize);
  }
  void give(const TargetInfo& info, bool sanitize, std::unique_ptr<Backend> backend) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[key(info, sanitize)];
      if (idle.size() < kKept) idle.push_back(std::move(backend));
    } catch (const std::bad_alloc&) {  // it is destroyed
    }
  }

 private:
  static constexpr size_t kKept = 16;
  static std::string key(const TargetInfo& info, bool sanitize) {
    return info.triple + '|' + info.cpu + '|' + info.features + (sanitize ? "|asan" : "");
  }
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Backend>>> idle_;
};

}  // namespace

BorrowedBackend::BorrowedBackend(const TargetInfo& target, bool sanitize)
    : target_(target), sanitize_(sanitize), backend_(Pool::instance().take(target, sanitize)) {}

BorrowedBackend::~BorrowedBackend() {
  if (!backend_.is_unwinding()) Pool::instance().give(target_, sanitize_, backend_.release());
}

}  // namespace calque::codegen
