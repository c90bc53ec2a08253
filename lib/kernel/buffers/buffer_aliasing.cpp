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

namespace {

/// The slice of a slice: `more` begins in the memory that `target` denotes.
template <class Slice>
Slice within(Slice target, int64_t offset, const std::vector<View::Term>& terms) {
  target.offset += offset;
  target.terms.insert(target.terms.end(), terms.begin(), terms.end());
  return target;
}

}  // namespace

void redirect_views(std::vector<Step>& steps, const std::unordered_map<int32_t, View>& targets) {
  const auto target_of = [&](int32_t buffer) {
    const auto at = targets.find(buffer);
    return at == targets.end() ? nullptr : &at->second;
  };
  for_each_view(steps, [&](View& v) {
    // Existing choices of the view refer to an inner loop and come first.
    std::vector<View::Choice> choices;
    for (View::Choice& c : v.choices) {
      const View* const to = target_of(c.buffer);
      if (to == nullptr) {
        choices.push_back(std::move(c));
        continue;
      }
      for (View::Choice both : to->choices) {
        both = within(std::move(both), c.offset, c.terms);
        both.conditions.insert(both.conditions.begin(), c.conditions.begin(), c.conditions.end());
        choices.push_back(std::move(both));
      }
      const View first = within(View{to->buffer, to->offset, to->terms}, c.offset, c.terms);
      choices.push_back({std::move(c.conditions), first.buffer, first.offset, first.terms});
    }
    if (const View* const to = target_of(v.buffer); to != nullptr) {
      for (const View::Choice& c : to->choices) choices.push_back(within(c, v.offset, v.terms));
      v = within(View{to->buffer, to->offset, to->terms}, v.offset, v.terms);
    }
    v.choices = std::move(choices);
  });
}

void limit_alignment(Program& program, const std::vector<Step>& steps, int32_t buffer, int64_t alignment) {
  for (const Step& s : steps) {
    if (s.kind == StepKind::kernel) {
      Kernel& kernel = program.kernels[static_cast<size_t>(s.kernel)];
      for (size_t i = 0; i < s.views.size(); ++i) {
        Buffer& b = kernel.buffers[i];
        const bool is_chosen = std::any_of(s.views[i].choices.begin(), s.views[i].choices.end(),
                                           [=](const View::Choice& c) { return c.buffer == buffer; });
        if (s.views[i].buffer == buffer || is_chosen)
          b.alignment = std::min(b.alignment, std::max(alignment, static_cast<int64_t>(size_of(b.dtype))));
      }
    }
    const bool ends_in_it =
        std::any_of(s.carries.begin(), s.carries.end(), [=](const Carry& c) { return c.result.buffer == buffer; });
    for (const auto& block : s.blocks) {
      limit_alignment(program, block, buffer, alignment);
      if (!ends_in_it) continue;
      for (const Carry& c : s.carries)  // they may take turns in each other's memory
        for (const int32_t b : {c.before, c.next}) limit_alignment(program, block, b, alignment);
    }
  }
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
