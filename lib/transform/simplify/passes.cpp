// The tests of properties of every pass run each pass listed here.
#include "transform/simplify/passes.h"

#include <array>

#include "ir/environment.h"
#include "ir/fork.h"
#include "transform/simplify/eliminate_common_subexpressions.h"
#include "transform/simplify/eliminate_dead_code.h"
#include "transform/simplify/fold_constants.h"
#include "transform/simplify/inline_calls.h"
#include "transform/simplify/simplify.h"
#include "transform/simplify/simplify_algebra.h"

namespace calque::transform {
namespace {

constexpr std::array kPasses = {
    Pass{{"inline", "replaces calls, checkpoints and custom rules by their bodies"},
         [](const Graph& g) { return inline_calls(g); }},
    Pass{{"fold", "evaluates equations whose operands are known and small"}, &fold_constants},
    Pass{{"algebra", "applies bit-exact algebraic laws"}, &simplify_algebra},
    Pass{{"cse", "merges equations that compute the same value"}, &eliminate_common_subexpressions},
    Pass{{"dce", "removes equations whose results are unused"}, &eliminate_dead_code},
    Pass{{"simplify", "all of the above until nothing changes"}, [](const Graph& g) { return simplify(g); }},
    Pass{{"canonicalize", "puts equations into canonical order"}, &canonicalize},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass& find_pass(std::string_view name) {
  std::string names;
  for (const Pass& pass : kPasses) {
    if (pass.info.name == name) return pass;
    names += (names.empty() ? "" : ", ") + std::string(pass.info.name);
  }
  throw CompileError("passes: there is no pass " + std::string(name) + ", expected one of " + names);
}

bool verification_enabled() {
#ifdef NDEBUG
  return process_wide([] { return new const bool(is_on("CALQUE_VERIFY")); });
#else
  return true;
#endif
}

Graph verified(std::string_view pass, Graph graph) {
  if (verification_enabled()) graph.verify(pass);
  return graph;
}

Graph run_pass(const Pass& pass, const Graph& graph) { return verified(pass.info.name, pass.run(graph)); }

}  // namespace calque::transform
