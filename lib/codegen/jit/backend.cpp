// From LLVM IR to running code. Back ends (a target machine with its pass pipeline) are dear to make, so they wait in a
// pool between compilations; every compilation has an LLVMContext of its own. Linked code belongs to a JITDylib that is
// removed with its CompiledProgram. One ORC session serves the process and is never destroyed.
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
#include "codegen/llvm/target.h"
#include "codegen/scalar/math_functions.h"
#include "ir/stopwatch.h"

namespace calque::codegen {

namespace {

// A module with a basic block longer than this is straight code more than loops: less is tried on it.
constexpr size_t kStraight = 500;

bool is_passing(const llvm::Module& module) {
  return std::all_of(module.begin(), module.end(),
                     [](const llvm::Function& f) { return f.isDeclaration() || only_passes_on(f); });
}

// Straight code of which calls are so large a part spends its time in them: registers hardly matter between two calls.
bool is_mostly_calls(const llvm::Module& module) {
  constexpr size_t kLong = 64, kPart = 4;
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
  return straight * 10 >= all * 9 && calls * kPart >= straight;
}

llvm::CodeGenOptLevel level_for(const llvm::Module& module, const CodegenOptions& options) {
  if (options.quick || is_passing(module)) return llvm::CodeGenOptLevel::None;
  // Reciprocals are estimated by what optimizes.
  if (!options.fast_math && is_mostly_calls(module)) return llvm::CodeGenOptLevel::None;
  size_t longest = 0;
  for (const llvm::Function& f : module)
    for (const llvm::BasicBlock& block : f) longest = std::max(longest, block.size());
  return longest > kStraight ? llvm::CodeGenOptLevel::Less : llvm::CodeGenOptLevel::Default;
}

// A target machine and the passes run before it.
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
  llvm::FunctionPassManager passes_, one_block_;  ///< the second of functions of one block
  llvm::ModulePassManager sanitizing_;
  std::unique_ptr<MachinePasses> objects_[3];  ///< by level, kept from one module to the next
  llvm::ModulePassManager calls_;              ///< inlines calls that are marked so
  llvm::ModulePassManager inlining_;           ///< before them, where kernels become part of a scalar entry
};

// LLVM is called only once somebody owns the object: half set up, it is as untouchable as one that was in use.
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
  // The emitter makes SSA form and rotated loops; what is left is redundancy: index arithmetic, splats of invariants.
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  // What only a rare branch needs is computed there.
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

// A scalar entry is inlined with its kernels, in one go.
void Backend::inline_functions(llvm::Module& module) {
  if (module.getFunction(kScalarEntryName) || std::none_of(module.begin(), module.end(), is_math_function)) return;
  calls_.run(module, analyses_.modules);
  remove_unused_math(module);
}

void Backend::optimize(llvm::Module& module) {
  if (is_passing(module)) return;
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
  // Making passes leaves the machine as the last ones made want it.
  // Of a select of a loaded double it makes a blend that reads sixteen bytes: only for code that passes pointers on.
  machine_->setFastISel(is_passing(module));
  with.bytes.clear();
  with.passes.run(module);
  return Object(with.bytes.begin(), with.bytes.end());
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
    return Backend::make(info, sanitize);
  }
  void give(const TargetInfo& info, bool sanitize, std::unique_ptr<Backend> backend) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_[key(info, sanitize)];
      if (idle.size() < kKept) idle.push_back(std::move(backend));
    } catch (const std::bad_alloc&) {  // then it goes
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
  LinkedProgram(std::vector<Object> objects, bool scalar, Session& session, const Session::Libraries& libraries)
      : bytes_(bytes_of(objects)),
        linked_(std::move(objects), scalar ? kScalarEntryName : kEntryName, session, libraries) {
    if (scalar) {
      scalar_entry_ = linked_.address();
    } else {
      entry_ = reinterpret_cast<Entry>(linked_.address());
    }
  }
  Entry entry() const override { return entry_; }
  const void* scalar_entry() const override { return scalar_entry_; }
  size_t bytes() const override { return bytes_; }

 private:
  static size_t bytes_of(const std::vector<Object>& objects) {
    // Pages that segments do not fill, and the linker's tables; measured.
    constexpr size_t kLinked = size_t{24} << 10;
    size_t bytes = 0;
    for (const Object& object : objects) bytes += kLinked + object.size();
    return bytes;
  }

  size_t bytes_;
  Linked linked_;
  Entry entry_ = nullptr;
  const void* scalar_entry_ = nullptr;
};

// A back end from the pool and back.
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

// A module in a context of its own.
struct OwnModule {
  explicit OwnModule(const std::string& name) : module(name, context) {
    context.setDiscardValueNames(true);
    throw_errors_of(context);
  }
  llvm::LLVMContext context;
  llvm::Module module;
};

// One compilation: emits the module.
class Compilation {
 public:
  Compilation(const kernel::Program& program, const CodegenOptions& options, CodegenTimes& times)
      : options_(options),
        times_(times),
        target_(resolve_target(options.target)),
        backend_(target_, options.sanitize),
        owned_(make_llvm_owned<OwnModule>(program.name)),
        module_(owned_->module) {
    Stopwatch stopwatch;
    module_.setTargetTriple(llvm::Triple(target_.triple));
    module_.setDataLayout(backend_->machine().createDataLayout());
    emit_program(module_, target_, options, program);
    scalar_ = module_.getFunction(kScalarEntryName) != nullptr;
    MathFunctions(module_, target_, options).pair_sines();
    backend_->inline_functions(module_);
    outline(module_);
    times_.ir += stopwatch.lap();
#ifndef NDEBUG
    std::string text;
    llvm::raw_string_ostream out(text);
    if (llvm::verifyModule(module_, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
  }
  llvm::Module& optimized() {
    Stopwatch stopwatch;
    backend_->optimize(module_);
    times_.passes += stopwatch.lap();
    return module_;
  }
  /// One file of all.
  Object emit(llvm::CodeGenFileType type) {
    optimized();
    Stopwatch stopwatch;
    Object object = backend_->emit(module_, type, level_for(module_, options_));
    times_.machine += stopwatch.lap();
    return object;
  }
  bool is_scalar() const { return scalar_; }
  /// Where the functions of lib/math are that the module declares.
  Session::Libraries libraries(Session& session) {
    Stopwatch stopwatch;
    auto found = session.math().libraries_for(module_, target_, options_, [&](llvm::Module& functions) {
      backend_->optimize(functions);
      return backend_->emit(functions, llvm::CodeGenFileType::ObjectFile, llvm::CodeGenOptLevel::Default);
    });
    times_.machine += stopwatch.lap();
    return found;
  }
  /// Objects of the parts of the module.
  std::vector<Object> objects();

 private:
  std::vector<Object> objects_of(const Parts& parts);

  const CodegenOptions& options_;
  CodegenTimes& times_;
  TargetInfo target_;
  Borrowed backend_;
  LlvmOwned<OwnModule> owned_;
  llvm::Module& module_;
  bool scalar_ = false;
};

// One part in a context of its own, on any thread.
struct PartTask {
  const CodegenOptions& options;
  const TargetInfo& target;
  const std::string& text;
  Object object = {};
  CodegenTimes times = {};
  std::exception_ptr exception = nullptr;

  void run() noexcept {
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
    const LlvmOwned<llvm::Module> module(read_part(text, *context));
    const Borrowed backend(target, options.sanitize);
    times.ir = stopwatch.lap();
    backend->optimize(*module);
    times.passes = stopwatch.lap();
    object = backend->emit(*module, llvm::CodeGenFileType::ObjectFile, level_for(*module, options));
    times.machine = stopwatch.lap();
  }
};

std::vector<Object> Compilation::objects() {
  const Parts parts = parts_of(module_);
  times_.modules = static_cast<int>(parts.size());
  if (parts.size() > 1) return objects_of(parts);
  std::vector<Object> one;
  one.push_back(emit(llvm::CodeGenFileType::ObjectFile));
  return one;
}

std::vector<Object> Compilation::objects_of(const Parts& parts) {
  Stopwatch stopwatch;
  const std::vector<std::string> texts = separate(module_, parts);
  times_.ir += stopwatch.lap();
  std::vector<PartTask> tasks;
  for (const std::string& text : texts) tasks.push_back({options_, target_, text});
  const auto body = [](void* all, int64_t begin, int64_t end) {
    auto& list = *static_cast<std::vector<PartTask>*>(all);
    for (int64_t i = begin; i < end; ++i) list[static_cast<size_t>(i)].run();
  };
  const auto count = static_cast<int64_t>(tasks.size());
  if (options_.parallel_for) {
    options_.parallel_for(nullptr, count, 1, body, &tasks);
  } else {
    body(&tasks, 0, count);
  }
  std::vector<Object> objects;
  for (PartTask& task : tasks) {
    if (task.exception) std::rethrow_exception(task.exception);
    times_.ir += task.times.ir;
    times_.passes += task.times.passes;
    times_.machine += task.times.machine;
    objects.push_back(std::move(task.object));
  }
  return objects;
}

std::string emitted(const kernel::Program& program, const CodegenOptions& options, llvm::CodeGenFileType type) {
  return inside_llvm([&] {
    CodegenTimes times;
    const auto bytes = Compilation(program, options, times).emit(type);
    return std::string(bytes.data(), bytes.size());
  });
}

// Code for a processor that this one is not would end in an illegal instruction.
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

std::shared_ptr<const CompiledProgram> compile(const kernel::Program& program, const CodegenOptions& options,
                                               CodegenTimes* times) {
  check_runs_here(resolve_target(options.target));
  return inside_llvm([&] {
    Session& session = Session::instance();
    if (options.sanitize) session.add_sanitizer();
    CodegenTimes mine;
    CodegenTimes& t = times ? *times : mine;
    CodegenOptions linking = options;
    linking.shares_functions = !options.sanitize;
    Compilation compilation(program, linking, t);
    const Session::Libraries libraries = compilation.libraries(session);
    std::vector<Object> objects = compilation.objects();
    Stopwatch stopwatch;
    auto linked = std::make_shared<LinkedProgram>(std::move(objects), compilation.is_scalar(), session, libraries);
    t.link += stopwatch.lap();
    return linked;
  });
}

bool can_compile() { return !llvm_has_ended(); }

std::string llvm_version() { return LLVM_VERSION_STRING; }

std::string llvm_ir(const kernel::Program& program, const CodegenOptions& options) {
  return inside_llvm([&] {
    CodegenTimes times;
    Compilation compilation(program, options, times);
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
