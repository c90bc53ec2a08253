// Linked code belongs to a JITDylib that is removed with its CompiledProgram.
#include "codegen/jit/session.h"

#include <cmath>
#include <cstring>

#include <dlfcn.h>

#include "calque/ir/errors.h"

#include "codegen/jit/math_library.h"
#include "codegen/llvm/llvm_errors.h"
#include "codegen/llvm/llvm_linker.h"
#include "codegen/scalar/math_functions.h"
#include "math/evaluate.h"

#ifdef __x86_64__
// Conversions of f16 from the compiler's runtime library; only their addresses are taken.
extern "C" {
void __truncdfhf2();
void __truncsfhf2();
void __extendhfsf2();
}
#endif

namespace calque::codegen {

void fail(llvm::Error error, const char* what) {
  throw CompileError("compile: " + std::string(what) + ": " + llvm::toString(std::move(error)));
}

namespace {

void evaluate_f32(uint32_t id, uint32_t fused, uint32_t n, float* x, const float* y) {
  const math::MathForms forms{.fused = fused != 0, .estimates = false};
  for (uint32_t i = 0; i < n; ++i) x[i] = math::evaluate_f32(static_cast<PrimitiveId>(id), forms, x[i], y[i]);
}
void evaluate_f64(uint32_t id, uint32_t fused, uint32_t n, double* x, const double* y) {
  const math::MathForms forms{.fused = fused != 0, .estimates = false};
  for (uint32_t i = 0; i < n; ++i) x[i] = math::evaluate_f64(static_cast<PrimitiveId>(id), forms, x[i], y[i]);
}

constinit ForkMutex session_mutex;
constinit Session* session = nullptr;

}  // namespace

Session::Session() : math_(std::make_unique<MathLibrary>(*this)) {}
Session::~Session() = default;

Session& Session::instance() {
  const std::lock_guard lock(session_mutex);
  if (session == nullptr) {
    session = inside_llvm([] {
      LlvmOwned<Session> made(std::unique_ptr<Session>(new Session));
      made->set_up();
      return made.release().release();
    });
  }
  return *session;
}

void Session::abandon() noexcept {
  abandoned_ = true;
  keep_for_good(this);
  const std::lock_guard lock(session_mutex);
  if (session == this) session = nullptr;
}

void Session::remove(llvm::orc::JITDylib& library) { report(session_->removeJITDylib(library)); }

void Session::unlink(llvm::orc::JITDylib& library) noexcept {
  if (abandoned_ || llvm_has_ended()) return;
  try {
    inside_llvm([&] { remove(library); });
  } catch (...) {
    abandon();
  }
}

// Defines the functions that generated code may call: block copies, the functions of libm for targets without the
// instruction, and those of lib/math.
void Session::set_up() {
  auto control =
      llvm::orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!control) fail(control.takeError(), "no executor");
  session_ = std::make_unique<llvm::orc::ExecutionSession>(std::move(*control));
  // The linker reports its errors here, on the thread that links; the error of a lookup says only that it failed.
  session_->setErrorReporter([](llvm::Error error) { reasons() += "; " + llvm::toString(std::move(error)); });
  layer_ = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session_);
  runtime_ = &session_->createBareJITDylib("calque.runtime");
  llvm::orc::SymbolMap symbols;
  const auto define = [&](const char* name, auto* function) {
    symbols[session_->intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                       llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  define("memcpy", static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy));
  define("memmove", static_cast<void* (*)(void*, const void*, size_t)>(std::memmove));
  define("memset", static_cast<void* (*)(void*, int, size_t)>(std::memset));
  using Single1 = float (*)(float);
  using Double1 = double (*)(double);
  define("fma", static_cast<double (*)(double, double, double)>(::fma));
  define("fmaf", static_cast<float (*)(float, float, float)>(::fmaf));
  define("floor", static_cast<Double1>(::floor));
  define("floorf", static_cast<Single1>(::floorf));
  define("ceil", static_cast<Double1>(::ceil));
  define("ceilf", static_cast<Single1>(::ceilf));
  define("trunc", static_cast<Double1>(::trunc));
  define("truncf", static_cast<Single1>(::truncf));
  define("roundeven", static_cast<Double1>(::rint));
  define("roundevenf", static_cast<Single1>(::rintf));
  define("round", static_cast<Double1>(::round));
  define("roundf", static_cast<Single1>(::roundf));
#ifdef __x86_64__
  define("__truncdfhf2", __truncdfhf2);
  define("__truncsfhf2", __truncsfhf2);
  define("__extendhfsf2", __extendhfsf2);
#endif
  define(kEvaluateF32, evaluate_f32);
  define(kEvaluateF64, evaluate_f64);
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

llvm::orc::JITDylib& Session::link(std::vector<Object> objects, const char* name, void*& entry,
                                   const Libraries& libraries) {
  if (abandoned_) throw CompileError("compile: the linker was left by an error of another compilation; call again");
  llvm::orc::JITDylib* library = nullptr;
  std::string problem;
  try {
    inside_llvm([&] { library = link_objects(std::move(objects), name, entry, libraries, problem); });
  } catch (...) {
    abandon();
    throw;
  }
  if (library == nullptr) throw CompileError("compile: linking failed" + problem);
  return *library;
}

llvm::orc::JITDylib* Session::link_objects(std::vector<Object> objects, const char* name, void*& entry,
                                           const Libraries& libraries, std::string& problem) {
  llvm::orc::JITDylib& library = session_->createBareJITDylib("calque." + std::to_string(count_++));
  library.addToLinkOrder(*runtime_);
  for (llvm::orc::JITDylib* other : libraries) library.addToLinkOrder(*other);
  reasons().clear();
  llvm::Error error = llvm::Error::success();
  for (size_t i = 0; i < objects.size(); ++i) {
    // Initializers of an object, such as those of AddressSanitizer, are identified by its name.
    const std::string object = "calque" + std::to_string(i);
    auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(objects[i]), object, false);
    if (!error) error = layer_->add(library, std::move(buffer));
  }
  if (!error) {
    auto found = session_->lookup({&library}, session_->intern(name));
    if (found) {
      entry = found->getAddress().toPtr<void*>();
      return &library;
    }
    error = found.takeError();
  }
  problem = reasons() + ": " + llvm::toString(std::move(error));
  remove(library);
  return nullptr;
}

}  // namespace calque::codegen
