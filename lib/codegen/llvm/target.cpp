// Resolves a target: names, and features of the processor.
#include "codegen/llvm/target.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "calque/ir/errors.h"

#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/llvm_errors.h"
#include "ir/environment.h"
#include "ir/fork.h"

namespace calque::codegen {

namespace {

// A build with a selection of LLVM's back ends (CALQUE_LLVM_TARGETS) says so in errors about a missing one.
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

// LLVM declares the entry points of all back ends; only those that the build selected are linked.
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
  static constinit std::once_flag native, all;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  if (all_targets) std::call_once(all, initialize_other_targets);
}

std::string examples_for(const llvm::Triple& triple) {
  if (triple.isX86()) return "; CPUs that are known here: x86-64, x86-64-v3, skylake-avx512, znver4";
  if (triple.isAArch64()) return "; CPUs that are known here: generic, cortex-a76, neoverse-v2, apple-m1";
  return "; generic is known here";
}

std::string host_triple() { return llvm::sys::getProcessTriple(); }

/// Extensions that LLVM uses only for an intrinsic or assembly that requests them: those of operating systems, of
/// transactions, of random numbers, of cryptography. Virtual machines often hide some of them.
bool is_only_asked_for(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "aes",        "cldemote",  "clflushopt", "clwb",   "clzero",  "crc32",     "enqcmd",   "fsgsbase", "fxsr",
      "hle",        "hreset",    "invpcid",    "kl",     "lwp",     "movdir64b", "movdiri",  "mwaitx",   "pclmul",
      "pconfig",    "pku",       "prefetchi",  "prfchw", "ptwrite", "rdpid",     "rdpru",    "rdrnd",    "rdseed",
      "rtm",        "serialize", "sgx",        "sha",    "shstk",   "tsxldtrk",  "uintr",    "usermsr",  "vaes",
      "vpclmulqdq", "waitpkg",   "wbnoinvd",   "widekl", "xsave",   "xsavec",    "xsaveopt", "xsaves"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// The features of a CPU that are not just tuning hints.
std::vector<std::string> instruction_sets_of(const llvm::MCSubtargetInfo& chip) {
  llvm::FeatureBitset hints;
  for (const auto& processor : chip.getAllProcessorDescriptions()) hints |= processor.TuneImplies.getAsBitset();
  std::vector<std::string> names;
  for (const auto& feature : chip.getEnabledProcessorFeatures()) {
    if (hints.test(feature.Value) || is_only_asked_for(feature.Key)) continue;
    names.emplace_back(feature.Key);
  }
  std::ranges::sort(names);
  return names;
}

/// 64-bit code for a 32-bit CPU would end the process, deep inside LLVM.
void check_width(const llvm::MCSubtargetInfo& chip, const llvm::Triple& triple, const std::string& what) {
  if (!triple.isArch64Bit() || !(triple.isX86() || triple.isRISCV()) || chip.checkFeatures("+64bit")) return;
  throw CompileError("compile: " + what + " has no 64-bit instructions, which " + triple.str() + " needs" +
                     examples_for(triple));
}

/// LLVM 22's instruction selection does not end on some permutations of 64 bytes that VBMI's vpermb could do, such as
/// the splat of one byte of a sum. Without VBMI they take two or three instructions. VBMI2 and all others stay, except
/// that AVX10.1 and AVX10.2 include VBMI.
constexpr const char* kWithoutX86 = "-avx512vbmi";

TargetName host_name() {
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (feature.first() != "avx512vbmi") features.AddFeature(feature.first(), feature.second);
  TargetName name{host_triple(), llvm::sys::getHostCPUName().str(), features.getString()};
  if (llvm::Triple(name.triple).isX86()) name.features += std::string(name.features.empty() ? "" : ",") + kWithoutX86;
  return name;
}

TargetName make_name(const std::string& cpu, const std::string& triple) {
  const bool is_host = triple.empty() || triple == host_triple();
  const bool is_named = !cpu.empty() && cpu != "native";
  if (is_host && !is_named) return host_name();
  const std::string chosen = is_host ? host_triple() : triple;
  const bool is_x86 = llvm::Triple(chosen).isX86();
  return {chosen, is_named ? cpu : is_x86 ? "x86-64" : "generic", is_x86 ? kWithoutX86 : ""};
}

/// `origin`: prefix for messages that names the source of the CPU: empty, or "CALQUE_CPU=i386: ".
TargetInfo make_target(const std::string& cpu, const std::string& triple, const std::string& origin) {
  TargetInfo info;
  static_cast<TargetName&>(info) = make_name(cpu, triple);
  initialize_llvm(info.triple != host_triple());
  const llvm::Target& target = find_target(info.triple);
  const llvm::Triple parsed(info.triple);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target.createMCSubtargetInfo(parsed, "", ""));
  if (!known || !known->isCPUStringValid(info.cpu))
    throw CompileError("compile: " + origin + "unknown CPU " + info.cpu + " for " + info.triple + examples_for(parsed));
  const std::unique_ptr<llvm::MCSubtargetInfo> chip(target.createMCSubtargetInfo(parsed, info.cpu, info.features));
  check_width(*chip, parsed, origin + "CPU " + info.cpu);
  info.instruction_sets = instruction_sets_of(*chip);
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
  } else if (parsed.isRISCV()) {
    info.fma = has("+f") && has("+d");
  }
  return info;
}

/// The CPU that CALQUE_CPU chooses for the options, or "".
std::string cpu_of_environment(const TargetOptions& options) {
  if (!options.cpu.empty() || !(options.triple.empty() || options.triple == host_triple())) return "";
  const char* const chosen = variable("CALQUE_CPU");
  return chosen != nullptr ? chosen : "";
}

}  // namespace

TargetName name_target(const TargetOptions& options) {
  const std::string chosen = cpu_of_environment(options);
  return make_name(chosen.empty() ? options.cpu : chosen, options.triple);
}

std::string host_description() {
  const std::string& host = process_wide([] {
    const TargetName name = host_name();
    return new const std::string(name.triple + ' ' + name.cpu + ' ' + name.features);
  });
  return host + '|' + cpu_of_environment({});
}

TargetInfo resolve_target(const TargetOptions& options) {
  const std::string chosen = cpu_of_environment(options);
  const std::string& cpu = chosen.empty() ? options.cpu : chosen;
  const std::string origin = chosen.empty() ? "" : "CALQUE_CPU=" + chosen + ": ";
  auto& known = process_wide([] { return new std::map<std::pair<std::string, std::string>, TargetInfo>; });
  static constinit ForkMutex mutex;
  const std::lock_guard lock(mutex);
  const auto key = std::make_pair(cpu, options.triple);
  auto it = known.find(key);
  if (it == known.end()) {
    TargetInfo made = inside_llvm([&] { return make_target(cpu, options.triple, origin); });
    it = known.emplace(key, std::move(made)).first;
  }
  return it->second;
}

kernel::TargetLimits limits_of(const TargetInfo& target, bool strict) {
  kernel::TargetLimits limits;
  limits.vector_bits = target.vector_bits;
  limits.vector_registers = target.avx512 || !target.x86 ? 32 : 16;
  limits.lane_masks = limits.broadcast_operands = target.avx512;
  limits.least_masked_bytes = target.avx512 ? 1 : target.avx2 ? 4 : 0;
  limits.non_temporal_stores = target.x86;
  limits.bf16_pairs = target.bf16_pairs;
  limits.strict = strict;
  return limits;
}

kernel::TargetLimits target_limits(const CodegenOptions& options) {
  kernel::TargetLimits limits = limits_of(resolve_target(options.target), options.strict);
  limits.compact = options.quick;
  return limits;
}

std::string target_description(const TargetOptions& options) {
  const TargetInfo info = resolve_target(options);
  return info.triple + ' ' + info.cpu + ' ' + info.features;
}

}  // namespace calque::codegen
