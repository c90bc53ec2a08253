#include "runtime/cuda/cublaslt_search.h"

#include <algorithm>

#include "ir/log.h"
#include "runtime/cuda/cublaslt.h"

namespace calque::runtime::cublas {
namespace {

std::vector<std::string> names_for(int version) {
  std::vector<std::string> names;
  for (const int major : served_majors(version)) names.push_back("libcublasLt.so." + std::to_string(major));
  return names;
}

}  // namespace

std::vector<int> served_majors(int version) {
  std::vector<int> all;
  for (int major = std::min(version / 1000, 13); major >= 11; --major) all.push_back(major);
  return all;
}

std::vector<Candidate> candidates(int version) { return library_candidates(names_for(version)); }

SearchList chosen_candidates(int version) { return library_search("CALQUE_LIBCUBLASLT", names_for(version)); }

std::shared_ptr<const Library> first_that_starts(const SearchList& choice,
                                                 const std::function<bool(const Library&)>& start) {
  return first_that_opens(
      choice, "CALQUE_LIBCUBLASLT",
      [&](const std::string& path, bool loaded, std::string& problem) -> std::shared_ptr<const Library> {
        auto library = open_library(path, loaded, problem);
        if (library == nullptr || start(*library)) return library;
        library_log().warn("cuBLASLt {} does not start; the next one is tried", description(*library));
        return nullptr;
      });
}

std::string description(const Library& library) {
  std::string text = "of unknown version";
  if (library.version != nullptr) {
    const size_t v = library.version();
    text = std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100);
  }
  return text + ", " + library.path;
}

}  // namespace calque::runtime::cublas
