#pragma once
// Removes the traces of a module from caches before it is unloaded.
#include <cstdint>

namespace calque::runtime {

/// The addresses at which a program or shared library is mapped.
struct ModuleRange {
  uintptr_t begin = 0, end = 0;
  bool contains(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return at >= begin && at < end;
  }
};

/// Drops the compiled entries that refer to code or data of the module: entries of callables keyed by an address in it,
/// of arguments whose types it defines, and entries that call it. Entries in use by running calls are leaked.
void forget_module(const ModuleRange& module);

}  // namespace calque::runtime
