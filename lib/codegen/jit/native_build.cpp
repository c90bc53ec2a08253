// From a scheduled program to machine code. Back ends (a target machine with its passes over LLVM IR) are expensive to
// construct, so a pool keeps them between builds; every build has a separate LLVMContext, and so has every partition.
#include "codegen/native_build.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>

#include "calque/ir/errors.h"

#include "codegen/cpu/entry.h"
#include "codegen/cpu/inline_kernel.h"
#include "codegen/cpu/outline.h"
#include "codegen/cpu/partition_module.h"
#include "codegen/jit/math_library.h"
#include "codegen/jit/native_state.h"
#include "codegen/jit/optimization_level.h"
#include "codegen/llvm/module_pass.h"
#include "codegen/llvm/read_llvm_ir.h"
#include "codegen/llvm/watched.h"
#include "codegen/scalar/math_functions.h"
#include "ir/floating_point_mode.h"
#include "ir/stopwatch.h"

namespace calque::codegen {

namespace {

using Form = CodegenOptions::Form;

constexpr std::string_view kEmitLlvm = "emit-llvm", kPairSincos = "pair-sincos", kInlineMath = "inline-math",
                           kOutline = "outline", kMathLibrary = "math-library", kPartition = "partition",
                           kOptimizeLlvm = "optimize-llvm", kJoinKernels = "join-kernels",
                           kInlineSmallKernel = "inline-small-kernel", kLink = "link";

constexpr NativePass kPasses[] = {
    {.info = {kEmitLlvm, "emits LLVM IR of the kernels and the entry"},
     .run = [](NativeBuild::State& s) { s.emit_llvm(); }},
    {.info = {kPairSincos, "computes the sine and the cosine of one value together"},
     .run = [](NativeBuild::State& s) { s.pair_sincos(); }},
    {.info = {kInlineMath, "inlines the common paths of mathematical functions"},
     .run = [](NativeBuild::State& s) { s.inline_math(); }},
    {.info = {kOutline, "splits long basic blocks into functions, of which similar ones are merged"},
     .run = [](NativeBuild::State& s) { s.outline(); }},
    {.info = {kMathLibrary, "compiles the mathematical functions that the process does not have yet"},
     .run = [](NativeBuild::State& s) { s.add_math_library(); },
     .only_for_process = true},
    {.info = {kPartition, "partitions a large module"},
     .run = [](NativeBuild::State& s) { s.partition(); },
     .only_for_process = true},
    {.info = {kOptimizeLlvm, "LLVM's EarlyCSE, InstCombine, SimplifyCFG, LICM and Sinking, then masks and contraction"},
     .run_on_module = [](NativeModule& m) { m.optimize(); }},
    {.info = {kJoinKernels, "moves short kernels that run one after another into one function"},
     .run_on_module = [](NativeModule& m) { m.join_kernels(); }},
    {.info = {kInlineSmallKernel, "moves a short kernel that is the only one into the entry"},
     .run_on_module = [](NativeModule& m) { m.inline_small_kernel(); }},
    {.info = {kMachineCodePass, "instruction selection, scheduling, register allocation, object file"},
     .run_on_module = [](NativeModule& m) { m.make_machine_code(); }},
    {.info = {kLink, "links the objects into the process"},
     .run = [](NativeBuild::State& s) { s.link(); },
     .only_for_process = true},
};

// The LLVM instructions of a missing function of lib/math with its general body, about.
constexpr size_t kMathInstructions = 200;

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

TargetInfo checked_target(const CodegenOptions& options) {
  TargetInfo target = resolve_target(options.target);
  if (options.form == Form::process) check_runs_here(target);
  return target;
}

using Passes = std::span<const NativePass>;

void run_over(NativeModule& module, const llvm::Module& watched_module, CodegenWatch* watch, Passes passes) {
  const Watched watched(watch, watched_module);
  for (const NativePass& pass : passes) pass.run_on_module(module);
}

// A part of the work on a build that any thread may do.
class Task {
 public:
  Task(PassLog log, std::function<void(PassLog&)> work) : log_(std::move(log)), work_(std::move(work)) {}

  void run() noexcept {
    const NoForkOfCaller part;
    const DefaultFloatingPointMode mode;
    try {
      inside_llvm([this] { work_(log_); });
    } catch (...) {
      exception_ = std::current_exception();
    }
  }
  const PassLog& log() const { return log_; }
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  PassLog log_;
  std::function<void(PassLog&)> work_;
  std::exception_ptr exception_ = nullptr;
};

void run_tasks(const CodegenOptions& options, PassLog& log, std::vector<Task> tasks) {
  const auto body = [](void* all, int64_t begin, int64_t end) {
    auto& list = *static_cast<std::vector<Task>*>(all);
    for (int64_t i = begin; i < end; ++i) list[static_cast<size_t>(i)].run();
  };
  if (options.parallel_for) {
    options.parallel_for(nullptr, static_cast<int64_t>(tasks.size()), 1, body, &tasks);
  } else {
    for (Task& task : tasks) {
      if (options.between_modules) options.between_modules();
      task.run();
    }
  }
  for (const Task& task : tasks) log.append(task.log());
  for (const Task& task : tasks) task.rethrow();
}

// The object of a partition, in a separate context.
Object partition_object(const NativeBuild::State& s, const std::string& text, Passes passes, PassLog& log) {
  Stopwatch stopwatch;
  const auto context = make_llvm_owned<llvm::LLVMContext>();
  context->setDiscardValueNames(true);
  throw_errors_of(*context);
  const LlvmOwned<llvm::Module> module(read_partition(text, *context));
  const BorrowedBackend backend(s.target, s.options.sanitize);
  log.add(kPartition, stopwatch.lap());
  NativeModule part(s.options, *module, backend, log);
  run_over(part, *module, s.options.watch, passes);
  return std::move(part.object());
}

// The whole module or its partitions, and at the same time the functions of lib/math that the process lacks.
void run_over_modules(NativeBuild::State& s, Passes passes) {
  std::vector<Task> tasks;
  std::vector<Object> objects(s.partitions.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    tasks.emplace_back(s.log.empty_copy(), [&s, &objects, passes, i](PassLog& log) {
      objects[i] = partition_object(s, s.partitions[i], passes, log);
    });
  }
  if (objects.empty()) {
    tasks.emplace_back(s.log.empty_copy(),
                       [&s, passes](PassLog&) { run_over(s.whole, s.module, s.options.watch, passes); });
  }
  if (!s.libraries) tasks.emplace_back(s.log.empty_copy(), [&s](PassLog& log) { s.compile_math(log); });
  run_tasks(s.options, s.log, std::move(tasks));
  for (Object& object : objects) s.objects.push_back(std::move(object));
}

}  // namespace

// ---- passes over a module

void NativeModule::optimize() {
  run_on(module_, &log_, kOptimizeLlvm, [&] { backend_->optimize(module_, options_.quick); });
  level_ = level_for(module_, options_);
}

void NativeModule::join_kernels() {
  if (!level_) level_ = level_for(module_, options_);
  run_on(module_, &log_, kJoinKernels, [&] { backend_->join_kernels(module_, options_.quick); });
}

void NativeModule::inline_small_kernel() {
  if (!level_) level_ = level_for(module_, options_);
  run_on(module_, &log_, kInlineSmallKernel, [&] { codegen::inline_small_kernel(module_); });
}

// The text is the assembly.
void NativeModule::make_machine_code() {
  if (!level_) level_ = level_for(module_, options_);
  std::string assembly;
  if (log_.keeps_text(kMachineCodePass)) {
    const auto copy = llvm::CloneModule(module_);
    const Object text = backend_->emit(*copy, llvm::CodeGenFileType::AssemblyFile, *level_);
    assembly.assign(text.begin(), text.end());
  }
  Stopwatch stopwatch;
  const bool is_assembly = options_.form == Form::assembly;
  const auto type = is_assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  object_ = backend_->emit(module_, type, *level_);
  log_.add(kMachineCodePass, stopwatch.lap(), PassLog::Over::part, [&](std::ostream& out) { out << assembly; });
}

// ---- passes over the build

NativeBuild::State::State(const kernel::Program* scheduled, const std::string& name, const CodegenOptions& how)
    : program(scheduled),
      options(how),
      log(how.log != nullptr ? *how.log : own_log),
      target(checked_target(how)),
      backend(target, how.sanitize),
      owned(make_llvm_owned<OwnModule>(name)),
      module(owned->module),
      whole(options, module, backend, log) {
  module.setTargetTriple(llvm::Triple(target.triple));
  module.setDataLayout(backend->machine().createDataLayout());
  if (options.form == Form::process && options.sanitize) Session::instance().add_sanitizer();
}

void NativeBuild::State::read(const std::string& llvm_ir) {
  read_llvm_ir(module, llvm_ir);
  module.setTargetTriple(llvm::Triple(target.triple));
  module.setDataLayout(backend->machine().createDataLayout());
  is_scalar = module.getFunction(kScalarEntryName) != nullptr;
}

void NativeBuild::State::emit_llvm() {
  run_on(module, &log, kEmitLlvm, [&] { emit_program(module, target, options, *program); });
  is_scalar = module.getFunction(kScalarEntryName) != nullptr;
}

void NativeBuild::State::pair_sincos() {
  run_on(module, &log, kPairSincos, [&] { MathFunctions(module, target, options).pair_sines(); });
}

void NativeBuild::State::inline_math() {
  run_on(module, &log, kInlineMath, [&] { backend->inline_functions(module); });
}

void NativeBuild::State::outline() {
  run_on(module, &log, kOutline, [&] { codegen::outline(module); });
  if (instruction_count(module) > options.quick_above) options.quick = true;
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
}

// What the process lacks is compiled at the same time as the module.
void NativeBuild::State::add_math_library() {
  Stopwatch stopwatch;
  math = math_uses(module);
  MathLibrary& library = Session::instance().math();
  libraries = library.find(math, target, options);
  if (!libraries && !options.quick) {
    // They count as much as they are long, without measuring it: that would take as long as emitting them.
    if (instruction_count(module) + kMathInstructions * math.size() > options.quick_above) {
      options.quick = true;
      libraries = library.find(math, target, options);
    }
  }
  if (!libraries && options.quick && MathFunctions(module, target, options).call_widest()) {
    math = math_uses(module);
    libraries = library.find(math, target, options);
  }
  log.add(kMathLibrary, stopwatch.lap());
}

void NativeBuild::State::compile_math(PassLog& to) {
  Stopwatch stopwatch;
  const BorrowedBackend own(target, false);
  libraries = Session::instance().math().find_or_compile(math, target, options, own);
  to.add(kMathLibrary, stopwatch.lap());
}

void NativeBuild::State::partition() {
  const Partitions found = partition_functions(module);
  if (found.size() <= 1) return;
  Stopwatch stopwatch;
  partitions = extract_partitions(module, found);
  log.add(kPartition, stopwatch.lap());
}

void NativeBuild::State::link() {
  if (options.image) {
    options.image->scalar = is_scalar;
    options.image->quick = options.quick;
    for (const Object& object : objects) options.image->objects.emplace_back(object.begin(), object.end());
  }
  Stopwatch stopwatch;
  linked =
      std::make_shared<LinkedProgram>(std::move(objects), is_scalar, options.quick, Session::instance(), *libraries);
  log.add(kLink, stopwatch.lap());
}

// ---- the interface

Passes native_passes() { return kPasses; }

void run_native_passes(NativeBuild& build, Passes passes) {
  try {
    inside_llvm([&] {
      NativeBuild::State& s = *build.state_;
      if (passes.front().run != nullptr) return passes.front().run(s);
      if (s.partitions.empty() && s.libraries) {
        run_over(s.whole, s.module, s.options.watch, passes);
      } else {
        run_over_modules(s, passes);
      }
      if (!s.whole.object().empty()) s.objects.push_back(std::move(s.whole.object()));
    });
  } catch (...) {  // it may have passed through LLVM, whose objects are then never touched again
    build.state_->scope.reset();
    keep_for_good(build.state_.release());
    throw;
  }
}

NativeBuild::NativeBuild(const kernel::Program& program, const CodegenOptions& options)
    : state_(inside_llvm([&] { return std::make_unique<State>(&program, program.name, options); })) {}

NativeBuild::NativeBuild(const std::string& llvm_ir, const CodegenOptions& options)
    : state_(inside_llvm([&] {
        auto state = std::make_unique<State>(nullptr, "graph", options);
        state->read(llvm_ir);
        return state;
      })) {}

NativeBuild::~NativeBuild() = default;

std::string NativeBuild::llvm_ir() const {
  return inside_llvm([&] {
    std::string text;
    llvm::raw_string_ostream out(text);
    state_->module.print(out, nullptr);
    return text;
  });
}

std::string NativeBuild::file() const {
  const Object& object = state_->objects.at(0);
  return {object.begin(), object.end()};
}

std::shared_ptr<const CompiledProgram> NativeBuild::linked() const { return state_->linked; }

}  // namespace calque::codegen
