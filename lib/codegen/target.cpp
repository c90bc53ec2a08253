// Which target: names, and what the processor has.
#define CALQUE_LLVM_BACKEND
#include "codegen/target.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "calque/ir/errors.h"

#include "codegen/backend_target.h"

namespace calque::codegen {

namespace {

// A build that chose among LLVM's back ends (CALQUE_LLVM_TARGETS) says so where one is missed.
#ifdef CALQUE_LLVM_TARGETS
#define CALQUE_LLVM_TARGET(name) " " #name
constexpr const char* kBuiltFor = "; this build generates code only for" CALQUE_LLVM_TARGETS;
#undef CALQUE_LLVM_TARGET
#else
constexpr const char* kBuiltFor = "";
#endif

}  // namespace

const llvm::Target& find_target(const std::string& triple) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target) throw CompileError("compile: unknown target triple " + triple + kBuiltFor);
  return *target;
}

namespace {

// LLVM declares the entry points of all back ends; only those that the build chose are linked.
void initialize_other_targets() {
#ifdef CALQUE_LLVM_TARGETS
#define CALQUE_LLVM_TARGET(name)      \
  LLVMInitialize##name##TargetInfo(); \
  LLVMInitialize##name##Target();     \
  LLVMInitialize##name##TargetMC();   \
  LLVMInitialize##name##AsmPrinter();
  CALQUE_LLVM_TARGETS
#undef CALQUE_LLVM_TARGET
#else
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
#endif
}

void initialize_llvm(bool all_targets) {
  static std::once_flag native, all;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  if (all_targets) std::call_once(all, initialize_other_targets);
}

std::string host_triple() { return llvm::sys::getProcessTriple(); }

TargetInfo make_target(const std::string& cpu, const std::string& triple) {
  TargetInfo info;
  info.triple = triple.empty() ? host_triple() : triple;
  initialize_llvm(info.triple != host_triple());
  const llvm::Target& target = find_target(info.triple);
  const llvm::Triple parsed(info.triple);
  if (cpu.empty() || cpu == "native") {
    if (info.triple == host_triple()) {
      info.cpu = llvm::sys::getHostCPUName().str();
      llvm::SubtargetFeatures features;
      for (const auto& feature : llvm::sys::getHostCPUFeatures()) features.AddFeature(feature.first(), feature.second);
      info.features = features.getString();
    } else {
      info.cpu = parsed.isX86() ? "x86-64" : "generic";
    }
  } else {
    info.cpu = cpu;
  }
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target.createMCSubtargetInfo(parsed, "", ""));
  if (!known || !known->isCPUStringValid(info.cpu))
    throw CompileError("compile: unknown CPU " + info.cpu + " for " + info.triple);
  const std::unique_ptr<llvm::MCSubtargetInfo> chip(target.createMCSubtargetInfo(parsed, info.cpu, info.features));
  const auto has = [&](const char* feature) { return chip->checkFeatures(feature); };
  info.x86 = parsed.getArch() == llvm::Triple::x86_64;
  if (info.x86) {
    info.avx2 = has("+avx2");
    info.avx512 = info.avx2 && has("+avx512f") && has("+avx512bw") && has("+avx512dq") && has("+avx512vl");
    info.half_conversion = has("+f16c");
    info.fma = has("+fma");
    info.bf16_pairs = info.avx512 && has("+avx512bf16");
    info.vector_bits = info.avx512 ? 512 : info.avx2 ? 256 : 128;
  } else if (parsed.isAArch64()) {
    info.half_conversion = info.fma = true;
  }
  return info;
}

}  // namespace

TargetInfo resolve_target(const TargetOptions& options) {
  std::string cpu = options.cpu;
  if (cpu.empty())
    if (const char* chosen = std::getenv("CALQUE_CPU")) cpu = chosen;
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<std::string, std::string>, TargetInfo>;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(cpu, options.triple);
  auto it = known->find(key);
  if (it == known->end()) it = known->emplace(key, make_target(cpu, options.triple)).first;
  return it->second;
}

std::string target_description(const TargetOptions& options) {
  const TargetInfo info = resolve_target(options);
  return info.triple + ' ' + info.cpu + ' ' + info.features;
}

}  // namespace calque::codegen
