// IEEE arithmetic throughout: division and square root round to nearest, subnormals are kept, and operations are
// contracted only where flags allow it. CUDA's device libraries are not linked.
#include "codegen/gpu/device_backend.h"

#include <array>
#include <map>

#include "calque/ir/errors.h"

#include "codegen/gpu/device_code.h"
#include "codegen/gpu/device_passes.h"
#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/contract_products.h"
#include "codegen/llvm/function_attributes.h"
#include "codegen/llvm/rounding_fences.h"
#include "codegen/scalar/math_functions.h"

namespace calque::codegen {

namespace {

struct PtxArch {
  const char* name;
  const char* version;  ///< the first PTX version that has it, for older drivers
};
constexpr std::array kPtxArchs = {PtxArch{"sm_80", "+ptx70"}, PtxArch{"sm_86", "+ptx71"}, PtxArch{"sm_87", "+ptx74"},
                                  PtxArch{"sm_89", "+ptx78"}, PtxArch{"sm_90", "+ptx78"}, PtxArch{"sm_90a", "+ptx80"}};

// Modules with a basic block longer than this are compiled at a lower optimisation level.
constexpr size_t kLongBlock = 500;

class DeviceBackendPool {
 public:
  static DeviceBackendPool& instance() {
    static auto* pool = new DeviceBackendPool;
    return *pool;
  }
  std::unique_ptr<DeviceBackend> take(const std::string& key, const TargetInfo& info) {
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[key];
      if (!idle.empty()) {
        auto backend = std::move(idle.back());
        idle.pop_back();
        return backend;
      }
    }
    return DeviceBackend::make(info);
  }
  void give(const std::string& key, std::unique_ptr<DeviceBackend> backend) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[key];
      if (idle.size() < 8) idle.push_back(std::move(backend));
    } catch (const std::bad_alloc&) {  // then it is destroyed
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<DeviceBackend>>> idle_;
};

/// General bodies on cold paths, and functions with so many calls that inlining would dominate the code size.
bool stays_function(const llvm::Function& f) {
  constexpr unsigned kMostCopies = 64;
  return is_math_function(f) && (f.hasFnAttribute(llvm::Attribute::Cold) || f.hasNUsesOrMore(kMostCopies));
}

bool has_long_block(const llvm::Module& module) {
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f)
      if (block.size() > kLongBlock) return true;
  return false;
}

}  // namespace

TargetInfo ptx_target(const std::string& arch, bool many_parameters) {
  std::string known;
  for (const PtxArch& one : kPtxArchs) {
    if (arch == one.name) {
      TargetInfo info = resolve_target({arch, "nvptx64-nvidia-cuda"});
      info.features = many_parameters ? "+ptx81" : one.version;
      info.fma = info.half_conversion = true;
      return info;
    }
    known += std::string(known.empty() ? "" : ", ") + one.name;
  }
  throw CompileError("compile: kernels are made for " + known + ", not for " + arch);
}

void check_arch(const std::string& arch) { ptx_target(arch); }

// As in the CPU's back end: LLVM is called only once the object has an owner.
std::unique_ptr<DeviceBackend> DeviceBackend::make(const TargetInfo& info) {
  auto backend = make_llvm_owned<DeviceBackend>(info);
  backend->set_up();
  return backend.release();
}

void DeviceBackend::set_up() {
  machine_.reset(find_target(info_.triple)
                     .createTargetMachine(llvm::Triple(info_.triple), info_.cpu, info_.features, llvm::TargetOptions(),
                                          llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                          true));
  if (!machine_) throw CompileError("compile: no code generator for " + info_.triple);
  analyses_.set_up(*machine_);
  passes_.addPass(llvm::AlwaysInlinerPass(false));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InferAddressSpacesPass());
  passes.addPass(llvm::EarlyCSEPass());
  if (info_.fma) passes.addPass(RoundingFencesPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes_.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
}

void DeviceBackend::optimize(llvm::Module& module) {
  forget_aliases_at_barriers(module);
  for (llvm::Function& f : module)
    if (!f.isDeclaration() && f.hasLocalLinkage() && !stays_function(f)) {
      f.removeFnAttr(llvm::Attribute::NoInline);
      f.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  passes_.run(module, analyses_.modules);
  remove_unused_math(module);
  const bool gpu = machine_->getTargetTriple().isNVPTX();
  for (llvm::Function& f : module) {
    if (info_.fma) contract_products(f, gpu);
    remove_fences(f);
  }
  analyses_.clear();
}

void DeviceBackend::retarget(llvm::Module& module) const {
  module.setTargetTriple(machine_->getTargetTriple());
  module.setDataLayout(machine_->createDataLayout());
  for (llvm::Function& f : module) {
    for (const char* attribute : {"target-cpu", "target-features", "prefer-vector-width", "min-legal-vector-width"})
      f.removeFnAttr(attribute);
    if (!f.isDeclaration() && !machine_->getTargetTriple().isNVPTX()) set_function_attributes(f, info_, {});
  }
}

Object DeviceBackend::emit(llvm::Module& module, llvm::CodeGenFileType type) {
  machine_->setOptLevel(has_long_block(module) ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default);
  const auto with = make_machine_passes(*machine_, type, true);
  with->passes.run(module);
  return Object(with->bytes.begin(), with->bytes.end());
}

BorrowedDeviceBackend::BorrowedDeviceBackend(const TargetInfo& info)
    : key_(info.triple + '|' + info.cpu + '|' + info.features),
      backend_(DeviceBackendPool::instance().take(key_, info)) {}

BorrowedDeviceBackend::~BorrowedDeviceBackend() {
  if (!backend_.is_unwinding()) DeviceBackendPool::instance().give(key_, backend_.release());
}

}  // namespace calque::codegen
