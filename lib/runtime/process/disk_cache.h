#pragma once
// A folder of entries, each a key with its value, that processes share. An entry is written to a file without a name,
// which gets its name when it is complete; a process that is killed leaves nothing behind. Readers accept regular files
// of their own user with the right checksum and the very same key: code is loaded from them. Anything else of an
// entry's name is a miss, and is replaced. No error of the file system is reported to the caller: a cache that cannot
// be read misses, and one that cannot be written stays as it is.
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/fork.h"

namespace calque::runtime {

class DiskCache {
 public:
  /// The folder is created, with access for the user alone, when the first entry is stored.
  DiskCache(std::string folder, uint64_t capacity);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;
  /// The cache that the environment chooses (CALQUE_CACHE_DIR, CALQUE_CACHE_SIZE), or null when it is off.
  static DiskCache* shared();

  /// The value of the key. Thread-safe, as all methods are.
  std::optional<std::string> load(std::string_view key);
  /// Least recently used entries are removed when entries take more bytes than the capacity.
  void store(std::string_view key, std::string_view value) noexcept;
  void remove(std::string_view key) noexcept;

  struct Entry {
    std::string name;  ///< of the file
    uint64_t bytes = 0;
    int64_t used = 0;  ///< seconds since 1970; rounded, see load
  };
  /// Entries in this folder, most recently used first.
  std::vector<Entry> entries() const;
  /// Removes every entry and returns how many there were.
  size_t clear();
  /// Reads every entry, removes those that are damaged, and returns their names.
  std::vector<std::string> verify();
  const std::string& folder() const { return folder_; }
  uint64_t capacity() const { return capacity_; }

 private:
  class File;
  int open_folder(bool create) const;
  bool write(int folder, const std::string& name, std::string_view header, std::string_view key,
             std::string_view value) const;
  void trim(int folder) const;

  std::string folder_;
  uint64_t capacity_;
  ForkMutex mutex_;                    ///< of `untrimmed_`
  std::optional<uint64_t> untrimmed_;  ///< bytes written since the folder's size was last measured
};

}  // namespace calque::runtime
