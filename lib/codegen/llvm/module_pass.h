#pragma once
// Passes over modules, recorded in the log of their compilation.
#include <ostream>
#include <string>
#include <utility>

#include "codegen/llvm/llvm.h"
#include "ir/pass_log.h"

namespace calque::codegen {

/// Runs a pass over a module and records it; `log` may be null.
template <class Work>
void run_on(const llvm::Module& module, PassLog* log, std::string_view pass, Work&& work) {
  Stopwatch stopwatch;
  std::forward<Work>(work)();
  if (log == nullptr) return;
  log->add(pass, stopwatch.lap(), PassLog::Over::part, [&](std::ostream& out) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr, true);  // with the order of uses, on which later passes depend
    out << text;
  });
}

}  // namespace calque::codegen
