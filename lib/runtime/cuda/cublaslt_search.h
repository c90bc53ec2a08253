#pragma once
// Search for cuBLASLt, of the newest version that the driver supports.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/cuda/library_search.h"

namespace calque::runtime::cublas {

struct Library;

/// Major versions that a driver of CUDA `version` (12040 is 12.4) supports, newest first: 13 at most, 11 at least.
std::vector<int> served_majors(int version);

/// All candidates for such a driver, newer versions before older ones where they are not loaded already.
std::vector<Candidate> candidates(int version);

/// The candidates of CALQUE_LIBCUBLASLT, or `candidates` if it is not set.
SearchList chosen_candidates(int version);

/// The first that opens and that `start` accepts; null if there is none. Rejected candidates are logged.
std::shared_ptr<const Library> first_that_starts(const SearchList& choice,
                                                 const std::function<bool(const Library&)>& start);

/// `12.4.5, /usr/lib/libcublasLt.so.12`
std::string description(const Library& library);

}  // namespace calque::runtime::cublas
