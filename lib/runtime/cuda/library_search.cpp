// Python is not run: the location of its packages follows from environment variables and from the path of python3.
#include "runtime/cuda/library_search.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <string_view>

#include <glob.h>

namespace calque::runtime {
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

std::vector<Candidate> library_candidates(const std::vector<std::string>& names) {
  std::vector<Candidate> all;
  for (const std::string& name : names) all.push_back({name, true});
  const std::vector<std::string> toolkits = toolkit_folders(), packages = package_folders();
  for (const std::string& name : names) {
    all.push_back({name});
    for (const std::string& root : toolkits)
      for (const char* folder : {"/lib64/", "/lib/", "/targets/*/lib/"}) add_files(root + folder + name, all);
    for (const std::string& folder : packages) {
      add_files(folder + "/nvidia/*/lib/" + name, all);
      add_files(folder + "/torch/lib/" + name, all);
    }
  }
  return all;
}

SearchList library_search(VariableName name, const std::vector<std::string>& names) {
  const char* const named = variable(name);
  if (named == nullptr) return {false, library_candidates(names)};
  SearchList search{true, {}};
  if (std::string_view(named) == "off") return search;
  for (std::string& path : split(named)) search.candidates.push_back({std::move(path)});
  return search;
}

}  // namespace calque::runtime
