#pragma once
// Where cuBLASLt may be: what the process has loaded, the loader's path, CUDA's toolkit, and the wheels that PyTorch
// and JAX bring along for Python.
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace calque::runtime::cublas {

struct Library;

/// A library that may be opened.
struct Candidate {
  std::string path;     ///< as dlopen takes it
  bool loaded = false;  ///< only where the process has it already
};

/// Major versions that a driver of CUDA `version` (12040 is 12.4) serves, newest first: 13 at most, 11 at least.
std::vector<int> served_majors(int version);

/// All that are worth a try with such a driver, most wanted first: what is loaded already, then newer versions before
/// older ones, and of one version the loader's path, CUDA_HOME and CUDA_PATH, /usr/local, Python's packages (those of
/// VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, of the first python3 of PATH, the user's and the system's). Files that are
/// not there are left out.
std::vector<Candidate> candidates(int version);

/// What CALQUE_LIBCUBLASLT says: paths with colons between them, tried in order; none: `off`.
struct SearchList {
  bool named = false;
  std::vector<Candidate> candidates;
};
/// The candidates of the variable, or the others where it is not set.
SearchList chosen_candidates(int version);

/// The first of them that opens and that `start` accepts; null when there is none. The log tells what was passed over.
std::shared_ptr<const Library> first_that_starts(const SearchList& choice,
                                                 const std::function<bool(const Library&)>& start);

/// `12.4.5, /usr/lib/libcublasLt.so.12`
std::string description(const Library& library);

}  // namespace calque::runtime::cublas
