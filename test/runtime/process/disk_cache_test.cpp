// The store behind the cache on disk: anything may have an entry's name.
#include "runtime/process/disk_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace calque::runtime {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    std::string name = fs::temp_directory_path() / "calque-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    parent = name;
  }
  ~DiskCacheTest() override {
    std::error_code ignored;
    fs::permissions(folder(), fs::perms::owner_all, ignored);
    fs::remove_all(parent, ignored);
  }
  fs::path folder() const { return parent / "cache"; }
  DiskCache cache(uint64_t capacity = 1 << 20) const { return DiskCache(folder(), capacity); }
  /// The file of the only entry.
  fs::path file() const { return folder() / cache().entries().at(0).name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(folder())) names.push_back(e.path().filename());
    return names;
  }
  static std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  fs::path parent;
};

const std::string kKey = "key", kValue("value \0 with any bytes \xff", 24);

TEST_F(DiskCacheTest, FindsWhatWasStored) {
  DiskCache c = cache();
  EXPECT_EQ(c.load(kKey), std::nullopt);
  c.store(kKey, kValue);
  c.store("other", "");
  EXPECT_EQ(c.load(kKey), kValue);
  EXPECT_EQ(c.load("other"), "");
  EXPECT_EQ(c.load("third"), std::nullopt);
  EXPECT_EQ(cache().load(kKey), kValue) << "by another process";
  c.store(kKey, "new");
  EXPECT_EQ(c.load(kKey), "new");
  EXPECT_EQ(c.entries().size(), 2u);
}

TEST_F(DiskCacheTest, IsPrivate) {
  cache().store(kKey, kValue);
  struct stat s{};
  ASSERT_EQ(::stat(folder().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(file().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(DiskCacheTest, LeavesNothingBesideTheEntries) {
  DiskCache c = cache();
  for (int i = 0; i < 3; ++i) c.store(kKey, kValue);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(DiskCacheTest, ADamagedEntryIsAMissAndIsReplaced) {
  DiskCache c = cache();
  c.store(kKey, kValue);
  const fs::path path = file();
  const std::string good = contents(path);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write(path, bad);
    EXPECT_EQ(c.load(kKey), std::nullopt) << "byte " << i;
  }
  for (size_t n = 0; n < good.size(); ++n) {
    write(path, good.substr(0, n));
    EXPECT_EQ(c.load(kKey), std::nullopt) << n << " bytes";
  }
  write(path, good + "x");
  EXPECT_EQ(c.load(kKey), std::nullopt);
  c.store(kKey, kValue);
  EXPECT_EQ(c.load(kKey), kValue);
}

TEST_F(DiskCacheTest, OnlyTheUsersOwnRegularFilesAreRead) {
  DiskCache c = cache();
  c.store(kKey, kValue);
  const fs::path path = file(), elsewhere = parent / "elsewhere";
  fs::copy_file(path, elsewhere);
  const std::vector<std::function<void()>> replacements = {
      [&] { fs::create_symlink(elsewhere, path); },
      [&] { fs::create_symlink("nowhere", path); },
      [&] { fs::create_directory(path); },
      [&] {
        fs::create_directory(path);
        write(path / "inside", "x");
      },
      [&] { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); },
      [&] {
        fs::copy_file(elsewhere, path);
        fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
      },
      [&] {
        fs::copy_file(elsewhere, path);
        fs::permissions(path, fs::perms::none);
        if (::geteuid() == 0) fs::remove(path);  // root may read it
      },
      [&] {
        fs::copy_file(elsewhere, path);
        if (::geteuid() != 0 || ::chown(path.c_str(), 1, 1) != 0) fs::remove(path);
      },
  };
  for (size_t i = 0; i < replacements.size(); ++i) {
    fs::remove_all(path);
    replacements[i]();
    EXPECT_EQ(c.load(kKey), std::nullopt) << i;
    c.store(kKey, "again");
    EXPECT_EQ(c.load(kKey), "again") << i;
  }
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(contents(elsewhere).size(), contents(path).size() + kValue.size() - 5) << "no link was followed";
}

TEST_F(DiskCacheTest, AnEntryOfAnotherKeyIsAMiss) {
  DiskCache c = cache();
  c.store(kKey, kValue);
  const fs::path of_key = file();
  c.store("other", "other's");
  for (const DiskCache::Entry& e : c.entries())
    if (folder() / e.name != of_key) fs::copy_file(folder() / e.name, of_key, fs::copy_options::overwrite_existing);
  EXPECT_EQ(c.load(kKey), std::nullopt);
  EXPECT_THAT(c.verify(), ElementsAre(of_key.filename().string()));
}

TEST_F(DiskCacheTest, AFolderThatCannotBeUsedOnlyCostsTheCache) {
  for (const std::string path : {"/proc/nowhere/cache", "/dev/null/cache", "/dev/null"}) {
    DiskCache c(path, 1 << 20);
    c.store(kKey, kValue);
    EXPECT_EQ(c.load(kKey), std::nullopt);
    EXPECT_THAT(c.entries(), IsEmpty());
    EXPECT_THAT(c.verify(), IsEmpty());
    EXPECT_EQ(c.clear(), 0u);
  }
  DiskCache c = cache();
  c.store(kKey, kValue);
  fs::permissions(folder(), fs::perms::group_write, fs::perm_options::add);  // others may put files there
  EXPECT_EQ(c.load(kKey), std::nullopt);
  fs::permissions(folder(), fs::perms::group_write, fs::perm_options::remove);
  EXPECT_EQ(c.load(kKey), kValue);
  fs::remove_all(folder());  // while the program runs
  EXPECT_EQ(c.load(kKey), std::nullopt);
  c.store(kKey, kValue);
  EXPECT_EQ(c.load(kKey), kValue);
}

TEST_F(DiskCacheTest, LeastRecentlyUsedEntriesGoFirst) {
  const std::string value(10'000, 'x');
  {
    DiskCache c = cache(1 << 20);
    for (int i = 0; i < 20; ++i) {
      c.store("key" + std::to_string(i), value);
      // Uses are an hour apart.
      for (const DiskCache::Entry& e : c.entries()) {
        struct stat s{};
        const fs::path path = folder() / e.name;
        ASSERT_EQ(::stat(path.c_str(), &s), 0);
        const timespec times[2] = {{s.st_mtim.tv_sec - 3600, 0}, {s.st_mtim.tv_sec - 3600, 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
      }
    }
    EXPECT_EQ(c.load("key0"), value);  // used now
  }
  DiskCache small = cache(100'000);
  small.store("last", value);
  EXPECT_EQ(small.load("key0"), value);
  EXPECT_EQ(small.load("last"), value);
  EXPECT_EQ(small.load("key19"), value);
  EXPECT_EQ(small.load("key1"), std::nullopt);
  uint64_t bytes = 0;
  for (const DiskCache::Entry& e : small.entries()) bytes += e.bytes;
  EXPECT_LE(bytes, 100'000u);
  EXPECT_GT(bytes, 50'000u);
  small.store("too large", std::string(200'000, 'x'));
  EXPECT_EQ(small.load("too large"), std::nullopt);
}

TEST_F(DiskCacheTest, ClearRemovesEntriesAndNothingElse) {
  DiskCache c = cache();
  c.store(kKey, kValue);
  c.store("other", kValue);
  write(folder() / "notes.txt", "of the user");
  EXPECT_EQ(c.clear(), 2u);
  EXPECT_THAT(files(), ElementsAre("notes.txt"));
}

TEST_F(DiskCacheTest, ThreadsShareAFolder) {
  DiskCache c = cache(200'000);  // entries are evicted all the time
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const std::string key = "key" + std::to_string((i * (t + 1)) % 50), value(2000 + key.size() * 100, key.back());
        EXPECT_EQ(c.load(key).value_or(value), value);
        c.store(key, value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DiskCacheTest, KilledProcessesLeaveNoPartialEntry) {
  cache().store(kKey, kValue);  // the folder exists
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      DiskCache c = cache(uint64_t{1} << 30);
      for (int k = 0;; ++k) c.store("key" + std::to_string(k % 10), std::string(300'000, 'x'));
    }
    ::usleep(static_cast<useconds_t>(2000 + i * 500));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }
  DiskCache c = cache();
  EXPECT_THAT(c.verify(), IsEmpty());
  EXPECT_EQ(c.load(kKey), kValue);
}

}  // namespace
}  // namespace calque::runtime
