// The process-wide cache. Its key holds everything that the code depends on: the graph up to names, the contents of
// constants that were not lifted to inputs, the layouts of the inputs, options and target.
#include "compile/executable.h"

#include <atomic>
#include <tuple>

#include <xxhash.h>

#include "calque/ir/errors.h"

#include "compile/compiler.h"
#include "compile/constants.h"
#include "compile/native_executable.h"
#include "compile/stored_code.h"
#include "ir/floating_point_mode.h"
#include "ir/fork.h"
#include "ir/stopwatch.h"
#include "ir/values/bytes.h"
#include "runtime/device/device_api.h"
#include "runtime/process/environment.h"
#include "runtime/process/flight_cache.h"

namespace calque::runtime {
namespace {

using Key = ExecutableKey;

uint64_t hash_of(const Key& key) {
  uint64_t hash = XXH3_64bits_withSeed(key.strides.data(), key.strides.size() * sizeof(int64_t), key.graph.low);
  hash = XXH3_64bits_withSeed(&key.constants, sizeof(key.constants), hash);
  for (size_t i = 0; i < key.options.donated.size(); ++i)
    if (key.options.donated[i]) hash = XXH3_64bits_withSeed(&i, sizeof(i), hash);
  hash ^= uint64_t(key.options.device.kind) << 48 | static_cast<uint64_t>(key.options.device.index) << 56;
  return hash ^
         (uint64_t(key.options.strict) | uint64_t(key.options.fast_math) << 1 | uint64_t(key.options.reference) << 2 |
          uint64_t(key.options.deterministic) << 3 | uint64_t(key.options.flush_subnormals) << 4 |
          static_cast<uint64_t>(key.options.tier) << 5 | static_cast<uint64_t>(key.options.scalar_arguments) << 8);
}

struct Entry {
  Key key;
  uint64_t hash = 0;
  std::shared_ptr<const Executable> executable;
};

struct EntryBytes {
  size_t operator()(const Entry& entry) const {
    return sizeof(Entry) + entry.key.strides.size() * sizeof(int64_t) + entry.executable->bytes();
  }
};

using Table = FlightCache<Key, Entry, EntryBytes>;
Table& table() {
  return process_wide([] {
    static constinit ForkHooks hooks{.in_child = [] { table().forget_other_threads(); }};
    at_fork(hooks);
    return new Table(environment().code_memory);
  });
}
std::atomic<uint64_t> compilations{0};

std::shared_ptr<const Executable> compile_graph(const Graph& graph, std::span<const Strides> strides,
                                                const CompileOptions& options, const std::string& stored_key,
                                                CompileReport& report) {
  if (auto stored = load_executable(stored_key, graph, strides, options, report)) return stored;
  compilations.fetch_add(1, std::memory_order_relaxed);
  return compiler_of(options.device.kind).compile(graph, strides, options, stored_key, report);
}

std::shared_ptr<const Executable> make(const Graph& graph, std::span<const Strides> strides,
                                       const CompileOptions& options, const std::string& stored_key,
                                       CompileReport& report) {
  const DefaultFloatingPointMode mode;
  const std::string title = title_of(report, graph);
  report.passes.add(kTracePass.name, report.trace, PassLog::Over::whole, [&](std::ostream& out) { out << graph; });
  std::shared_ptr<const Executable> executable;
  try {
    executable = compile_graph(graph, strides, options, stored_key, report);
  } catch (...) {  // the passes before the one that failed say why
    dump_passes(title, report.passes);
    throw;
  }
  dump_passes(title, report.passes);
  return executable;
}

}  // namespace

void Executable::set_outputs(std::vector<Type> types) {
  outputs = std::move(types);
  output_bytes.clear();
  for (const Type& t : outputs) output_bytes.push_back(bytes_of(t));
}

size_t Executable::bytes() const {
  // What a value, an equation and a module of a GPU take is of no more consequence than its order of magnitude.
  constexpr size_t kValue = 128, kEquation = 512, kModule = size_t{256} << 10;
  size_t bytes = sizeof(Executable) + (inputs.size() + outputs.size()) * kValue;
  for (const AnyArray& array : constant_arrays) bytes += array.bytes();
  if (code) bytes += (is_tiered ? 2 : 1) * code->bytes();  // optimized code takes about as much
  if (graph) bytes += graph->num_values() * kValue + graph->num_equations() * kEquation;
  if (device) bytes += kModule;
  return bytes;
}

std::shared_ptr<const Executable> find_executable(const Graph& graph, std::span<const Strides> strides,
                                                  const CompileOptions& options, CompileReport* report,
                                                  const std::function<bool(uint64_t hash)>& defers) {
  CompileReport mine;
  CompileReport& r = report ? *report : mine;
  Stopwatch all, stage;
  if (calls_host(graph)) {
    auto executable = make(graph, strides, options, "", r);
    r.compiled = true;
    r.total = all.lap();
    return executable;
  }
  Key key{canonical_hash(graph), large_constants_hash(graph), {}, options, {}};
  for (const Strides& s : strides) key.strides.insert(key.strides.end(), s.begin(), s.end());
  if (!options.reference) key.target = target_key();
  key.target += device_api(options.device).code_key();
  const uint64_t hash = hash_of(key);
  r.key = stage.lap();
  if (defers && !table().find_ready(key, hash) && defers(hash)) return nullptr;
  std::vector<std::shared_ptr<const Entry>> evicted;
  const auto entry = table().get(
      key, hash,
      [&] {
        const std::string stored = stored_key(key);
        return std::make_shared<const Entry>(Entry{key, hash, make(graph, strides, options, stored, r)});
      },
      r.compiled, evicted);
  r.total = all.lap();
  return entry->executable;
}

void forget_executables(const std::unordered_set<const Executable*>& executables) {
  std::vector<std::shared_ptr<const Entry>> erased;
  table().erase_if([&](const Entry& entry) { return executables.contains(entry.executable.get()); }, erased);
}

void clear_executables() { table().clear(); }
size_t num_executables() { return table().size(); }
void limit_executables(size_t bytes) { table().set_capacity(bytes); }
uint64_t num_compilations() { return compilations.load(std::memory_order_relaxed); }

}  // namespace calque::runtime
