#include "primitives/control/effects.h"

#include <iostream>
#include <mutex>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "ir/fork.h"
#include "primitives/control/subgraph_rules.h"
#include "primitives/registration.h"

namespace calque::primitives {
namespace {

/// Walks a format: calls `text` for each literal character and `placeholder` for each `{}`. Returns false at a stray
/// brace.
template <class Text, class Placeholder>
bool walk_format(std::string_view format, Text text, Placeholder placeholder) {
  for (size_t i = 0; i < format.size();) {
    const char c = format[i];
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (c == '{' && next == '}') {
      placeholder();
      i += 2;
    } else if ((c == '{' || c == '}') && next == c) {
      text(c);
      i += 2;
    } else if (c == '{' || c == '}') {
      return false;
    } else {
      text(c);
      ++i;
    }
  }
  return true;
}

}  // namespace

int count_placeholders(std::string_view format) {
  int count = 0;
  return walk_format(format, [](char) {}, [&] { ++count; }) ? count : -1;
}

std::string format_arrays(std::string_view format, std::span<const AnyArray> arrays) {
  std::ostringstream out;
  size_t next = 0;
  walk_format(
      format, [&](char c) { out << c; },
      [&] {
        if (next < arrays.size()) out << arrays[next];
        ++next;
      });
  return out.str();
}

namespace {

thread_local EffectLog* running_log = nullptr;

void write_line(const std::string& line) {
  static constinit ForkMutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << line + "\n" << std::flush;
}

std::vector<AnyArray> call_and_check(const Opaque& function, std::span<const AnyArray> operands,
                                     std::span<const Type> results) {
  const auto* host = dynamic_cast<const HostFunction*>(&function);
  if (host == nullptr)
    throw CompileError(fmt::format("host_call: {} is no function that can be called", function.label()));
  std::vector<AnyArray> arrays = host->call(operands);
  if (arrays.size() != results.size()) {
    throw ShapeError(fmt::format("host_call: {} promises {} results and returned {}", function.label(), results.size(),
                                 arrays.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (arrays[i].type() == results[i] && !arrays[i].empty()) continue;
    const std::string text = fmt::format("host_call: result {} of {} is promised as {}, got {}", i, function.label(),
                                         to_string(results[i]), to_string(arrays[i].type()));
    if (arrays[i].dtype() != results[i].dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
  return arrays;
}

}  // namespace

void EffectLog::flush() {
  for (Effect& effect : effects_) {
    if (std::exchange(effect.waits, false) && !is_silent_) write_line(effect.line);
  }
}

EffectLog::~EffectLog() { flush(); }

EffectLog::Run::Run(EffectLog& log, size_t taken) : log_(log), outer_(std::exchange(running_log, &log)) {
  log.taken_ = taken;
}
EffectLog::Run::~Run() { running_log = outer_; }

void write_debug_line(const std::string& line) {
  EffectLog* const log = running_log;
  if (log == nullptr) return write_line(line);
  if (log->taken_ == log->effects_.size()) log->effects_.push_back({line, true, {}});
  ++log->taken_;
}

bool EffectLog::is_running() { return running_log != nullptr; }

std::vector<AnyArray> EffectLog::once(const std::function<std::vector<AnyArray>()>& effect) {
  EffectLog* const log = running_log;
  if (log == nullptr) return effect();
  if (log->taken_ == log->effects_.size()) {
    log->flush();
    running_log = nullptr;  // what the function calls has effects of its own
    try {
      log->effects_.push_back({{}, false, effect()});
    } catch (...) {
      running_log = log;
      throw;
    }
    running_log = log;
  }
  return log->effects_[log->taken_++].results;
}

std::vector<AnyArray> call_host_function(const Opaque& function, std::span<const AnyArray> operands,
                                         std::span<const Type> results) {
  return EffectLog::once([&] { return call_and_check(function, operands, results); });
}

void DebugPrint::infer(Typing& t) {
  const auto& format = t.attributes().get<std::string>("format");
  const int count = count_placeholders(format);
  if (count < 0)
    t.rule_error(fmt::format("expects only {{}} in the format (write {{{{ for a brace), got \"{}\"", format));
  if (static_cast<size_t>(count) != t.num_operands()) {
    t.rule_error(fmt::format("the format has {} placeholders for {} operands", count, t.num_operands()));
  }
}

void DebugPrint::evaluate(Evaluation& e) {
  write_debug_line(format_arrays(e.attributes.get<std::string>("format"), e.operands));
}

void DebugPrint::batch(Batching& b) { batch_one_by_one(b); }

void HostCall::infer(Typing& t) {
  if (t.attributes().get<std::shared_ptr<const Opaque>>("function") == nullptr) t.rule_error("expects a function");
  for (const Type& type : t.attributes().get<std::vector<Type>>("results")) t.result(type);
}

void HostCall::evaluate(Evaluation& e) {
  e.results =
      call_host_function(*e.attributes.get<std::shared_ptr<const Opaque>>("function"), e.operands, e.result_types);
}

void HostCall::batch(Batching& b) { batch_one_by_one(b); }

template void register_family<EffectsList>(std::span<const Registration>);

}  // namespace calque::primitives
