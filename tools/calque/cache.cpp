// `calque cache`: the compiled code on disk.
#include <ctime>
#include <iostream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "calque/commands.h"

#include "runtime/process/disk_cache.h"

namespace calque::cli {
namespace {

std::string size_text(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) / 1e3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void list(const runtime::DiskCache& cache) {
  for (const auto& entry : cache.entries())
    fmt::print("{}  {:>9}  {:%F %T}\n", entry.name, size_text(entry.bytes),
               fmt::localtime(static_cast<std::time_t>(entry.used)));
}

void tell(const runtime::DiskCache& cache) {
  uint64_t bytes = 0;
  const auto entries = cache.entries();
  for (const auto& entry : entries) bytes += entry.bytes;
  fmt::print("folder {}\nentries {}\nsize {} of {}\n", cache.folder(), entries.size(), size_text(bytes),
             size_text(cache.capacity()));
}

int verify(runtime::DiskCache& cache) {
  const size_t all = cache.entries().size();
  const auto damaged = cache.verify();
  for (const std::string& name : damaged) fmt::print("{} was damaged and is removed\n", name);
  fmt::print("{} entries, {} damaged\n", all, damaged.size());
  return damaged.empty() ? 0 : 1;
}

}  // namespace

int cache(const std::string& action) {
  runtime::DiskCache* const cache = runtime::DiskCache::shared();
  if (cache == nullptr) {
    std::cout << "the cache on disk is off (CALQUE_CACHE_DIR)\n";
    return 0;
  }
  if (action == "list") list(*cache);
  if (action == "info") tell(*cache);
  if (action == "clear") fmt::print("{} entries removed\n", cache->clear());
  return action == "verify" ? verify(*cache) : 0;
}

}  // namespace calque::cli
