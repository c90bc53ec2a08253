#pragma once
// Search for cuBLASLt: among loaded libraries, on the loader's path, in CUDA's toolkit, and in the Python wheels that
// PyTorch and JAX depend on.
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace calque::runtime::cublas {

struct Library;

/// A library that may be opened.
struct Candidate {
  std::string path;     ///< as dlopen takes it
  bool loaded = false;  ///< only if the process has loaded it already
};

/// Major versions that a driver of CUDA `version` (12040 is 12.4) supports, newest first: 13 at most, 11 at least.
std::vector<int> served_majors(int version);

/// All candidates for such a driver, in order of preference: what is loaded already, then newer versions before older
/// ones, and for each version the loader's path, CUDA_HOME and CUDA_PATH, /usr/local, Python's packages (those of
/// VIRTUAL_ENV, CONDA_PREFIX, PYTHONPATH, of the first python3 of PATH, the user's and the system's). Files that do not
/// exist are omitted.
std::vector<Candidate> candidates(int version);

/// The value of CALQUE_LIBCUBLASLT: paths separated by colons, tried in order; `off` for none.
struct SearchList {
  bool named = false;
  std::vector<Candidate> candidates;
};
/// The candidates of the variable, or `candidates` if it is not set.
SearchList chosen_candidates(int version);

/// The first that opens and that `start` accepts; null if there is none. Rejected candidates are logged.
std::shared_ptr<const Library> first_that_starts(const SearchList& choice,
                                                 const std::function<bool(const Library&)>& start);

/// `12.4.5, /usr/lib/libcublasLt.so.12`
std::string description(const Library& library);

}  // namespace calque::runtime::cublas
