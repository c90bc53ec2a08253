// Several processes compile random graphs on one folder while they are killed and the folder is disturbed: every result
// has the right bits, no process fails, no partial file stays behind, and the folder keeps its bound.
//
//   process_disk_cache_stress        a small run
//   process_disk_cache_stress full   8 processes, 1,000 graphs each
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "process/disturb.h"
#include "process/graphs.h"
#include "process/self.h"
#include "reference/evaluate.h"
#include "runtime/process/disk_cache.h"
#include "support/sanitizers.h"

namespace cq = calque;
namespace fs = std::filesystem;

namespace {

using calque::test::Example;
using calque::test::fail;
using calque::test::Rng;
using cq::runtime::DiskCache;

struct Size {
  uint32_t processes, graphs;
  uint64_t capacity;
};
const bool kSlow = calque::test::kAddressSanitizer || calque::test::kThreadSanitizer;
const Size kSmall = kSlow ? Size{2, 6, 100'000} : Size{4, 30, 400'000};
constexpr Size kFull = {8, 1000, 4'000'000};
constexpr uint32_t kMostProcesses = 8, kMostGraphs = 1000;

/// What the processes share, in a file that they map.
struct Shared {
  uint64_t wanted[kMostGraphs];                ///< hash of the right results, by graph
  std::atomic<uint32_t> done[kMostProcesses];  ///< graphs of a process that are done
  std::atomic<uint64_t> compilations;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

Shared& map_shared(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Shared)) != 0) fail("no shared file");
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) fail("no shared memory");
  return *static_cast<Shared*>(memory);
}

// ---- graphs

Example example(uint32_t number) {
  calque::test::RandomGraphOptions options;
  options.max_equations = 25;
  options.max_elements = 200;
  options.reassociated = false;
  options.exclude = {"bitcast", "copysign", "signbit"};  // the sign of a NaN is unspecified
  return {7'000'000 + number, options};
}

/// A third of the graphs in default mode, which only generated code computes, the others as the reference does; some on
/// the simulator.
cq::runtime::CompileOptions options_of(uint32_t number) {
  cq::runtime::CompileOptions options;
  options.strict = number % 3 != 0;
  options.tier = cq::tier::best;
  if (number % 8 == 1) options.device = cq::gpu_sim();
  if (number % 8 == 1) options.strict = true;
  return options;
}

/// Of the bits, all NaNs being the same.
uint64_t hash_of(const std::vector<cq::AnyArray>& results) {
  uint64_t hash = 0;
  for (const cq::AnyArray& array : results) {
    const cq::AnyArray here = cq::detail::copy_to_device("test", array, cq::cpu(), {});
    cq::visit_dtype(here.dtype(), [&]<class T>() {
      std::vector<T> elements(here.data_as<T>(), here.data_as<T>() + here.size());
      if constexpr (cq::is_floating(cq::dtype_of<T>)) {
        for (T& x : elements)
          if (x != x) x = T(0.0f) / T(1.0f) - T(12345.0f);
      }
      if constexpr (!std::is_same_v<T, bool>) {
        hash = XXH3_64bits_withSeed(elements.data(), elements.size() * sizeof(T), hash);
      } else {
        for (const bool x : elements) hash = hash * 31 + (x ? 7 : 3);
      }
    });
  }
  return hash;
}

uint64_t run(uint32_t number, bool by_reference) {
  const Example e = example(number);
  const cq::runtime::CompileOptions options = options_of(number);
  if (by_reference && options.strict)
    return hash_of(cq::reference::evaluate(e.graph, e.inputs, cq::runtime::reference_options(options)));
  const auto executable = e.executable(options);
  const uint64_t hash = hash_of(e.run(*executable, options.device));
  cq::runtime::forget_executables({executable.get()});
  return hash;
}

// ---- the processes

/// Without the cache on disk.
int compute_wanted(Shared& shared, uint32_t graphs) {
  for (uint32_t g = 0; g < graphs; ++g) shared.wanted[g] = run(g, true);
  return 0;
}

/// Goes on where the process of this number was killed.
int work(Shared& shared, uint32_t process, uint32_t graphs) {
  std::vector<uint32_t> order(graphs);
  for (uint32_t g = 0; g < graphs; ++g) order[g] = g;
  Rng(process).shuffle(order);
  for (uint32_t i = shared.done[process]; i < graphs; ++i) {
    const uint64_t compilations = cq::runtime::num_compilations();
    if (run(order[i], false) != shared.wanted[order[i]]) fail("wrong results of graph " + std::to_string(order[i]));
    shared.compilations += cq::runtime::num_compilations() - compilations;
    shared.done[process] = i + 1;
  }
  return 0;
}

/// This program with other arguments.
pid_t start(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {calque::test::self()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) fail("no process");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  return child;
}

// ---- the test

class Stress {
 public:
  Stress(const fs::path& cache, const std::string& shared_file, Size size)
      : cache_(cache), shared_file_(shared_file), size_(size), shared_(map_shared(shared_file)) {}

  void compute_wanted() {
    ::setenv("CALQUE_CACHE_DIR", "off", 1);
    expect_success(wait_for(start({"wanted", shared_file_, std::to_string(size_.graphs)})));
    ::setenv("CALQUE_CACHE_DIR", cache_.c_str(), 1);
    ::setenv("CALQUE_CACHE_SIZE", std::to_string(size_.capacity).c_str(), 1);
  }

  /// All processes compute all graphs. They are killed; `disturbed`: and the folder is disturbed.
  void run(bool disturbed) {
    for (auto& done : shared_.done) done = 0;
    shared_.compilations = 0;
    kills_ = disturbances_ = starts_ = 0;
    most_bytes_ = 0;
    children_.assign(size_.processes, Child());
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t running = size_.processes; running > 0;) {
      running = 0;
      for (uint32_t p = 0; p < size_.processes; ++p) running += keep_running(children_[p], p);
      if (rng_.chance(3)) kill_one();
      if (disturbed && rng_.chance(50) && calque::test::disturb(cache_, rng_)) ++disturbances_;
      most_bytes_ = std::max(most_bytes_, calque::test::bytes_of_entries(cache_));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    report(disturbed, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    check_folder(disturbed);
  }

 private:
  struct Child {
    pid_t id = 0;  ///< of a process that was not waited for yet; 0: there is none
    bool is_done = false;
  };

  /// Starts the process, or starts it again after it was killed; false once it has computed all graphs.
  bool keep_running(Child& child, uint32_t process) {
    if (child.is_done) return false;
    if (child.id > 0) {
      int status = 0;
      const pid_t ended = ::waitpid(child.id, &status, WNOHANG);
      if (ended == 0) return true;
      if (ended != child.id) fail("a process is gone");
      child.id = 0;
      child.is_done = !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
      if (child.is_done) {
        expect_success(status);
        return false;
      }
    }
    child.id = start({"work", shared_file_, std::to_string(process), std::to_string(size_.graphs)});
    ++starts_;
    return true;
  }

  /// At most one for every few graphs: processes must get on, however slow they are. (kill takes ids that are not
  /// positive for many processes: only those of children may get there.)
  void kill_one() {
    uint64_t done = 0;
    for (const auto& of_process : shared_.done) done += of_process;
    const pid_t id = rng_.pick(children_).id;
    if (id > 0 && kills_ < done / 4 + 2 && ::kill(id, SIGKILL) == 0) ++kills_;
  }

  static int wait_for(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child) fail("a process is gone");
    return status;
  }
  static void expect_success(int status) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("a process ended with status " + std::to_string(status));
  }

  void report(bool disturbed, double seconds) const {
    std::printf(
        "%s: %u processes x %u graphs in %.1f s: %llu compilations, %llu starts, %llu kills, %llu disturbances, at "
        "most "
        "%llu bytes of %llu\n",
        disturbed ? "disturbed" : "killed", size_.processes, size_.graphs, seconds,
        static_cast<unsigned long long>(shared_.compilations.load()), static_cast<unsigned long long>(starts_),
        static_cast<unsigned long long>(kills_), static_cast<unsigned long long>(disturbances_),
        static_cast<unsigned long long>(most_bytes_), static_cast<unsigned long long>(size_.capacity));
  }

  void check_folder(bool disturbed) {
    // A process measures the folder after it has written a sixteenth of the capacity.
    if (most_bytes_ > size_.capacity + size_.processes * (size_.capacity / 16 + kLargestEntry))
      fail("the folder has grown to " + std::to_string(most_bytes_) + " bytes");
    DiskCache cache(cache_, size_.capacity);
    const auto damaged = cache.verify();
    if (!disturbed && !damaged.empty()) fail(damaged.front() + " is damaged, though processes were only killed");
    const auto leftovers = calque::test::files_of(cache_, calque::test::is_leftover);
    std::printf("  afterwards: %zu entries, %zu damaged, %zu files of killed processes\n", cache.entries().size(),
                damaged.size(), leftovers.size());
    for (const fs::path& path : leftovers) {  // an hour goes by
      const timespec times[2] = {{::time(nullptr) - 3600, 0}, {::time(nullptr) - 3600, 0}};
      ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
    }
    cache.store("one more", "value");
    if (!calque::test::files_of(cache_, calque::test::is_leftover).empty()) fail("files of killed processes stay");
    if (calque::test::bytes_of_entries(cache_) > size_.capacity) fail("the folder is larger than its bound");
    if (!cache.verify().empty()) fail("damaged entries stay");
  }

  static constexpr uint64_t kLargestEntry = 300'000;
  const fs::path cache_;
  const std::string shared_file_;
  const Size size_;
  Shared& shared_;
  Rng rng_{20};
  std::vector<Child> children_;
  uint64_t kills_ = 0, disturbances_ = 0, starts_ = 0;
  uint64_t most_bytes_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i) { return static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  if (argc == 4 && std::strcmp(argv[1], "wanted") == 0) return compute_wanted(map_shared(argv[2]), argument(3));
  if (argc == 5 && std::strcmp(argv[1], "work") == 0) return work(map_shared(argv[2]), argument(3), argument(4));
  ::setenv("CALQUE_SANITIZE_CODE", "0", 1);  // sanitized code is not stored
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const calque::test::TemporaryFolder folder;
  Stress stress(folder / "cache", folder / "shared", argc > 1 && std::strcmp(argv[1], "full") == 0 ? kFull : kSmall);
  stress.compute_wanted();
  stress.run(false);
  stress.run(true);
  return 0;
}
