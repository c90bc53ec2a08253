// A pass that is listed here is run by the tests that hold for every pass.
#include "transform/simplify/passes.h"

#include <array>
#include <cstdlib>

#include "transform/simplify/eliminate_common_subexpressions.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/fold_constants.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"
#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

constexpr std::array kPasses = {
    Pass{"inline", "replaces calls, checkpoints and custom rules by their bodies",
         [](const Graph& g) { return inline_calls(g); }},
    Pass{"fold", "evaluates equations whose operands are known and small", &fold_constants},
    Pass{"algebra", "applies laws that hold to the bit", &simplify_algebra},
    Pass{"cse", "makes equations that compute the same one", &eliminate_common_subexpressions},
    Pass{"dce", "drops equations that nothing needs", &eliminate_dead_code},
    Pass{"simplify", "all of the above until nothing changes", [](const Graph& g) { return simplify(g); }},
    Pass{"canonicalize", "puts equations into canonical order", &canonicalize},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass& find_pass(std::string_view name) {
  std::string names;
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return pass;
    names += (names.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw CompileError("passes: there is no pass " + std::string(name) + ", expected one of " + names);
}

bool verification_enabled() {
#ifdef NDEBUG
  static const bool on = [] {
    const char* value = std::getenv("CALQUE_VERIFY");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return on;
#else
  return true;
#endif
}

Graph verified(std::string_view pass, Graph graph) {
  if (verification_enabled()) graph.verify(pass);
  return graph;
}

Graph run_pass(const Pass& pass, const Graph& graph) { return verified(pass.name, pass.run(graph)); }

}  // namespace calque::transform
