// Python is not run: the location of its packages follows from environment variables and from the path of python3.
#include "runtime/cuda/cublaslt_search.h"

#include <algorithm>
#include <filesystem>
#include <ranges>

#include <dlfcn.h>
#include <glob.h>

#include "ir/environment.h"
#include "ir/log.h"
#include "runtime/cuda/cublaslt.h"

namespace calque::runtime::cublas {
namespace {

namespace fs = std::filesystem;

std::string text_of(VariableName name) {
  const char* const value = variable(name);
  return value == nullptr ? std::string() : value;
}

/// The entries of a list that is separated by colons, without empty ones.
std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> all;
  for (const auto entry : std::views::split(list, ':'))
    if (!entry.empty()) all.emplace_back(entry.begin(), entry.end());
  return all;
}

/// The files that match a pattern, in reverse order of names.
std::vector<std::string> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> all;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) all.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::ranges::reverse(all);
  return all;
}

/// The prefixes of the first python3 of PATH: that of its path there, and that of the file it links to.
std::vector<std::string> python_prefixes() {
  for (const std::string& folder : split(text_of("PATH"))) {
    const fs::path python = fs::path(folder) / "python3";
    std::error_code error;
    if (!fs::exists(python, error)) continue;
    std::vector<std::string> all{python.parent_path().parent_path().string()};
    const fs::path real = fs::canonical(python, error);
    if (!error && real != python) all.push_back(real.parent_path().parent_path().string());
    return all;
  }
  return {};
}

/// Folders of Python's packages, the most specific ones first.
std::vector<std::string> package_folders() {
  std::vector<std::string> all = split(text_of("PYTHONPATH"));
  const auto add = [&](const std::string& pattern) {
    for (std::string& folder : matches(pattern)) all.push_back(std::move(folder));
  };
  std::vector<std::string> prefixes;
  for (const VariableName name : {VariableName("VIRTUAL_ENV"), VariableName("CONDA_PREFIX")})
    if (std::string prefix = text_of(name); !prefix.empty()) prefixes.push_back(std::move(prefix));
  for (std::string& prefix : python_prefixes()) prefixes.push_back(std::move(prefix));
  for (const std::string& prefix : prefixes) add(prefix + "/lib/python3*/site-packages");
  if (const std::string home = text_of("HOME"); !home.empty()) add(home + "/.local/lib/python3*/site-packages");
  prefixes.insert(prefixes.end(), {"/usr/local", "/usr"});
  for (const std::string& prefix : prefixes) {
    add(prefix + "/lib/python3*/dist-packages");
    add(prefix + "/local/lib/python3*/dist-packages");
  }
  return all;
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> all;
  for (const VariableName name : {VariableName("CUDA_HOME"), VariableName("CUDA_PATH")})
    if (std::string root = text_of(name); !root.empty()) all.push_back(std::move(root));
  all.emplace_back("/usr/local/cuda");
  for (std::string& root : matches("/usr/local/cuda-*")) all.push_back(std::move(root));
  return all;
}

void add_files(const std::string& pattern, std::vector<Candidate>& all) {
  for (std::string& path : matches(pattern)) all.push_back({std::move(path)});
}

}  // namespace

std::vector<int> served_majors(int version) {
  std::vector<int> all;
  for (int major = std::min(version / 1000, 13); major >= 11; --major) all.push_back(major);
  return all;
}

std::vector<Candidate> candidates(int version) {
  const std::vector<int> majors = served_majors(version);
  const auto name = [](int major) { return "libcublasLt.so." + std::to_string(major); };
  std::vector<Candidate> all;
  for (const int major : majors) all.push_back({name(major), true});
  const std::vector<std::string> toolkits = toolkit_folders(), packages = package_folders();
  for (const int major : majors) {
    all.push_back({name(major)});
    for (const std::string& root : toolkits)
      for (const char* folder : {"/lib64/", "/lib/", "/targets/*/lib/"}) add_files(root + folder + name(major), all);
    for (const std::string& folder : packages) {
      add_files(folder + "/nvidia/*/lib/" + name(major), all);
      add_files(folder + "/torch/lib/" + name(major), all);
    }
  }
  return all;
}

SearchList chosen_candidates(int version) {
  const char* named = variable("CALQUE_LIBCUBLASLT");
  if (named == nullptr) return {false, candidates(version)};
  SearchList choice{true, {}};
  if (std::string_view(named) == "off") return choice;
  for (std::string& path : split(named)) choice.candidates.push_back({std::move(path)});
  return choice;
}

std::shared_ptr<const Library> first_that_starts(const SearchList& choice,
                                                 const std::function<bool(const Library&)>& start) {
  for (const Candidate& candidate : choice.candidates) {
    std::string problem;
    const auto library = open_library(candidate.path, candidate.loaded, problem);
    if (library == nullptr) {
      // Names that the loader does not find are not logged.
      if (choice.named) {
        library_log().warn("CALQUE_LIBCUBLASLT: {}", problem);
      } else if (candidate.path.find('/') != std::string::npos) {
        library_log().info("{}", problem);
      }
      continue;
    }
    if (start(*library)) return library;
    library_log().warn("cuBLASLt {} does not start; the next one is tried", description(*library));
  }
  return nullptr;
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
