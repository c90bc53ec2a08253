#include "compile/compile_log.h"

#include "runtime/process/log.h"

namespace calque::runtime {

void log_compilation(const std::string& title, const CompileReport& r) {
  if (!r.compiled || !logs_compilations()) return;
  const auto ms = [](double seconds) { return 1e3 * seconds; };
  compile_log().info(
      "{}: {} equations, {} kernels, {} modules: trace {:.3f}, key {:.3f}, simplify {:.3f}, plan {:.3f}, kernel IR "
      "{:.3f}, LLVM IR {:.3f}, passes {:.3f}, machine code {:.3f}, link {:.3f}, in all {:.3f} ms",
      title, r.equations, r.kernels, r.code.modules, ms(r.trace), ms(r.key), ms(r.simplify), ms(r.plan), ms(r.build),
      ms(r.code.ir), ms(r.code.passes), ms(r.code.machine), ms(r.code.link), ms(r.trace + r.total));
}

}  // namespace calque::runtime
