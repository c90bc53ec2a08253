// From LLVM IR to running code. Back ends (a target machine with its pass pipeline) are dear to make, so they wait in a
// pool between compilations; every compilation has an LLVMContext of its own. Linked code belongs to a JITDylib that is
// removed with its CompiledProgram. One ORC session serves the process and is never destroyed.
#define CALQUE_LLVM_BACKEND
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include <dlfcn.h>

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "codegen/emitter.h"
#include "codegen/llvm.h"
#include "codegen/target.h"
#include "ir/stopwatch.h"

#ifdef __x86_64__
// Conversions of f16 from the compiler's own library; only their addresses are taken.
extern "C" {
void __truncdfhf2();
void __truncsfhf2();
void __extendhfsf2();
}
#endif

namespace calque::codegen {

namespace {

// A module with a basic block longer than this is straight code more than loops.
constexpr size_t kStraight = 500;

void initialize_llvm(bool all_targets) {
  static std::once_flag native, all;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  if (all_targets) {
    std::call_once(all, [] {
      llvm::InitializeAllTargetInfos();
      llvm::InitializeAllTargets();
      llvm::InitializeAllTargetMCs();
      llvm::InitializeAllAsmPrinters();
    });
  }
}

std::string host_triple() { return llvm::sys::getProcessTriple(); }

const llvm::Target& find_target(const std::string& triple) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), error);
  if (!target) throw CompileError("compile: unknown target triple " + triple);
  return *target;
}

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

// A target machine and the passes run before it.
class Backend {
 public:
  explicit Backend(const TargetInfo& info, bool sanitize);
  void optimize(llvm::Module& module);
  llvm::SmallVector<char, 0> emit(llvm::Module& module, llvm::CodeGenFileType type);
  llvm::TargetMachine& machine() { return *machine_; }

 private:
  void add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type,
                  bool straight);

  TargetInfo info_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::ModulePassManager passes_;
  llvm::ModulePassManager inlining_;  ///< before them, where kernels become part of a scalar entry
};

Backend::Backend(const TargetInfo& info, bool sanitize) : info_(info) {
  llvm::TargetOptions options;
  machine_.reset(find_target(info.triple)
                     .createTargetMachine(llvm::Triple(info.triple), info.cpu, info.features, options,
                                          llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default,
                                          true));
  if (!machine_) throw CompileError("compile: no code generator for " + info.triple);
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules_);
  builder.registerCGSCCAnalyses(components_);
  builder.registerFunctionAnalyses(functions_);
  builder.registerLoopAnalyses(loops_);
  builder.crossRegisterProxies(loops_, functions_, components_, modules_);
  inlining_.addPass(llvm::AlwaysInlinerPass(false));
  inlining_.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)));
  // The emitter makes SSA form and rotated loops; what is left is redundancy: index arithmetic, splats of invariants.
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  // What only a rare branch needs is computed there.
  passes.addPass(llvm::SinkingPass());
  passes_.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  if (sanitize) {
    llvm::AddressSanitizerOptions asan;
    asan.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    passes_.addPass(llvm::AddressSanitizerPass(asan));
  }
}

// Without mask registers a vector of i1 that lives across blocks would be packed at the end of one and unpacked in the
// next. It travels as wide as the vectors it masks. (After InstCombine, which would undo this.)
class MaskWidener {
 public:
  MaskWidener(llvm::Module& module, int vector_bits)
      : b_(module.getContext()), vector_bits_(static_cast<unsigned>(vector_bits)) {}

  void run(llvm::Function& function) {
    llvm::SmallVector<llvm::Instruction*, 16> masks;
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& i : block)
        if (i.getType()->isVectorTy() && i.getType()->getScalarType()->isIntegerTy(1) && leaves_block(i))
          masks.push_back(&i);
    for (llvm::Instruction* i : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i)) {
        b_.SetInsertPoint(phi);
        wide_[phi] = b_.CreatePHI(wide_type(phi), phi->getNumIncomingValues());
      }
    for (llvm::Instruction* i : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(i))
        for (unsigned v = 0; v < phi->getNumIncomingValues(); ++v)
          llvm::cast<llvm::PHINode>(wide_[phi])->addIncoming(wide(phi->getIncomingValue(v)), phi->getIncomingBlock(v));
    for (llvm::Instruction* i : masks) {
      // Every block that uses it makes its own vector of i1.
      std::map<llvm::BasicBlock*, llvm::Value*> local;
      llvm::Value* carried = wide(i);
      for (llvm::Use& use : llvm::make_early_inc_range(i->uses())) {
        auto* user = llvm::cast<llvm::Instruction>(use.getUser());
        llvm::BasicBlock* block = user->getParent();
        if (llvm::isa<llvm::PHINode>(user) || (block == i->getParent() && !llvm::isa<llvm::PHINode>(i))) continue;
        llvm::Value*& mask = local[block];
        if (!mask) {
          b_.SetInsertPoint(block, block->getFirstInsertionPt());
          mask = b_.CreateICmpSLT(carried, llvm::Constant::getNullValue(carried->getType()));
        }
        use.set(mask);
      }
    }
    for (llvm::Instruction* i : masks)
      if (llvm::isa<llvm::PHINode>(i)) {
        i->replaceAllUsesWith(llvm::PoisonValue::get(i->getType()));
        i->eraseFromParent();
      }
    wide_.clear();
  }

 private:
  static bool leaves_block(const llvm::Instruction& i) {
    if (llvm::isa<llvm::PHINode>(i)) return true;
    for (const llvm::User* user : i.users()) {
      const auto* at = llvm::cast<llvm::Instruction>(user);
      if (at->getParent() != i.getParent() || llvm::isa<llvm::PHINode>(at)) return true;
    }
    return false;
  }
  llvm::Type* wide_type(const llvm::Value* v) {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(v->getType())->getNumElements();
    return llvm::FixedVectorType::get(b_.getIntNTy(std::clamp(vector_bits_ / lanes, 8u, 64u)), lanes);
  }
  llvm::Value* wide(llvm::Value* v) {
    llvm::Value*& out = wide_[v];
    if (!out) {
      // Constants fold.
      if (auto* i = llvm::dyn_cast<llvm::Instruction>(v))
        b_.SetInsertPoint(i->getParent(), std::next(i->getIterator()));
      out = b_.CreateSExt(v, wide_type(v));
    }
    return out;
  }

  llvm::IRBuilder<> b_;
  unsigned vector_bits_;
  std::map<llvm::Value*, llvm::Value*> wide_;
};

// A masked store with one constant lane becomes a scalar store in LLVM 22, on x86 one of the element before the vector
// was truncated: it writes too much. (Seen with bf16: the four bytes of the f32 that it was made of.) Such a store, and
// the load that would be its mirror image, is written here as the scalar access that is meant.
void write_single_lanes(llvm::Function& function) {
  llvm::SmallVector<llvm::IntrinsicInst*, 8> found;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& i : block)
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
        if (call->getIntrinsicID() == llvm::Intrinsic::masked_store ||
            call->getIntrinsicID() == llvm::Intrinsic::masked_load)
          found.push_back(call);
  for (llvm::IntrinsicInst* call : found) {
    const bool store = call->getIntrinsicID() == llvm::Intrinsic::masked_store;
    const unsigned pointer = store ? 1 : 0, mask = store ? 2 : 1;
    const auto* lanes = llvm::dyn_cast<llvm::Constant>(call->getArgOperand(mask));
    if (!lanes) continue;
    auto* type = llvm::cast<llvm::FixedVectorType>(store ? call->getArgOperand(0)->getType() : call->getType());
    uint64_t lane = 0;
    unsigned active = 0;
    for (unsigned l = 0; l < type->getNumElements(); ++l) {
      const llvm::Constant* bit = lanes->getAggregateElement(l);
      if (bit && bit->isNullValue()) continue;
      lane = l;
      ++active;
    }
    if (active != 1) continue;
    llvm::IRBuilder<> b(call);
    llvm::Type* element = type->getElementType();
    llvm::Value* at = b.CreateConstInBoundsGEP1_64(element, call->getArgOperand(pointer), lane);
    const llvm::Align align = llvm::commonAlignment(call->getParamAlign(pointer).valueOrOne(),
                                                    lane * (element->getPrimitiveSizeInBits().getFixedValue() / 8));
    if (store) {
      b.CreateAlignedStore(b.CreateExtractElement(call->getArgOperand(0), lane), at, align);
    } else {
      llvm::Value* one = b.CreateAlignedLoad(element, at, align);
      call->replaceAllUsesWith(b.CreateInsertElement(call->getArgOperand(2), one, lane));
    }
    call->eraseFromParent();
  }
}

void Backend::optimize(llvm::Module& module) {
  if (module.getFunction(kScalarEntryName)) inlining_.run(module, modules_);
  passes_.run(module, modules_);
  for (llvm::Function& function : module) write_single_lanes(function);
  if (!info_.avx512)
    for (llvm::Function& function : module) MaskWidener(module, info_.vector_bits).run(function);
  modules_.clear();
  components_.clear();
  functions_.clear();
  loops_.clear();
}

// Greedy allocation of registers is superlinear in straight code and takes three quarters of a compilation there, while
// basic allocation makes as good code of it (there are no loops to split live ranges around). LLVM takes the allocator
// from a default of the process while it sets up its passes: one at a time do that here, and the default is put back.
void Backend::add_passes(llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type,
                         bool straight) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto add = [&](llvm::legacy::PassManager& to, llvm::raw_pwrite_stream& stream) {
    if (machine_->addPassesToEmitFile(to, stream, nullptr, type))
      throw CompileError("compile: the target cannot emit such a file");
  };
  if (!straight) return add(passes, out);
  if (!llvm::RegisterRegAlloc::getDefault()) {
    llvm::legacy::PassManager unused;
    llvm::raw_null_ostream nowhere;
    add(unused, nowhere);
  }
  const auto usual = llvm::RegisterRegAlloc::getDefault();
  llvm::RegisterRegAlloc::setDefault(&llvm::createBasicRegisterAllocator);
  add(passes, out);
  llvm::RegisterRegAlloc::setDefault(usual);
}

llvm::SmallVector<char, 0> Backend::emit(llvm::Module& module, llvm::CodeGenFileType type) {
  size_t longest = 0;
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f) longest = std::max(longest, block.size());
  const bool straight = longest > kStraight;
  machine_->setOptLevel(straight ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  add_passes(passes, out, type, straight);
  passes.run(module);
  return bytes;
}

// Back ends that nobody uses just now, by target.
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
    return std::make_unique<Backend>(info, sanitize);
  }
  void give(const TargetInfo& info, bool sanitize, std::unique_ptr<Backend> backend) {
    const std::lock_guard lock(mutex_);
    auto& idle = idle_[key(info, sanitize)];
    if (idle.size() < kKept) idle.push_back(std::move(backend));
  }

 private:
  static constexpr size_t kKept = 4;
  static std::string key(const TargetInfo& info, bool sanitize) {
    return info.triple + '|' + info.cpu + '|' + info.features + (sanitize ? "|asan" : "");
  }
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<Backend>>> idle_;
};

// The process's linker.
class Session {
 public:
  static Session& instance() {
    static Session* session = new Session;
    return *session;
  }
  /// Links an object and finds `name` in it.
  llvm::orc::JITDylib& link(llvm::SmallVector<char, 0> object, const char* name, llvm::orc::ExecutorAddr& entry);
  void unlink(llvm::orc::JITDylib& library) { report(session_->removeJITDylib(library)); }
  void add_sanitizer();

 private:
  Session();
  static std::string& reasons() {
    thread_local std::string text;
    return text;
  }
  static void report(llvm::Error error) {
    if (error) llvm::logAllUnhandledErrors(std::move(error), llvm::errs(), "calque: ");
  }
  template <class F>
  void define(llvm::orc::SymbolMap& symbols, const char* name, F* function) {
    symbols[session_->intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }

  std::unique_ptr<llvm::orc::ExecutionSession> session_;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::atomic<uint64_t> count_{0};
  std::once_flag sanitizer_;
};

[[noreturn]] void fail(llvm::Error error, const char* what) {
  throw CompileError("compile: " + std::string(what) + ": " + llvm::toString(std::move(error)));
}

// What generated code may call: block copies, and the few functions of libm that a target without the instruction
// needs.
Session::Session() {
  auto control =
      llvm::orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!control) fail(control.takeError(), "no executor");
  session_ = std::make_unique<llvm::orc::ExecutionSession>(std::move(*control));
  // The linker's reasons arrive here, on the thread that links; what a lookup returns says only that it failed.
  session_->setErrorReporter([](llvm::Error error) { reasons() += "; " + llvm::toString(std::move(error)); });
  layer_ = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session_);
  runtime_ = &session_->createBareJITDylib("calque.runtime");
  llvm::orc::SymbolMap symbols;
  define(symbols, "memcpy", static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy));
  define(symbols, "memmove", static_cast<void* (*)(void*, const void*, size_t)>(std::memmove));
  define(symbols, "memset", static_cast<void* (*)(void*, int, size_t)>(std::memset));
  using Single1 = float (*)(float);
  using Double1 = double (*)(double);
  define(symbols, "fma", static_cast<double (*)(double, double, double)>(::fma));
  define(symbols, "fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  define(symbols, "fmod", static_cast<double (*)(double, double)>(::fmod));
  define(symbols, "fmodf", static_cast<float (*)(float, float)>(::fmodf));
  define(symbols, "floor", static_cast<Double1>(::floor));
  define(symbols, "floorf", static_cast<Single1>(::floorf));
  define(symbols, "ceil", static_cast<Double1>(::ceil));
  define(symbols, "ceilf", static_cast<Single1>(::ceilf));
  define(symbols, "trunc", static_cast<Double1>(::trunc));
  define(symbols, "truncf", static_cast<Single1>(::truncf));
  define(symbols, "roundeven", static_cast<Double1>(::rint));
  define(symbols, "roundevenf", static_cast<Single1>(::rintf));
  define(symbols, "round", static_cast<Double1>(::round));
  define(symbols, "roundf", static_cast<Single1>(::roundf));
#ifdef __x86_64__
  define(symbols, "__truncdfhf2", __truncdfhf2);
  define(symbols, "__truncsfhf2", __truncsfhf2);
  define(symbols, "__extendhfsf2", __extendhfsf2);
#endif
  report(runtime_->define(llvm::orc::absoluteSymbols(std::move(symbols))));
}

void Session::add_sanitizer() {
  if (dlsym(RTLD_DEFAULT, "__asan_init") == nullptr)
    throw CompileError("compile: sanitize: this process does not contain AddressSanitizer");
  std::call_once(sanitizer_, [this] {
    auto generator = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        '\0', [](const llvm::orc::SymbolStringPtr& name) { return (*name).starts_with("__asan_"); });
    if (!generator) fail(generator.takeError(), "sanitize");
    runtime_->addGenerator(std::move(*generator));
  });
}

llvm::orc::JITDylib& Session::link(llvm::SmallVector<char, 0> object, const char* name,
                                   llvm::orc::ExecutorAddr& entry) {
  llvm::orc::JITDylib& library = session_->createBareJITDylib("calque." + std::to_string(count_++));
  library.addToLinkOrder(*runtime_);
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), "calque", false);
  reasons().clear();
  llvm::Error error = layer_->add(library, std::move(buffer));
  if (!error) {
    auto found = session_->lookup({&library}, session_->intern(name));
    if (found) {
      entry = found->getAddress();
      return library;
    }
    error = found.takeError();
  }
  unlink(library);
  fail(std::move(error), ("linking failed" + reasons()).c_str());
}

class LinkedProgram final : public CompiledProgram {
 public:
  LinkedProgram(llvm::SmallVector<char, 0> object, bool scalar) {
    llvm::orc::ExecutorAddr address;
    library_ = &Session::instance().link(std::move(object), scalar ? kScalarEntryName : kEntryName, address);
    if (scalar) {
      scalar_entry_ = address.toPtr<const void*>();
    } else {
      entry_ = address.toPtr<Entry>();
    }
  }
  LinkedProgram(const LinkedProgram&) = delete;
  LinkedProgram& operator=(const LinkedProgram&) = delete;
  ~LinkedProgram() override { Session::instance().unlink(*library_); }
  Entry entry() const override { return entry_; }
  const void* scalar_entry() const override { return scalar_entry_; }

 private:
  llvm::orc::JITDylib* library_ = nullptr;
  Entry entry_ = nullptr;
  const void* scalar_entry_ = nullptr;
};

// One compilation: emits and optimises the module, and hands the back end back.
class Compilation {
 public:
  Compilation(const kernel::Program& program, const CodegenOptions& options, CodegenTimes& times)
      : target_(resolve_target(options.target)),
        sanitize_(options.sanitize),
        backend_(Pool::instance().take(target_, sanitize_)),
        module_(program.name, context_) {
    Stopwatch stopwatch;
    context_.setDiscardValueNames(true);
    module_.setTargetTriple(llvm::Triple(target_.triple));
    module_.setDataLayout(backend_->machine().createDataLayout());
    emit_program(module_, target_, options, program);
    times.ir += stopwatch.lap();
#ifndef NDEBUG
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module_, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
    backend_->optimize(module_);
    times.passes += stopwatch.lap();
  }
  ~Compilation() { Pool::instance().give(target_, sanitize_, std::move(backend_)); }
  llvm::Module& module() { return module_; }
  llvm::SmallVector<char, 0> emit(llvm::CodeGenFileType type) { return backend_->emit(module_, type); }

 private:
  TargetInfo target_;
  bool sanitize_;
  std::unique_ptr<Backend> backend_;
  llvm::LLVMContext context_;
  llvm::Module module_;
};

std::string emitted(const kernel::Program& program, const CodegenOptions& options, llvm::CodeGenFileType type) {
  CodegenTimes times;
  const auto bytes = Compilation(program, options, times).emit(type);
  return {bytes.data(), bytes.size()};
}

// Code for a processor that this one is not would end in an illegal instruction.
void check_runs_here(const TargetInfo& target) {
  const TargetInfo host = resolve_target({"native", ""});
  if (target.triple != host.triple) throw CompileError("compile: code for " + target.triple + " cannot run here");
  if ((target.avx512 && !host.avx512) || (target.avx2 && !host.avx2) || (target.fma && !host.fma) ||
      (target.half_conversion && !host.half_conversion))
    throw CompileError("compile: this processor (" + host.cpu + ") lacks instructions of " + target.cpu);
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

std::shared_ptr<const CompiledProgram> compile(const kernel::Program& program, const CodegenOptions& options,
                                               CodegenTimes* times) {
  check_runs_here(resolve_target(options.target));
  if (options.sanitize) Session::instance().add_sanitizer();
  CodegenTimes mine;
  CodegenTimes& t = times ? *times : mine;
  t.modules = 1;
  Compilation compilation(program, options, t);
  Stopwatch stopwatch;
  const bool scalar = compilation.module().getFunction(kScalarEntryName) != nullptr;
  auto object = compilation.emit(llvm::CodeGenFileType::ObjectFile);
  t.machine += stopwatch.lap();
  auto linked = std::make_shared<LinkedProgram>(std::move(object), scalar);
  t.link += stopwatch.lap();
  return linked;
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string llvm_ir(const kernel::Program& program, const CodegenOptions& options) {
  CodegenTimes times;
  Compilation compilation(program, options, times);
  std::string text;
  llvm::raw_string_ostream out(text);
  compilation.module().print(out, nullptr);
  return text;
}

std::string assembly(const kernel::Program& program, const CodegenOptions& options) {
  return emitted(program, options, llvm::CodeGenFileType::AssemblyFile);
}

std::string object(const kernel::Program& program, const CodegenOptions& options) {
  return emitted(program, options, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace calque::codegen
