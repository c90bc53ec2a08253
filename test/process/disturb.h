#pragma once
// What may happen to a folder of the cache on disk while processes use it.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/self.h"
#include "support/random/random.h"

namespace calque::test {

inline bool has_entry_name(const std::filesystem::path& path) { return path.extension() == ".calque"; }
/// Written by a process that was killed before it gave the file its name.
inline bool is_leftover(const std::filesystem::path& path) {
  return path.filename().string().starts_with(".calque-new-");
}

/// Those that `accept` accepts.
template <class Accept>
std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder, const Accept& accept) {
  namespace fs = std::filesystem;
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
    if (accept(i->path())) all.push_back(i->path());
  return all;
}

inline uint64_t bytes_of_entries(const std::filesystem::path& folder) {
  uint64_t bytes = 0;
  for (const auto& path : files_of(folder, has_entry_name)) {
    struct stat s{};
    if (::lstat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode)) bytes += static_cast<uint64_t>(s.st_size);
  }
  return bytes;
}

inline void truncate(const std::filesystem::path& path, Rng& rng) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat s{};
  if (file >= 0 && ::fstat(file, &s) == 0 && S_ISREG(s.st_mode) &&
      ::ftruncate(file, static_cast<off_t>(rng.below(static_cast<size_t>(s.st_size) + 1))) != 0)
    fail("a file cannot be truncated");
  if (file >= 0) ::close(file);
}

inline void flip_bit(const std::filesystem::path& path, Rng& rng) {
  const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat s{};
  if (file >= 0 && ::fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
    const auto at = static_cast<off_t>(rng.below(static_cast<size_t>(s.st_size)));
    char byte = 0;
    if (::pread(file, &byte, 1, at) == 1) {
      byte = static_cast<char>(byte ^ (1 << rng.below(8)));
      if (::pwrite(file, &byte, 1, at) != 1) fail("no bit is flipped");
    }
  }
  if (file >= 0) ::close(file);
}

/// Removes the whole folder, or lets others write to it for a while.
inline void disturb_folder(const std::filesystem::path& folder, Rng& rng) {
  std::error_code ignored;
  if (rng.chance(50)) {
    std::filesystem::remove_all(folder, ignored);
    return;
  }
  ::chmod(folder.c_str(), 0777);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::chmod(folder.c_str(), 0700);
}

/// Truncates an entry, flips one of its bits, removes it, gives it to others, or puts something else in its file's
/// name: a folder, a link, a pipe, the entry of another key. False if there is no entry. Errors are ignored: files come
/// and go.
inline bool disturb(const std::filesystem::path& folder, Rng& rng) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::vector<fs::path> entries = files_of(folder, has_entry_name);
  if (entries.empty()) return false;
  const fs::path entry = rng.pick(entries), other = rng.pick(entries);
  if (rng.chance(2)) {
    disturb_folder(folder, rng);
    return true;
  }
  switch (rng.below(9)) {
    case 0:
      truncate(entry, rng);
      break;
    case 1:
    case 2:
      flip_bit(entry, rng);
      break;
    case 3:
      fs::remove_all(entry, ignored);
      fs::create_directory(entry, ignored);
      if (rng.chance(50)) std::ofstream(entry / "inside") << "x";
      break;
    case 4:
      fs::remove_all(entry, ignored);
      fs::create_symlink(rng.chance(50) ? fs::path("/etc/passwd") : rng.chance(50) ? other : "nowhere", entry, ignored);
      break;
    case 5:
      fs::remove_all(entry, ignored);
      ::mkfifo(entry.c_str(), 0600);
      break;
    case 6:
      if (::geteuid() != 0)
        ::chmod(entry.c_str(), 0666);
      else if (::lchown(entry.c_str(), 12345, 12345) != 0)
        return true;  // it is gone
      break;
    case 7:
      ::rename(other.c_str(), entry.c_str());
      break;
    default:
      fs::remove_all(entry, ignored);
  }
  return true;
}

}  // namespace calque::test
