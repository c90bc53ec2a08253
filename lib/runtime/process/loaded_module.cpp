#include "calque/detail/loaded_module.h"

#include <algorithm>
#include <utility>

#include <link.h>

#include "runtime/process/loaded_module.h"

namespace calque::detail {
namespace {

struct Search {
  uintptr_t address;
  runtime::ModuleRange found;
  bool program = true;  ///< the next object is the program itself, which is listed first
};

/// Stops at the object whose segments hold the address.
int visit(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const bool program = std::exchange(search.program, false);
  runtime::ModuleRange range{UINTPTR_MAX, 0};
  for (const ElfW(Phdr)* segment = object->dlpi_phdr; segment != object->dlpi_phdr + object->dlpi_phnum; ++segment) {
    if (segment->p_type != PT_LOAD) continue;
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    range.begin = std::min(range.begin, begin);
    range.end = std::max<uintptr_t>(range.end, begin + segment->p_memsz);
  }
  if (!range.contains(reinterpret_cast<const void*>(search.address))) return 0;
  if (!program) search.found = range;
  return 1;
}

}  // namespace

LoadedModule::LoadedModule() noexcept {
  Search search{reinterpret_cast<uintptr_t>(this), {}};
  dl_iterate_phdr(&visit, &search);
  begin_ = search.found.begin;
  end_ = search.found.end;
}

LoadedModule::~LoadedModule() {
  if (begin_ != end_) runtime::forget_module({begin_, end_});
}

}  // namespace calque::detail
