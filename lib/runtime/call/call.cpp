// The path of a call: the entry used last, then the table, then trace and compile.
#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "calque/device.h"

#include "ir/fork.h"
#include "ir/graph/persistent.h"
#include "ir/log.h"
#include "runtime/call/branch_call.h"
#include "runtime/call/donation.h"
#include "runtime/call/function_state.h"
#include "runtime/call/trace_tree.h"
#include "runtime/device/device_api.h"
#include "runtime/memory/array_pool.h"
#include "runtime/memory/workspace.h"
#include "runtime/process/environment.h"

namespace calque::detail {
namespace {

using runtime::CallEntry;
using runtime::CallTable;

/// Tables shared by the callables of one key. They outlive the callables, but not the module that contains the key's
/// address.
class SharedTables {
 public:
  std::shared_ptr<CallTable> get(const void* key) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<CallTable>& table = tables_[key];
    if (!table) table = std::make_shared<CallTable>(runtime::environment().code_memory);
    return table;
  }
  void forget(const runtime::ModuleRange& module) {
    std::vector<std::shared_ptr<CallTable>> forgotten;  // destroyed without the lock
    std::lock_guard lock(mutex_);
    std::erase_if(tables_, [&](auto& table) {
      if (!module.contains(table.first)) return false;
      forgotten.push_back(std::move(table.second));
      return true;
    });
  }
  static SharedTables& one() {
    return process_wide([] { return new SharedTables; });
  }

 private:
  ForkMutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<CallTable>> tables_;
};

void run_eagerly(const FunctionState& function, Arguments& arguments, const CallSite& site, CallResult& result) {
  const Device device = runtime::check_leaves(function, arguments, site);
  runtime::Traced traced = runtime::trace_call(function, arguments, site, true);
  result.outputs.reserve(traced.values.size());
  for (const AnyArray& value : traced.values) {
    result.outputs.emplace_back(copy_to_device(function.title(), value, device, function.location));
  }
  result.structure = traced.structure.get();
  result.keep = std::move(traced.structure);
  if (!function.options.donate.empty()) runtime::donate(function, arguments);
}

/// With `branches::trace`, `effects` are those of the run of the lambda.
std::shared_ptr<const CallEntry> compile(const FunctionState& function, const Arguments& arguments,
                                         const CallSite& site, primitives::EffectLog& effects) {
  const Device device = runtime::check_leaves(function, arguments, site);
  const auto add_to_history = [&] {
    const std::string warning =
        function.table->history().add(arguments.words(), [&] { return runtime::signature_parts(site); });
    if (!warning.empty()) library_log().warn("{}: {}{}", function.title(), warning, where_text(function.location));
  };
  if (function.options.branches == branches::trace) {
    auto entry = runtime::make_branch_entry(function, arguments, site, device, effects);
    add_to_history();
    return entry;
  }
  runtime::Traced traced = runtime::trace_call(function, arguments, site, false);
  std::shared_ptr<CallEntry> entry = runtime::make_entry(arguments, traced, device);
  entry->executable =
      runtime::executable_of(function, arguments, traced, runtime::compile_options(function, arguments, *entry));
  entry->runs_directly = runtime::runs_directly(function, *entry);
  add_to_history();
  return entry;
}

[[gnu::noinline]] void call_slow_path(const FunctionState& function, Arguments& arguments, const CallSite& site,
                                      CallResult& result) {
  if (arguments.has_spec()) {
    throw ShapeError(function.title() + ": spec stands for a type and cannot be run on; trace and lower take it" +
                     where_text(function.location));
  }
  if (runtime::eager_mode()) {
    run_eagerly(function, arguments, site, result);
    return;
  }
  std::shared_ptr<const CallEntry> entry;
  primitives::EffectLog effects;
  try {
    entry = function.table->get(arguments.words(), [&] { return compile(function, arguments, site, effects); });
  } catch (const runtime::RecursiveFlight&) {
    throw CompileError(function.title() +
                       ": the function calls itself on data of the same types while it is traced, without end" +
                       where_text(function.location));
  } catch (const runtime::CallFailure& e) {
    runtime::rethrow(function, e);
  }
  result.keep = entry;
  if (entry->executable == nullptr) {
    runtime::call_branches(function, *entry, arguments, site, effects, result);
    return;
  }
  runtime::run(function, *entry, arguments, result);
}

}  // namespace

void throw_moved_from(const char* what) { throw Error(std::string(what) + ": the function was moved from"); }

void CallResult::unpin() { runtime::unpin(pin_); }

InlinedCall::InlinedCall(const FunctionState& function)
    : call_(function.table.get(), function.name(), function.location) {}

std::shared_ptr<const FunctionState> make_function_state(JitOptions options, const void* key, Location location) {
  runtime::install_pool();
  auto state = std::make_shared<FunctionState>();
  const Device device = options.device.value_or(Device{});
  state->options_word = uint64_t(options.fast_math) | uint64_t(options.strict) << 1 |
                        uint64_t(options.deterministic) << 2 | uint64_t(options.device.has_value()) << 3 |
                        uint64_t(options.flush_subnormals) << 4 | uint64_t(options.tier) << 5 |
                        uint64_t(options.branches) << 12 | uint64_t(options.loops) << 14 | uint64_t(device.kind) << 8 |
                        uint64_t(device.index & 0xffff) << 16;
  for (const int position : options.donate) {
    if (position >= 0 && position < runtime::kMaxDonatedArguments)
      state->options_word |= uint64_t{1} << (32 + position);
  }
  state->options = std::move(options);
  state->location = persistent(location);
  for (const auto& [option, set] : {std::pair{".fast_math", state->options.fast_math},
                                    std::pair{".flush_subnormals", state->options.flush_subnormals}}) {
    if (!set || !state->options.strict) continue;
    throw CompileError(state->title() + ": " + option + " and .strict exclude each other" + where_text(location));
  }
  state->table = key ? SharedTables::one().get(key) : std::make_shared<CallTable>(runtime::environment().code_memory);
  return state;
}

void call_function(const FunctionState& function, Arguments& arguments, const CallSite& site, CallResult& result) {
  arguments.set_options(function.options_word);
  if (arguments.irregular()) [[unlikely]] {
    call_slow_path(function, arguments, site, result);
    return;
  }
  void* pin = nullptr;
  if (const CallEntry* entry = function.table->last(arguments.words(), pin)) [[likely]] {
    result.set_pin(pin);
    if (entry->executable == nullptr) [[unlikely]] {
      primitives::EffectLog effects;
      runtime::call_branches(function, *entry, arguments, site, effects, result);
    } else {
      runtime::run(function, *entry, arguments, result);
    }
    return;
  }
  call_slow_path(function, arguments, site, result);
}

CacheInfo cache_info_of(const FunctionState& function) {
  size_t awaiting = 0;
  for (const auto& entry : function.table->entries())
    awaiting += entry->executable != nullptr && entry->executable->awaits_optimized.load(std::memory_order_relaxed);
  return {function.table->hits(), function.table->misses(), function.table->size(), awaiting};
}

BranchInfo branch_info_of(const FunctionState& function, Arguments& arguments) {
  arguments.set_options(function.options_word);
  const auto entry = function.table->find(arguments.words());
  return entry == nullptr || entry->tree == nullptr ? BranchInfo() : entry->tree->info();
}

void clear_cache_of(const FunctionState& function) { function.table->clear(); }

}  // namespace calque::detail

namespace calque::runtime {
namespace {

void run_donating(const detail::FunctionState& function, const CallEntry& entry, const detail::Arguments& arguments,
                  detail::CallResult& result) {
  const DonatedBuffers donated = donated_buffers(function, arguments, *entry.executable, entry.device);
  try {
    execute(*entry.executable, arguments.leaves(), entry.lifted, entry.constants, entry.sources, entry.device,
            result.outputs, donated);
  } catch (...) {
    donate(function, arguments);  // whether or not their memory was taken over
    throw;
  }
  donate(function, arguments);
}

}  // namespace

void run(const detail::FunctionState& function, const CallEntry& entry, const detail::Arguments& arguments,
         detail::CallResult& result) {
  try {
    if (function.options.donate.empty()) {
      execute(*entry.executable, arguments.leaves(), entry.lifted, entry.constants, entry.sources, entry.device,
              result.outputs);
    } else {
      run_donating(function, entry, arguments, result);
    }
  } catch (const CallFailure& e) {
    rethrow(function, e);
  }
  result.structure = entry.structure.get();
}

void forget_module(const ModuleRange& module) {
  detail::SharedTables::one().forget(module);
  forget_in_all_tables(module);
}

bool runs_directly(const detail::FunctionState& function, const CallEntry& entry) {
  const auto is_next_output = [&, next = uint32_t{0}](const OutputSource& source) mutable {
    return source.kind == OutputSource::Kind::computed && source.index == next++;
  };
  return has_host_memory(entry.device) && function.options.donate.empty() && entry.executable->entry != nullptr &&
         std::all_of(entry.sources.begin(), entry.sources.end(), is_next_output) &&
         entry.sources.size() == entry.executable->outputs.size();
}

void rethrow(const detail::FunctionState& function, const CallFailure& e) {
  throw DeviceError(function.title() + ": " + e.what() + where_text(function.location));
}

std::shared_ptr<const Executable> executable_of(const detail::FunctionState& function,
                                                const detail::Arguments& arguments, const Traced& traced,
                                                const CompileOptions& options) {
  const Graph& graph = traced.graph;
  if (graph.outputs().empty() && graph.num_equations() == 0) {
    return process_wide([] { return new std::shared_ptr<const Executable>(std::make_shared<const Executable>()); });
  }
  CompileReport report;
  report.equations = graph.num_equations();
  report.trace = traced.seconds;
  report.title = function.title() + where_text(function.location);
  auto executable = find_executable(graph, input_strides(arguments, graph), options, &report);
  library_log().debug("{}: traced {} equations, {}", function.title(), graph.num_equations(),
                      report.compiled ? "compiled" : "code was there");
  log_compilation(function.title(), report);
  return executable;
}

}  // namespace calque::runtime
