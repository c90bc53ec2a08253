// `calque docs`: the pages of documentation, of the installation or of the source tree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "calque/checks.h"
#include "calque/commands.h"
#include "calque/files.h"
#include "calque/ir/errors.h"

namespace calque::cli {
namespace {

namespace fs = std::filesystem;

/// share/doc/calque next to bin/ in an installation; in a build tree, `source` is a link to the source tree.
fs::path doc_folder() {
  const fs::path root = fs::canonical("/proc/self/exe").parent_path().parent_path();
  for (const fs::path& folder : {root / "share" / "doc" / "calque", root / "source" / "docs"})
    if (fs::is_directory(folder)) return folder;
  throw Error("docs: there are no pages next to " + root.string());
}

std::vector<std::string> names_of_pages(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// The heading of a page, without its mark.
std::string title_of(const fs::path& page) {
  std::ifstream in(page);
  std::string line;
  std::getline(in, line);
  return line.starts_with("# ") ? line.substr(2) : line;
}

}  // namespace

int docs(const std::string& name) {
  const fs::path folder = doc_folder();
  const std::vector<std::string> names = names_of_pages(folder);
  if (name.empty()) {
    for (const std::string& page : names) fmt::print("{:18}  {}\n", page, title_of(folder / (page + ".md")));
    fmt::print("\n`calque docs PAGE` prints one of them; they are in {}\n", folder.string());
    return 0;
  }
  const std::string page = name.ends_with(".md") ? name.substr(0, name.size() - 3) : name;
  if (!std::ranges::binary_search(names, page)) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    throw Error("docs: there is no page '" + name + "'" + suggestion(page, views) + "; `calque docs` lists them");
  }
  std::cout << read_text((folder / (page + ".md")).string());
  return 0;
}

}  // namespace calque::cli
