#include <new>

#include <fmt/format.h>
#include <unistd.h>

#include "ir/fork.h"
#include "primitives/core/rule.h"

namespace calque::primitives {
namespace {

int64_t physical_memory() {
  return process_wide([] {
    const int64_t pages = sysconf(_SC_PHYS_PAGES);
    const int64_t page = sysconf(_SC_PAGESIZE);
    return new const int64_t(pages > 0 && page > 0 ? pages * page : INT64_MAX);
  });
}

}  // namespace

AnyArray make_array(const Type& type) {
  // Indexable shapes have at most 2^56 elements of at most 16 bytes.
  if (!indexable(type.shape)) throw Error(fmt::format("evaluate: {} has too many elements", to_string(type)));
  const int64_t elements = type.shape.num_elements();
  if (elements > physical_memory() / static_cast<int64_t>(size_of(type.dtype))) {
    throw Error(fmt::format("evaluate: {} does not fit into the memory of this machine", to_string(type)));
  }
  try {
    return AnyArray::uninitialized(type);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("evaluate: no memory for {}", to_string(type)));
  }
}

AnyArray& Evaluation::add_result() { return results.emplace_back(make_array(result_types[results.size()])); }

}  // namespace calque::primitives
