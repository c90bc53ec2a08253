#include "codegen/jit/compilation.h"

#include <exception>

#include "calque/ir/errors.h"

#include "codegen/cpu/entry.h"
#include "codegen/cpu/inline_kernel.h"
#include "codegen/cpu/outline.h"
#include "codegen/jit/math_library.h"
#include "codegen/jit/optimization_level.h"
#include "codegen/llvm/module_pass.h"
#include "codegen/llvm/watched.h"
#include "codegen/scalar/math_functions.h"
#include "ir/floating_point_mode.h"
#include "ir/stopwatch.h"
#include "kernel/schedule_cpu/schedule_cpu.h"

namespace calque::codegen {

namespace {

constexpr std::string_view kEmitLlvm = "emit-llvm", kPairSincos = "pair-sincos", kInlineMath = "inline-math",
                           kOutline = "outline", kMathLibrary = "math-library", kPartition = "partition",
                           kOptimizeLlvm = "optimize-llvm", kInlineSmallKernel = "inline-small-kernel";

constexpr PassInfo kPasses[] = {
    {kEmitLlvm, "emits LLVM IR of the kernels and the entry"},
    {kPairSincos, "computes the sine and the cosine of one value together"},
    {kInlineMath, "inlines the common paths of mathematical functions"},
    {kOutline, "splits long basic blocks into functions"},
    {kMathLibrary, "compiles the mathematical functions that the process does not have yet"},
    {kPartition, "partitions a large module"},
    {kOptimizeLlvm, "LLVM's EarlyCSE, InstCombine, SimplifyCFG, LICM and Sinking, then masks and contraction"},
    {kInlineSmallKernel, "moves a short kernel that is the only one into the entry"},
    {kMachineCodePass, "instruction selection, scheduling, register allocation, object file"},
    {kLinkPass, "links the objects into the process"},
};

void run_inline_small_kernel(llvm::Module& module, PassLog& log) {
  run_on(module, &log, kInlineSmallKernel, [&] { inline_small_kernel(module); });
}

// Makes the object of a module and records it; the text is the assembly.
Object emit_object(const BorrowedBackend& backend, llvm::Module& module, PassLog& log, llvm::CodeGenOptLevel level) {
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

// Compiles one partition in a separate context, on any thread.
struct PartitionTask {
  const CodegenOptions& options;
  const TargetInfo& target;
  const std::string& text;
  PassLog log;
  Object object = {};
  std::exception_ptr exception = nullptr;

  void run() noexcept {
    const NoForkOfCaller part;
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
    const BorrowedBackend backend(target, options.sanitize);
    log.add(kPartition, stopwatch.lap());
    const Watched watched(options.watch, *module);
    run_on(*module, &log, kOptimizeLlvm, [&] { backend->optimize(*module); });
    const llvm::CodeGenOptLevel level = level_for(*module, options);
    run_inline_small_kernel(*module, log);
    object = emit_object(backend, *module, log, level);
  }
};

}  // namespace

std::span<const PassInfo> codegen_passes() { return kPasses; }

Compilation::Compilation(const kernel::Program& program, const CodegenOptions& options)
    : options_(options),
      log_(options.log != nullptr ? *options.log : own_log_),
      target_(resolve_target(options.target)),
      backend_(target_, options.sanitize),
      owned_(make_llvm_owned<OwnModule>(program.name)),
      module_(owned_->module) {
  module_.setTargetTriple(llvm::Triple(target_.triple));
  module_.setDataLayout(backend_->machine().createDataLayout());
  const kernel::Program scheduled =
      kernel::schedule_for_cpu(program, limits_of(target_, options.strict), &log_, options.scheduled_after);
  run_on(module_, &log_, kEmitLlvm, [&] { emit_program(module_, target_, options, scheduled); });
  scalar_ = module_.getFunction(kScalarEntryName) != nullptr;
  run_on(module_, &log_, kPairSincos, [&] { MathFunctions(module_, target_, options).pair_sines(); });
  run_on(module_, &log_, kInlineMath, [&] { backend_->inline_functions(module_); });
  run_on(module_, &log_, kOutline, [&] { outline(module_); });
  if (options_.quick_if_large && is_large(module_)) options_.quick = true;
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module_, &out)) throw CompileError("compile: malformed LLVM IR: " + text);
#endif
}

llvm::Module& Compilation::optimized() {
  run_on(module_, &log_, kOptimizeLlvm, [&] { backend_->optimize(module_); });
  return module_;
}

Object Compilation::emit(llvm::CodeGenFileType type) {
  const Watched watched(options_.watch, module_);
  optimized();
  const llvm::CodeGenOptLevel level = level_for(module_, options_);
  run_inline_small_kernel(module_, log_);
  if (type == llvm::CodeGenFileType::ObjectFile) return emit_object(backend_, module_, log_, level);
  return backend_->emit(module_, type, level);
}

Session::Libraries Compilation::libraries(Session& session) {
  Stopwatch stopwatch;
  auto found = session.math().libraries_for(module_, target_, options_, [&](llvm::Module& functions) {
    const Watched watched(options_.watch, functions);
    backend_->optimize(functions);
    return backend_->emit(functions, llvm::CodeGenFileType::ObjectFile, llvm::CodeGenOptLevel::Default);
  });
  log_.add(kMathLibrary, stopwatch.lap());
  return found;
}

std::vector<Object> Compilation::objects() {
  const Partitions partitions = partition_functions(module_);
  if (partitions.size() > 1) return objects_of(partitions);
  const Watched watched(options_.watch, module_);
  optimized();
  const llvm::CodeGenOptLevel level = level_for(module_, options_);
  run_inline_small_kernel(module_, log_);
  std::vector<Object> one;
  one.push_back(emit_object(backend_, module_, log_, level));
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

}  // namespace calque::codegen
