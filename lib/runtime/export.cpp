// Ahead-of-time export: an object file with the entry, and a C header that declares it.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "calque/jit.h"

#include "codegen/codegen.h"
#include "runtime/function_state.h"

namespace calque::detail {

void export_lowered(const LoweredState& lowered, const std::string&, const ExportOptions&) {
  throw CompileError(lowered.function->title() +
                     ": this version of calque does not export object files that run without it yet" +
                     where_text(lowered.function->location));
}

}  // namespace calque::detail
