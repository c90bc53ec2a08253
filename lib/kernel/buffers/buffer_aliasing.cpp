#include "kernel/buffers/buffer_aliasing.h"

#include <algorithm>
#include <utility>

namespace calque::kernel {

namespace {

void for_each_step(std::vector<Step>& steps, const std::function<void(Step&)>& visit) {
  for (Step& step : steps) {
    visit(step);
    for (auto& block : step.blocks) for_each_step(block, visit);
  }
}

}  // namespace

void for_each_view(std::vector<Step>& steps, const std::function<void(View&)>& visit) {
  for (Step& step : steps) {
    for (View& v : step.views) visit(v);
    for (ArrayCopy& c : step.array_copies) {
      visit(c.to);
      visit(c.from);
    }
    for (auto& block : step.blocks) for_each_view(block, visit);
  }
}

void redirect_views(std::vector<Step>& steps, const std::unordered_map<int32_t, View>& targets) {
  for_each_view(steps, [&](View& v) {
    const auto at = targets.find(v.buffer);
    if (at == targets.end()) return;
    View target = at->second;
    target.offset += v.offset;
    target.terms.insert(target.terms.end(), v.terms.begin(), v.terms.end());
    // Existing choices of the view refer to an inner loop and come first.
    for (View::Choice& c : target.choices) {
      c.offset += v.offset;
      c.terms.insert(c.terms.end(), v.terms.begin(), v.terms.end());
    }
    target.choices.insert(target.choices.begin(), v.choices.begin(), v.choices.end());
    v = std::move(target);
  });
}

View double_buffered(const View& even, const View& odd, int32_t loop, int64_t phase) {
  View view = even;
  view.choices.insert(view.choices.begin(), {loop, phase % 2, odd.buffer, odd.offset, odd.terms});
  return view;
}

void list_copy(Program& program, std::string remark) {
  constexpr size_t kMost = 64;
  std::vector<std::string>& list = program.copied;
  if (!remark.empty() && list.size() < kMost && std::find(list.begin(), list.end(), remark) == list.end())
    list.push_back(std::move(remark));
}

void list_copies(Program& program) {
  for_each_step(program.steps, [&](Step& s) {
    for (ArrayCopy& c : s.array_copies)
      if (c.to != c.from) list_copy(program, std::move(c.remark));
    s.array_copies.clear();
  });
}

void drop_unused(Program& program) {
  std::vector<int32_t> buffers(program.buffers.size(), -1), kernels(program.kernels.size(), -1);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (program.buffers[i].kind != BufferKind::workspace) buffers[i] = 0;
  for_each_view(program.steps, [&](View& v) {
    buffers[static_cast<size_t>(v.buffer)] = 0;
    for (const View::Choice& c : v.choices) buffers[static_cast<size_t>(c.buffer)] = 0;
  });
  for_each_step(program.steps, [&](Step& s) {
    if (s.kind == StepKind::kernel) kernels[static_cast<size_t>(s.kernel)] = 0;
  });
  const auto compact = [](auto& list, std::vector<int32_t>& numbers) {
    int32_t next = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0) continue;
      if (static_cast<size_t>(next) != i) list[static_cast<size_t>(next)] = std::move(list[i]);
      numbers[i] = next++;
    }
    list.erase(list.begin() + next, list.end());
  };
  compact(program.buffers, buffers);
  compact(program.kernels, kernels);
  for_each_view(program.steps, [&](View& v) {
    v.buffer = buffers[static_cast<size_t>(v.buffer)];
    for (View::Choice& c : v.choices) c.buffer = buffers[static_cast<size_t>(c.buffer)];
  });
  for_each_step(program.steps, [&](Step& s) {
    if (s.kind == StepKind::kernel) s.kernel = kernels[static_cast<size_t>(s.kernel)];
  });
}

}  // namespace calque::kernel
