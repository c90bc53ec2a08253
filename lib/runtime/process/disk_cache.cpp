#include "runtime/process/disk_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "ir/log.h"
#include "runtime/process/environment.h"

namespace calque::runtime {
namespace {

constexpr uint64_t kLargestEntry = uint64_t{256} << 20;
constexpr std::string_view kSuffix = ".calque", kTemporary = ".calque-new-";
/// Times of use are written at most once in this many seconds.
constexpr int64_t kTimeStep = 60;
/// Complete but unnamed entries exist for microseconds, unless their process was killed.
constexpr int64_t kAbandoned = 600;

/// The start of an entry's file, before key and value.
struct Header {
  std::array<char, 8> magic;
  uint64_t key_bytes, value_bytes;
  XXH128_hash_t checksum;  ///< of key and value
};
constexpr std::array<char, 8> kMagic = {'C', 'A', 'L', 'Q', 'U', 'E', '\0', '\1'};

XXH128_hash_t checksum_of(std::string_view key, std::string_view value) {
  const XXH128_hash_t of_key = XXH3_128bits(key.data(), key.size());
  XXH128_hash_t sum = XXH3_128bits_withSeed(value.data(), value.size(), of_key.low64);
  sum.high64 ^= of_key.high64;
  return sum;
}

std::string name_of(std::string_view key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  std::array<char, 33> digits;
  std::snprintf(digits.data(), digits.size(), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits.data() + std::string(kSuffix);
}

/// 32 hexadecimal digits and the suffix: a folder that the user names may hold other files.
bool is_entry(std::string_view name) {
  constexpr size_t kDigits = 32;
  return name.size() == kDigits + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef") == kDigits;
}

/// Owned by this user, and not writable by others.
bool is_ours(const struct stat& s) { return s.st_uid == ::geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

bool read_all(int file, char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = ::read(file, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

/// A write beyond the limit on the size of files would send SIGXFSZ, which ends the program.
bool is_allowed(uint64_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur);
}

bool write_all(int file, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(file, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string temporary_name() {
  static std::atomic<uint64_t> count{0};
  return std::string(kTemporary) + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

}  // namespace

/// A file descriptor.
class DiskCache::File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  /// The key and the value, one after the other, or nothing if this is no complete entry of this user.
  std::optional<std::pair<Header, std::string>> contents() const {
    struct stat s{};
    if (::fstat(descriptor_, &s) != 0 || !S_ISREG(s.st_mode) || !is_ours(s)) return std::nullopt;
    const auto bytes = static_cast<uint64_t>(s.st_size);
    Header header{};
    if (bytes < sizeof(header) || bytes > kLargestEntry) return std::nullopt;
    if (!read_all(descriptor_, reinterpret_cast<char*>(&header), sizeof(header))) return std::nullopt;
    const uint64_t rest = bytes - sizeof(header);
    if (header.magic != kMagic || header.key_bytes > rest || header.value_bytes != rest - header.key_bytes)
      return std::nullopt;
    std::string data(rest, '\0');
    if (!read_all(descriptor_, data.data(), data.size())) return std::nullopt;
    const std::string_view all = data;
    const XXH128_hash_t sum = checksum_of(all.substr(0, header.key_bytes), all.substr(header.key_bytes));
    if (!XXH128_isEqual(sum, header.checksum)) return std::nullopt;
    return std::pair(header, std::move(data));
  }
  /// The entry has been used now.
  void touch() const {
    struct stat s{};
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (::fstat(descriptor_, &s) == 0 && now.tv_sec - s.st_mtim.tv_sec >= kTimeStep) ::futimens(descriptor_, nullptr);
  }

 private:
  int descriptor_;
};

DiskCache::DiskCache(std::string folder, uint64_t capacity) : folder_(std::move(folder)), capacity_(capacity) {
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
}
DiskCache::~DiskCache() = default;

DiskCache* DiskCache::shared() {
  // Never destroyed: functions may still be compiled while the program ends.
  return process_wide([] {
    const Environment& e = environment();
    return new DiskCache*(e.cache_folder.empty() ? nullptr : new DiskCache(e.cache_folder, e.cache_bytes));
  });
}

/// Creates the folder and those above it, for the user alone.
static void make_folders(const std::string& path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    ::mkdir(path.substr(0, end).c_str(), 0700);
  ::mkdir(path.c_str(), 0700);
}

/// A descriptor of the folder, or -1 with errno when it does not exist or is not this user's.
int DiskCache::open_folder(bool create) const {
  const auto open = [&] { return ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); };
  int folder = open();
  if (folder < 0 && errno == ENOENT && create) {
    make_folders(folder_);
    folder = open();
  }
  if (folder < 0) return -1;
  struct stat s{};
  if (::fstat(folder, &s) == 0 && is_ours(s)) return folder;
  ::close(folder);
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    library_log().warn("cache on disk: {} is not used: it belongs to another user, or others may write to it", folder_);
  errno = EPERM;
  return -1;
}

std::optional<std::string> DiskCache::load(std::string_view key) {
  const File folder(open_folder(false));
  if (!folder) return std::nullopt;
  const std::string name = name_of(key);
  // Without O_NONBLOCK opening a pipe would wait for a writer.
  const File file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return std::nullopt;
  auto contents = file.contents();
  if (!contents) return std::nullopt;
  auto& [header, data] = *contents;
  if (std::string_view(data).substr(0, header.key_bytes) != key) return std::nullopt;
  file.touch();
  data.erase(0, header.key_bytes);
  return std::move(data);
}

namespace {

/// Closes and removes a file with a name, keeping errno.
bool drop(int folder, const std::string& name) {
  const int error = errno;
  ::unlinkat(folder, name.c_str(), 0);
  errno = error;
  return false;
}

bool write_entry(int file, std::string_view header, std::string_view key, std::string_view value) {
  return write_all(file, header) && write_all(file, key) && write_all(file, value);
}

}  // namespace

/// Writes an entry to a file without a name, then names it: as `name` if there is none, else as `temporary`. Returns
/// the name, or "" where this is not possible.
static std::string write_unnamed(int folder, const std::string& name, const std::string& temporary,
                                 std::string_view header, std::string_view key, std::string_view value) {
  const int file = ::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return {};
  std::string linked;
  if (write_entry(file, header, key, value)) {
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    const auto link = [&](const std::string& to) {
      return ::linkat(AT_FDCWD, path.c_str(), folder, to.c_str(), AT_SYMLINK_FOLLOW) == 0;
    };
    linked = link(name) ? name : errno == EEXIST && link(temporary) ? temporary : "";
  }
  ::close(file);
  return linked;
}

/// Writes an entry. Returns whether that has succeeded.
bool DiskCache::write(int folder, const std::string& name, std::string_view header, std::string_view key,
                      std::string_view value) const {
  if (!is_allowed(header.size() + key.size() + value.size())) {
    errno = EFBIG;
    return false;
  }
  const std::string temporary = temporary_name();
  const std::string linked = write_unnamed(folder, name, temporary, header, key, value);
  if (linked == name) return true;
  if (linked.empty()) {  // not every file system has files without names, and /proc may be missing
    const File file(::openat(folder, temporary.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return false;
    if (!write_entry(file.get(), header, key, value)) return drop(folder, temporary);
  }
  const auto rename = [&] { return ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0; };
  if (rename()) return true;
  if (errno == EISDIR || errno == ENOTEMPTY || errno == EEXIST) {  // a folder has the entry's name
    std::error_code ignored;
    std::filesystem::remove_all(std::filesystem::path(folder_) / name, ignored);
    if (rename()) return true;
  }
  return drop(folder, temporary);
}

void DiskCache::store(std::string_view key, std::string_view value) noexcept {
  try {
    Header header{kMagic, key.size(), value.size(), checksum_of(key, value)};
    const uint64_t bytes = sizeof(header) + key.size() + value.size();
    if (bytes > std::min(kLargestEntry, capacity_)) return;
    const File folder(open_folder(true));
    const std::string_view start(reinterpret_cast<const char*>(&header), sizeof(header));
    if (!folder || !write(folder.get(), name_of(key), start, key, value)) {
      static std::atomic<bool> told{false};
      if (!told.exchange(true))
        library_log().info("cache on disk: cannot write to {}: {}", folder_, std::strerror(errno));
      return;
    }
    constexpr uint64_t kTrimsPerCapacity = 16;
    const std::lock_guard lock(mutex_);
    if (untrimmed_ && (*untrimmed_ += bytes) < capacity_ / kTrimsPerCapacity) return;
    untrimmed_ = 0;
    trim(folder.get());
  } catch (...) {  // no memory: the entry is not stored
  }
}

void DiskCache::remove(std::string_view key) noexcept {
  try {
    const File folder(open_folder(false));
    if (folder) ::unlinkat(folder.get(), name_of(key).c_str(), 0);
  } catch (...) {  // no memory: it stays
  }
}

namespace {

/// Calls visit(name, status) for each file of the folder.
template <class Visit>
void for_each_file(int folder, const Visit& visit) {
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  DIR* const list = ::fdopendir(copy);
  if (list == nullptr) {
    ::close(copy);
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> owner(list, &::closedir);
  while (const dirent* e = ::readdir(list)) {
    struct stat s{};
    if (::fstatat(folder, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(s.st_mode)) visit(e->d_name, s);
  }
}

}  // namespace

/// Removes least recently used entries until a tenth of the capacity is free, and what killed processes left.
void DiskCache::trim(int folder) const {
  std::vector<Entry> all;
  uint64_t bytes = 0;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  for_each_file(folder, [&](const std::string& name, const struct stat& s) {
    if (name.starts_with(kTemporary) && now.tv_sec - s.st_mtim.tv_sec > kAbandoned) ::unlinkat(folder, name.c_str(), 0);
    if (!is_entry(name)) return;
    all.push_back({name, static_cast<uint64_t>(s.st_size), s.st_mtim.tv_sec});
    bytes += all.back().bytes;
  });
  if (bytes <= capacity_) return;
  std::ranges::sort(all, {}, &Entry::used);
  for (const Entry& entry : all) {
    if (bytes <= capacity_ - capacity_ / 10) break;
    if (::unlinkat(folder, entry.name.c_str(), 0) == 0) bytes -= entry.bytes;
  }
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> all;
  const File folder(open_folder(false));
  if (!folder) return all;
  for_each_file(folder.get(), [&](const std::string& name, const struct stat& s) {
    if (is_entry(name)) all.push_back({name, static_cast<uint64_t>(s.st_size), s.st_mtim.tv_sec});
  });
  std::ranges::sort(all, std::ranges::greater(), &Entry::used);
  return all;
}

size_t DiskCache::clear() {
  const File folder(open_folder(false));
  size_t removed = 0;
  for (const Entry& entry : entries()) removed += folder && ::unlinkat(folder.get(), entry.name.c_str(), 0) == 0;
  return removed;
}

std::vector<std::string> DiskCache::verify() {
  std::vector<std::string> damaged;
  const File folder(open_folder(false));
  for (const Entry& entry : entries()) {
    const File file(::openat(folder.get(), entry.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!file && errno != ELOOP) continue;  // gone, or not readable now: not known to be damaged
    const auto contents = file ? file.contents() : std::nullopt;
    const bool good =
        contents && name_of(std::string_view(contents->second).substr(0, contents->first.key_bytes)) == entry.name;
    if (good) continue;
    damaged.push_back(entry.name);
    ::unlinkat(folder.get(), entry.name.c_str(), 0);
  }
  return damaged;
}

}  // namespace calque::runtime
