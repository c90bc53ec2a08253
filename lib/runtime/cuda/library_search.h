#pragma once
// Search for NVIDIA's libraries: among loaded libraries, on the loader's path, in CUDA's toolkit, and in the Python
// wheels that PyTorch and JAX depend on.
#include <string>
#include <vector>

#include "ir/environment.h"
#include "ir/log.h"

namespace calque::runtime {

/// A library that may be opened.
struct Candidate {
  std::string path;     ///< as dlopen takes it
  bool loaded = false;  ///< only if the process has loaded it already
};

/// Candidates for a library with these file names, in order of preference: what is loaded already, then for each name
/// the loader's path, CUDA_HOME and CUDA_PATH, /usr/local, Python's packages (those of VIRTUAL_ENV, CONDA_PREFIX,
/// PYTHONPATH, of the first python3 of PATH, the user's and the system's). Files that do not exist are omitted.
std::vector<Candidate> library_candidates(const std::vector<std::string>& names);

/// The candidates that a variable names, or those of the search.
struct SearchList {
  bool named = false;
  std::vector<Candidate> candidates;
};
/// The value of the variable: paths separated by colons, tried in order; `off` for none. `library_candidates(names)` if
/// it is not set.
SearchList library_search(VariableName variable, const std::vector<std::string>& names);

/// What `open(path, loaded, problem)` returns for the first candidate for which it is not null; null if there is none.
/// Problems are logged.
template <class Open>
auto first_that_opens(const SearchList& search, VariableName variable, const Open& open) {
  decltype(open(std::string(), false, std::declval<std::string&>())) opened{};
  for (const Candidate& candidate : search.candidates) {
    std::string problem;
    opened = open(candidate.path, candidate.loaded, problem);
    if (opened != nullptr) break;
    // Names that the loader does not find are not logged.
    if (problem.empty()) continue;
    if (search.named) {
      library_log().warn("{}: {}", variable.c_str(), problem);
    } else if (candidate.path.find('/') != std::string::npos) {
      library_log().info("{}", problem);
    }
  }
  return opened;
}

}  // namespace calque::runtime
