// Compiles LLVM IR to running code. Back ends (a target machine with its pass pipeline) are expensive to construct, so
// a pool keeps them between compilations; every compilation has a separate LLVMContext. Linked code belongs to a
// JITDylib that is removed with its CompiledProgram. One ORC session serves the process and is never destroyed.
#include <algorithm>
#include <iterator>

#include "calque/ir/errors.h"

#include "codegen/codegen.h"
#include "codegen/cpu/entry.h"
#include "codegen/jit/compilation.h"
#include "codegen/jit/math_library.h"
#include "codegen/jit/session.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/target.h"
#include "ir/stopwatch.h"

namespace calque::codegen {

namespace {

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

std::shared_ptr<const CompiledProgram> compile(const kernel::Program& program, const CodegenOptions& options) {
  const NoFork whole;
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
    compilation.log().add(kLinkPass, stopwatch.lap());
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
