#pragma once
// What a module that is about to be unloaded has left in caches.
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

/// Drops the compiled forms that refer to code or data of the module: those of callables that are known by an address
/// in it, of arguments whose types it defined, and those that would call it. What running calls use lives on for good.
void forget_module(const ModuleRange& module);

}  // namespace calque::runtime
