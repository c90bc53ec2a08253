// Iteration numbers are kept on the host: a counted loop needs no data of the device.
#include "runtime/device/step_runner.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "calque/detail/call.h"

#include "primitives/control/effects.h"
#include "runtime/device/collectives.h"
#include "runtime/routines/routines.h"
#include "transform/complex/split_complex.h"

namespace calque::runtime {

using kernel::Program;
using kernel::Step;
using kernel::StepKind;
using kernel::View;

namespace {

/// The buffer slice that a view refers to in these iterations: its own or that of one of its choices.
template <class Use>
auto chosen(const View& view, const std::vector<int64_t>& iterations, Use&& use) {
  for (const View::Choice& c : view.choices) {
    const auto holds = [&](const View::Condition& when) {
      return when.holds(iterations[static_cast<size_t>(when.loop)]);
    };
    if (std::all_of(c.conditions.begin(), c.conditions.end(), holds)) return use(c.buffer, c.offset, c.terms);
  }
  return use(view.buffer, view.offset, view.terms);
}

int64_t offset_of(int64_t offset, const std::vector<View::Term>& terms, const std::vector<int64_t>& iterations) {
  for (const View::Term& term : terms) offset += term.bytes * iterations[static_cast<size_t>(term.loop)];
  return offset;
}

/// Calls use(offset, bytes, word) for each word of an integer of `bytes` bytes as devices store it; stops at false.
template <class Use>
bool for_words(int64_t value, size_t bytes, Use&& use) {
  constexpr size_t kWord = 4;
  for (size_t at = 0; at < bytes; at += kWord) {
    if (!use(at, std::min(bytes, kWord), static_cast<uint32_t>(static_cast<uint64_t>(value) >> (8 * at)))) return false;
  }
  return true;
}

/// Unrolls steps into a chain. Steps that depend on the iterations of enclosing loops are rejected.
class ChainBuilder {
 public:
  ChainBuilder(const Program& program, size_t most)
      : program_(program),
        most_(most),
        iterations_(static_cast<size_t>(program.num_loops), 0),
        known_(static_cast<size_t>(program.num_loops), false) {}

  /// False, without adding anything, if the step cannot be part of the chain.
  bool add(const Step& step) {
    const size_t before = chain.entries.size();
    if (append(step)) return true;
    chain.entries.resize(before);
    return false;
  }
  Chain chain;

 private:
  bool append(const Step& step) {
    switch (step.kind) {
      case StepKind::kernel:
        return append({.kind = Command::Kind::launch, .kernel = step.kernel}, step.views);
      case StepKind::copy:
        return copy(step);
      case StepKind::iota_i32:
        return iota(step);
      case StepKind::repeat:
        return repeat(step);
      default:
        return false;
    }
  }
  bool copy(const Step& step) {
    if (step.bytes == 0) return true;
    if (!is_known(step.views[0]) || !is_known(step.views[1])) return false;
    const Chain::Slice to = slice(step.views[0]), from = slice(step.views[1]);
    if (to.buffer == from.buffer && to.offset == from.offset) return true;
    // Two buffers may have the same address only where a result reuses an argument's memory.
    if (to.buffer != from.buffer && !program_.in_place.empty()) return false;
    return append({.kind = Command::Kind::copy, .bytes = static_cast<size_t>(step.bytes)}, step.views);
  }
  bool iota(const Step& step) {
    if (!known_[static_cast<size_t>(step.loop_id)] || !is_known(step.views[0])) return false;
    const Chain::Slice to = slice(step.views[0]);
    const size_t bytes = size_of(program_.buffers[static_cast<size_t>(to.buffer)].type.dtype);
    return for_words(iterations_[static_cast<size_t>(step.loop_id)], bytes, [&](size_t at, size_t size, uint32_t word) {
      return append({{.kind = Command::Kind::store, .bytes = size, .value = word},
                     {{to.buffer, to.offset + static_cast<int64_t>(at)}}});
    });
  }
  bool repeat(const Step& step) {
    const auto loop = static_cast<size_t>(std::max(step.loop_id, 0));
    const bool counted = step.loop_id >= 0;
    bool all = true;
    for (int64_t i = 0; all && i < step.count; ++i) {
      if (counted) {
        iterations_[loop] = step.reverse ? step.count - 1 - i : i;
        known_[loop] = true;
      }
      all = std::all_of(step.blocks[0].begin(), step.blocks[0].end(), [&](const Step& s) { return append(s); });
    }
    if (counted) known_[loop] = false;
    return all;
  }
  bool append(Command command, const std::vector<View>& views) {
    Chain::Entry entry{std::move(command), {}};
    for (const View& view : views) {
      if (!is_known(view)) return false;
      entry.slices.push_back(slice(view));
    }
    return append(std::move(entry));
  }
  bool append(Chain::Entry entry) {
    if (chain.entries.size() == most_) return false;
    chain.entries.push_back(std::move(entry));
    return true;
  }
  bool is_known(const View& view) const {
    const auto known = [&](const auto& part) { return known_[static_cast<size_t>(part.loop)]; };
    return std::all_of(view.terms.begin(), view.terms.end(), known) &&
           std::all_of(view.choices.begin(), view.choices.end(), [&](const View::Choice& c) {
             return std::all_of(c.conditions.begin(), c.conditions.end(), known) &&
                    std::all_of(c.terms.begin(), c.terms.end(), known);
           });
  }
  Chain::Slice slice(const View& view) const {
    return chosen(view, iterations_, [&](int32_t buffer, int64_t offset, const auto& terms) {
      return Chain::Slice{buffer, offset_of(offset, terms, iterations_)};
    });
  }

  const Program& program_;
  const size_t most_;
  std::vector<int64_t> iterations_;
  std::vector<bool> known_;
};

void find_chains(const Program& program, const std::vector<Step>& steps, size_t least, size_t most, Chains& chains) {
  for (size_t i = 0; i < steps.size();) {
    ChainBuilder builder(program, most);
    size_t end = i;
    while (end < steps.size() && builder.add(steps[end])) ++end;
    if (builder.chain.entries.size() >= least) {
      builder.chain.number = chains.by_first.size();
      chains.by_first.emplace(&steps[i], Chains::Entry{std::move(builder.chain), end - i});
      i = end;
      continue;
    }
    for (const std::vector<Step>& block : steps[i].blocks) find_chains(program, block, least, most, chains);
    ++i;
  }
}

}  // namespace

Chains chains_of(const Program& program, size_t least, size_t most) {
  Chains chains;
  find_chains(program, program.steps, least, most, chains);
  return chains;
}

void StepRunner::run(const Chain& chain) {
  api_.submit_chain(code_, chain.number, buffers_, [&] {
    std::vector<Command> commands;
    commands.reserve(chain.entries.size());
    for (const Chain::Entry& entry : chain.entries) {
      Command& command = commands.emplace_back(entry.command);
      command.addresses.reserve(entry.slices.size());
      for (const Chain::Slice& s : entry.slices) {
        command.addresses.push_back(static_cast<std::byte*>(buffers_[static_cast<size_t>(s.buffer)]) + s.offset);
      }
    }
    return commands;
  });
}

void* StepRunner::address_at(int32_t buffer, int64_t offset, const std::vector<View::Term>& terms) const {
  return static_cast<std::byte*>(buffers_[static_cast<size_t>(buffer)]) + offset_of(offset, terms, iterations_);
}

void* StepRunner::address(const View& view) const {
  return chosen(view, iterations_,
                [&](int32_t buffer, int64_t offset, const auto& terms) { return address_at(buffer, offset, terms); });
}

void StepRunner::run(const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size();) {
    const Chains::Entry* const chain = chains_ != nullptr ? chains_->find(&steps[i]) : nullptr;
    if (chain == nullptr) {
      run(steps[i++]);
    } else {
      run(chain->chain);
      i += chain->steps;
    }
  }
}

void StepRunner::run(const Step& step) {
  switch (step.kind) {
    case StepKind::kernel:
      return launch(step);
    case StepKind::copy:
      return copy(step);
    case StepKind::while_:
      return while_loop(step);
    case StepKind::branch:
      return branch(step);
    case StepKind::repeat:
      return repeat(step);
    case StepKind::iota_i32:
      return iota(step);
    case StepKind::host_call:
      return host_call(step);
    case StepKind::routine:
      return routine(step);
  }
}

void StepRunner::launch(const Step& step) {
  detail::StackList<void*, 16> addresses;
  for (const View& view : step.views) addresses.push_back(address(view));
  api_.launch(code_, step.kernel, addresses.data());
}

void StepRunner::copy(const Step& step) {
  void *to = address(step.views[0]), *from = address(step.views[1]);
  if (step.bytes == 0 || to == from) return;
  api_.copy(to, from, static_cast<size_t>(step.bytes));
}

void StepRunner::iota(const Step& step) {
  auto* const to = static_cast<std::byte*>(address(step.views[0]));
  for_words(iterations_[static_cast<size_t>(step.loop_id)], size_of(dtype(step.views[0])),
            [&](size_t at, size_t size, uint32_t word) {
              api_.store(to + at, word, size);
              return true;
            });
}

void StepRunner::while_loop(const Step& step) {
  for (int64_t i = 0;; ++i) {
    if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = i;
    run(step.blocks[0]);
    uint8_t flag = 0;
    api_.download(&flag, address(step.views[0]), 1);
    if (flag == 0) return;
    run(step.blocks[1]);
  }
}

// The index is clamped: negative ones select the first block, too large ones the last.
void StepRunner::branch(const Step& step) {
  const size_t n = step.blocks.size();
  if (n == 0) return;
  const DType d = dtype(step.views[0]);
  Literal selector;
  api_.download(selector.bytes, address(step.views[0]), size_of(d));
  const size_t block = visit_dtype(d, [&]<class T>() -> size_t {
    if constexpr (std::same_as<T, bool>) {
      return selector.bytes[0] != 0 ? 0 : n - 1;
    } else if constexpr (std::integral<T>) {
      const T value = selector.as<T>();
      return std::cmp_less(value, 0) ? 0 : std::cmp_less(value, n) ? static_cast<size_t>(value) : n - 1;
    } else {
      throw CompileError("call: a branch is chosen by a number that is no integer");
    }
  });
  run(step.blocks[block]);
}

void StepRunner::repeat(const Step& step) {
  for (int64_t i = 0; i < step.count; ++i) {
    if (step.loop_id >= 0) iterations_[static_cast<size_t>(step.loop_id)] = step.reverse ? step.count - 1 - i : i;
    run(step.blocks[0]);
  }
}

// The host computes routines: arguments are fetched, results are put back.
void StepRunner::routine(const Step& step) {
  const kernel::RoutineRef& r = program_.routines[static_cast<size_t>(step.routine)];
  std::vector<AnyArray> arrays;
  std::vector<void*> pointers;
  for (const auto* types : {&r.arguments, &r.results})
    for (const Type& type : *types) {
      const size_t i = arrays.size();
      AnyArray& array = arrays.emplace_back(AnyArray::uninitialized(type));
      if (i < r.arguments.size() && array.bytes() != 0)
        api_.download(array.mutable_data(), address(step.views[i]), array.bytes());
    }
  for (AnyArray& array : arrays) pointers.push_back(array.mutable_data());
  run_routine(r, pointers.data());
  for (size_t i = r.arguments.size(); i < arrays.size(); ++i)
    if (arrays[i].bytes() != 0) api_.upload(address(step.views[i]), arrays[i].data(), arrays[i].bytes());
}

void StepRunner::host_call(const Step& step) {
  const kernel::HostFunctionRef& f = program_.host_functions[static_cast<size_t>(step.host_function)];
  if (f.phase == kernel::CallPhase::finish) return;  // the start has run it
  auto view = step.views.begin();
  if (f.collective) {
    void* const operand = f.arguments.empty() ? nullptr : address(*view++);
    void* const result = f.results.empty() ? nullptr : address(*view);
    return run_collective(api_, *f.function, *f.collective, operand, result);
  }
  std::vector<AnyArray> arguments;
  arguments.reserve(f.arguments.size());
  for (const Type& type : f.arguments) {
    AnyArray& argument = arguments.emplace_back(AnyArray::uninitialized(type));
    if (argument.bytes() != 0) api_.download(argument.mutable_data(), address(*view), argument.bytes());
    ++view;
  }
  if (f.function == nullptr) {  // debug_print
    primitives::write_debug_line(
        primitives::format_arrays(f.equation_attributes.get<std::string>("format"), arguments));
    return;
  }
  // What is evaluated in place of the device, other than functions of the user.
  std::optional<primitives::RouteCollectives> route;
  if (!transform::evaluated_primitive(*f.function).empty()) route.emplace(route_through(api_));
  for (const AnyArray& result : primitives::call_host_function(*f.function, arguments, f.results)) {
    if (result.bytes() != 0) api_.upload(address(*view), result.data(), result.bytes());
    ++view;
  }
}

}  // namespace calque::runtime
