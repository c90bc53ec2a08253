// Compiles LLVM IR to running code. Back ends (a target machine with its pass pipeline) are expensive to construct, so
// a pool keeps them between compilations; every compilation has a separate LLVMContext. Linked code belongs to a
// JITDylib that is removed with its CompiledProgram. One ORC session serves the process and is never destroyed.
#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "codegen/cpu/inline_kernel.h"
#include "codegen/cpu/outline.h"
#include "codegen/emit/emitter.h"
#include "codegen/jit/machine_passes.h"
#include "codegen/jit/math_library.h"
#include "codegen/jit/session.h"
#include "codegen/llvm/backend_target.h"
#include "codegen/llvm/contract_products.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/masks.h"
#include "codegen/llvm/module_pass.h"
#include "codegen/llvm/target.h"
#include "codegen/scalar/math_functions.h"
#include "ir/floating_point_mode.h"
#include "ir/stopwatch.h"
#include "kernel/schedule_cpu/schedule_cpu.h"

namespace calque::codegen {

namespace {

// A module with a longer basic block is mostly straight-line code: it is compiled with less optimization.
constexpr size_t kStraight = 500;

// Optimized machine code for more instructions than this takes more than about 0.1 s.
constexpr size_t kLarge = 6000;

bool is_forwarding_module(const llvm::Module& module) {
  return std::all_of(module.begin(), module.end(),
                     [](const llvm::Function& f) { return f.isDeclaration() || only_forwards_pointers(f); });
}

// Straight-line code with this proportion of calls spends its time in them: register allocation between two calls
// hardly matters.
bool is_mostly_calls(const llvm::Module& module) {
  constexpr size_t kLong = 64, kInstructionsPerCall = 4;
  size_t all = 0, straight = 0, calls = 0;
  for (const llvm::Function& f : module) {
    for (const llvm::BasicBlock& block : f) {
      all += block.size();
      if (block.size() < kLong) continue;
      straight += block.size();
      calls += static_cast<size_t>(std::count_if(block.begin(), block.end(), [](const llvm::Instruction& i) {
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
        return call && call->getCalledFunction() && is_math_function(*call->getCalledFunction());
      }));
    }
  }
  return straight * 10 >= all * 9 && calls * kInstructionsPerCall >= straight;
}

llvm::CodeGenOptLevel level_for(const llvm::Module& module, const CodegenOptions& options) {
  if (options.quick || is_forwarding_module(module)) return llvm::CodeGenOptLevel::None;
  // Only optimization replaces divisions by estimated reciprocals.
  if (!options.fast_math && is_mostly_calls(module)) return llvm::CodeGenOptLevel::None;
  size_t longest = 0;
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f) longest = std::max(longest, block.size());
  return longest > kStraight ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
}

size_t num_instructions(const llvm::Module& module) {
  size_t n = 0;
  for (const llvm::Function& f : module) n += f.getInstructionCount();
  return n;
}

// A target machine and the passes that run before it.
class Backend {
 public:
  static std::unique_ptr<Backend> make(const TargetInfo& info, bool sanitize);
  explicit Backend(const TargetInfo& info) : info_(info) {}
  void inline_functions(llvm::Module& module);
  void optimize(llvm::Module& module);
  Object emit(llvm::Module& module, llvm::CodeGenFileType type, llvm::CodeGenOptLevel level);
  llvm::TargetMachine& machine() { return *machine_; }

 private:
  void set_up(bool sanitize);

  TargetInfo info_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  Analyses analyses_;
  llvm::FunctionPassManager passes_, one_block_;  ///< the second for functions of one block
  llvm::ModulePassManager sanitizing_;
  std::unique_ptr<MachinePasses> objects_[3];  ///< by level, reused for the next module
  llvm::ModulePassManager calls_;              ///< inlines calls that are marked for it
  llvm::ModulePassManager inlining_;           ///< inlines kernels into a scalar entry
};

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
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  // Sinks computations into the cold branches that alone use them.
  passes.addPass(llvm::SinkingPass());
  passes_ = std::move(passes);
  one_block_.addPass(llvm::EarlyCSEPass());
  one_block_.addPass(llvm::InstCombinePass());
  if (sanitize) {
    llvm::AddressSanitizerOptions asan;
    asan.UseAfterReturn = llvm::AsanDetectStackUseAfterReturnMode::Never;
    sanitizing_.addPass(llvm::AddressSanitizerPass(asan));
  }
}

// A scalar entry is inlined together with its kernels, in optimize().
void Backend::inline_functions(llvm::Module& module) {
  if (module.getFunction(kScalarEntryName) || std::none_of(module.begin(), module.end(), is_math_function)) return;
  calls_.run(module, analyses_.modules);
  remove_unused_math(module);
}

void Backend::optimize(llvm::Module& module) {
  if (is_forwarding_module(module)) return;
  if (module.getFunction(kScalarEntryName)) {
    inlining_.run(module, analyses_.modules);
    remove_unused_math(module);
  }
  for (llvm::Function& function : module) keep_masked_loads(function);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) (function.size() == 1 ? one_block_ : passes_).run(function, analyses_.functions);
  sanitizing_.run(module, analyses_.modules);
  for (llvm::Function& function : module) {
    write_single_lanes(function);
    info_.avx512 ? split_masks(function, info_.vector_bits) : widen_masks(function, info_.vector_bits);
    if (info_.fma) contract_products(function, false);
  }
  analyses_.clear();
}

Object Backend::emit(llvm::Module& module, llvm::CodeGenFileType type, llvm::CodeGenOptLevel level) {
  if (type == llvm::CodeGenFileType::ObjectFile) inline_small_kernel(module);
  machine_->setOptLevel(level);
  const bool is_object = type == llvm::CodeGenFileType::ObjectFile;
  std::unique_ptr<MachinePasses>& kept = objects_[static_cast<size_t>(level)];
  if (is_object && !kept) kept = make_machine_passes(*machine_, type).release();
  const LlvmOwned<MachinePasses> listing(is_object ? nullptr : make_machine_passes(*machine_, type).release());
  MachinePasses& with = is_object ? *kept : *listing;
  // Constructing passes changes options of the machine, so they are set here.
  // FastISel turns a select of a loaded double into a blend that reads sixteen bytes: used only for code that forwards
  // pointers.
  machine_->setFastISel(is_forwarding_module(module));
  with.bytes.clear();
  with.passes.run(module);
  return Object(with.bytes.begin(), with.bytes.end());
}

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

class LinkedProgram final : public CompiledProgram {
 public:
  LinkedProgram(std::vector<Object> objects, bool scalar, bool quick, Session& session,
                const Session::Libraries& libraries)
      : bytes_(bytes_of(objects)),
        quick_(quick),
        linked_(std::move(objects), scalar ? kScalarEntryName : kEntryName, session, libraries) {
    if (scalar) {
      scalar_entry_ = linked_.address();
    } else {
      entry_ = reinterpret_cast<Entry>(linked_.address());
    }
  }
  Entry entry() const override { return entry_; }
  const void* scalar_entry() const override { return scalar_entry_; }
  bool is_quick() const override { return quick_; }
  size_t bytes() const override { return bytes_; }

 private:
  static size_t bytes_of(const std::vector<Object>& objects) {
    // Unused parts of the pages of segments, and the linker's tables; measured.
    constexpr size_t kLinked = size_t{24} << 10;
    size_t bytes = 0;
    for (const Object& object : objects) bytes += kLinked + object.size();
    return bytes;
  }

  size_t bytes_;
  bool quick_;
  Linked linked_;
  Entry entry_ = nullptr;
  const void* scalar_entry_ = nullptr;
};

// A back end borrowed from the pool.
class Borrowed {
 public:
  Borrowed(const TargetInfo& target, bool sanitize)
      : target_(target), sanitize_(sanitize), backend_(Pool::instance().take(target, sanitize)) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (!backend_.is_unwinding()) Pool::instance().give(target_, sanitize_, backend_.release());
  }
  Backend* operator->() const { return &*backend_; }

 private:
  const TargetInfo& target_;
  bool sanitize_;
  LlvmOwned<Backend> backend_;
};

// A module with its context.
struct OwnModule {
  explicit OwnModule(const std::string& name) : module(name, context) {
    context.setDiscardValueNames(true);
    throw_errors_of(context);
  }
  llvm::LLVMContext context;
  llvm::Module module;
};

constexpr std::string_view kEmitLlvm = "emit-llvm", kPairSincos = "pair-sincos", kInlineMath = "inline-math",
                           kOutline = "outline", kMathLibrary = "math-library", kPartition = "partition",
                           kOptimizeLlvm = "optimize-llvm", kLink = "link";

constexpr PassInfo kPasses[] = {
    {kEmitLlvm, "emits LLVM IR of the kernels and the entry"},
    {kPairSincos, "computes the sine and the cosine of one value together"},
    {kInlineMath, "inlines the common paths of mathematical functions"},
    {kOutline, "splits long basic blocks into functions"},
    {kMathLibrary, "compiles the mathematical functions that the process does not have yet"},
    {kPartition, "partitions a large module"},
    {kOptimizeLlvm, "LLVM's EarlyCSE, InstCombine, SimplifyCFG, LICM and Sinking, then masks and contraction"},
    {kMachineCodePass, "instruction selection, scheduling, register allocation, object file"},
    {kLink, "links the objects into the process"},
};

// Makes the object of an optimized module and records it; the text is the assembly.
Object emit_object(const Borrowed& backend, llvm::Module& module, PassLog& log, llvm::CodeGenOptLevel level) {
  inline_small_kernel(module);  // before the copy, so that the text is the code
  std::string assembly;
  if (log.keeps_text(kMachineCodePass)) {
    const auto copy = llvm::CloneModule(module);
    const Object text = backend->emit(*copy, llvm::CodeGenFileType::AssemblyFile, level);
    assembly.assign(text.begin(), text.end());
  }
  Stopwatch stopwatch;
  Object object = backend->emit(module, llvm::CodeGenFileType::ObjectFile, level);
  log.add(kMachineCodePass, stopwatch.lap(), PassLog::Over::part, [&](std::ostream& out) { out << assembly; });
  return object;
}

// One compilation. The constructor emits the module.
class Compilation {
 public:
  Compilation(const kernel::Program& program, const CodegenOptions& options)
      : options_(options),
        log_(options.log != nullptr ? *options.log : own_log_),
        target_(resolve_target(options.target)),
        backend_(target_, options.sanitize),
        owned_(make_llvm_owned<OwnModule>(program.name)),
        module_(owned_->module) {
    module_.setTargetTriple(llvm::Triple(target_.triple));
    module_.setDataLayout(backend_->machine().createDataLayout());
    const kernel::Program scheduled = kernel::schedule_for_cpu(program, limits_of(target_, options.strict), &log_);
    run_on(module_, &log_, kEmitLlvm, [&] { emit_program(module_, target_, options, scheduled); });
    scalar_ = module_.getFunction(kScalarEntryName) != nullptr;
    run_on(module_, &log_, kPairSincos, [&] { MathFunctions(module_, target_, options).pair_sines(); });
    run_on(module_, &log_, kInlineMath, [&] { backend_->inline_functions(module_); });
    run_on(module_, &log_, kOutline, [&] { outline(module_); });
    if (options_.quick_if_large && num_instructions(module_) > kLarge) options_.quick = true;
#ifndef NDEBUG
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module_, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
  }
  llvm::Module& optimized() {
    run_on(module_, &log_, kOptimizeLlvm, [&] { backend_->optimize(module_); });
    return module_;
  }
  /// One file of the whole module.
  Object emit(llvm::CodeGenFileType type) {
    optimized();
    const llvm::CodeGenOptLevel level = level_for(module_, options_);
    if (type == llvm::CodeGenFileType::ObjectFile) return emit_object(backend_, module_, log_, level);
    return backend_->emit(module_, type, level);
  }
  bool is_scalar() const { return scalar_; }
  bool is_quick() const { return options_.quick; }
  PassLog& log() { return log_; }
  /// The libraries that hold the functions of lib/math that the module declares.
  Session::Libraries libraries(Session& session) {
    Stopwatch stopwatch;
    auto found = session.math().libraries_for(module_, target_, options_, [&](llvm::Module& functions) {
      backend_->optimize(functions);
      return backend_->emit(functions, llvm::CodeGenFileType::ObjectFile, llvm::CodeGenOptLevel::Default);
    });
    log_.add(kMathLibrary, stopwatch.lap());
    return found;
  }
  /// The objects of the partitions of the module.
  std::vector<Object> objects();

 private:
  std::vector<Object> objects_of(const Partitions& partitions);

  CodegenOptions options_;
  PassLog own_log_;
  PassLog& log_;
  TargetInfo target_;
  Borrowed backend_;
  LlvmOwned<OwnModule> owned_;
  llvm::Module& module_;
  bool scalar_ = false;
};

// Compiles one partition in a separate context, on any thread.
struct PartitionTask {
  const CodegenOptions& options;
  const TargetInfo& target;
  const std::string& text;
  PassLog log;
  Object object = {};
  std::exception_ptr exception = nullptr;

  void run() noexcept {
    const DefaultFloatingPointMode mode;
    try {
      inside_llvm([this] { make_object(); });
    } catch (...) {
      exception = std::current_exception();
    }
  }

 private:
  void make_object() {
    Stopwatch stopwatch;
    const auto context = make_llvm_owned<llvm::LLVMContext>();
    context->setDiscardValueNames(true);
    throw_errors_of(*context);
    const LlvmOwned<llvm::Module> module(read_partition(text, *context));
    const Borrowed backend(target, options.sanitize);
    log.add(kPartition, stopwatch.lap());
    run_on(*module, &log, kOptimizeLlvm, [&] { backend->optimize(*module); });
    object = emit_object(backend, *module, log, level_for(*module, options));
  }
};

std::vector<Object> Compilation::objects() {
  const Partitions partitions = partition_functions(module_);
  if (partitions.size() > 1) return objects_of(partitions);
  optimized();
  std::vector<Object> one;
  one.push_back(emit_object(backend_, module_, log_, level_for(module_, options_)));
  return one;
}

std::vector<Object> Compilation::objects_of(const Partitions& partitions) {
  Stopwatch stopwatch;
  const std::vector<std::string> texts = extract_partitions(module_, partitions);
  log_.add(kPartition, stopwatch.lap());
  std::vector<PartitionTask> tasks;
  for (const std::string& text : texts) tasks.push_back({options_, target_, text, log_.empty_copy()});
  const auto body = [](void* all, int64_t begin, int64_t end) {
    auto& list = *static_cast<std::vector<PartitionTask>*>(all);
    for (int64_t i = begin; i < end; ++i) list[static_cast<size_t>(i)].run();
  };
  const auto count = static_cast<int64_t>(tasks.size());
  if (options_.parallel_for) {
    options_.parallel_for(nullptr, count, 1, body, &tasks);
  } else {
    for (PartitionTask& task : tasks) {
      if (options_.between_modules) options_.between_modules();
      task.run();
    }
  }
  for (const PartitionTask& task : tasks) log_.append(task.log);
  std::vector<Object> objects;
  for (PartitionTask& task : tasks) {
    if (task.exception) std::rethrow_exception(task.exception);
    objects.push_back(std::move(task.object));
  }
  return objects;
}

std::string emitted(const kernel::Program& program, const CodegenOptions& options, llvm::CodeGenFileType type) {
  return inside_llvm([&] {
    const auto bytes = Compilation(program, options).emit(type);
    return std::string(bytes.data(), bytes.size());
  });
}

// Code for another processor could fail with an illegal instruction.
void check_runs_here(const TargetInfo& target) {
  const TargetInfo host = resolve_target({"native", ""});
  if (target.triple != host.triple) throw CompileError("compile: code for " + target.triple + " cannot run here");
  if (target.cpu == host.cpu && target.features == host.features) return;
  std::vector<std::string> missing;
  std::ranges::set_difference(target.instruction_sets, host.instruction_sets, std::back_inserter(missing));
  if (missing.empty()) return;
  constexpr size_t kMost = 6;
  std::string text;
  for (size_t i = 0; i < std::min(missing.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + missing[i];
  if (missing.size() > kMost) text += " and " + std::to_string(missing.size() - kMost) + " more";
  throw CompileError("compile: this processor (" + host.cpu + ") cannot run code for " + target.cpu + ", it lacks " +
                     text + "; set CALQUE_CPU to native, or to a CPU of no more than this one has, such as x86-64");
}

}  // namespace

std::span<const PassInfo> codegen_passes() { return kPasses; }

std::shared_ptr<const CompiledProgram> compile(const kernel::Program& program, const CodegenOptions& options) {
  check_runs_here(resolve_target(options.target));
  return inside_llvm([&] {
    Session& session = Session::instance();
    if (options.sanitize) session.add_sanitizer();
    CodegenOptions linking = options;
    linking.shares_functions = !options.sanitize;
    Compilation compilation(program, linking);
    const Session::Libraries libraries = compilation.libraries(session);
    std::vector<Object> objects = compilation.objects();
    if (options.image) {
      options.image->scalar = compilation.is_scalar();
      for (const Object& object : objects) options.image->objects.emplace_back(object.begin(), object.end());
    }
    Stopwatch stopwatch;
    auto linked = std::make_shared<LinkedProgram>(std::move(objects), compilation.is_scalar(), compilation.is_quick(),
                                                  session, libraries);
    compilation.log().add(kLink, stopwatch.lap());
    return linked;
  });
}

std::shared_ptr<const CompiledProgram> link(const CodeImage& image, const CodegenOptions& options) {
  return inside_llvm([&] {
    Session& session = Session::instance();
    const Session::Libraries libraries = session.math().libraries_for(image, options);
    std::vector<Object> objects;
    for (const std::string& object : image.objects) objects.emplace_back(object.begin(), object.end());
    return std::make_shared<LinkedProgram>(std::move(objects), image.scalar, options.quick, session, libraries);
  });
}

bool can_compile() { return !llvm_has_ended(); }

void forget_other_threads() noexcept { forget_threads_inside_llvm(); }

std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

std::string llvm_ir(const kernel::Program& program, const CodegenOptions& options) {
  return inside_llvm([&] {
    Compilation compilation(program, options);
    std::string text;
    llvm::raw_string_ostream out(text);
    compilation.optimized().print(out, nullptr);
    return text;
  });
}

std::string assembly(const kernel::Program& program, const CodegenOptions& options) {
  return emitted(program, options, llvm::CodeGenFileType::AssemblyFile);
}

std::string object(const kernel::Program& program, const CodegenOptions& options) {
  return emitted(program, options, llvm::CodeGenFileType::ObjectFile);
}

}  // namespace calque::codegen
