// Invariants of a program: inputs, outputs and constants have one buffer each; steps refer to kernels, buffers and
// loops that exist and are in scope; a kernel gets a view for each of its buffers; the bytes that a view denotes, in
// every iteration of the loops around it, are inside its buffer; the memory of a call is left alone from its start to
// its completion.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/text/text.h"
#include "ir/values/bytes.h"
#include "kernel/ir/memory_use.h"
#include "kernel/ir/program.h"

namespace calque::kernel {

namespace {

constexpr int kMaxDepth = 200;
constexpr int32_t kMostLoops = 1 << 24;

/// Thrown and caught in this file.
struct Broken {
  Violation violation;
};

class ProgramVerifier {
 public:
  explicit ProgramVerifier(const Program& program) : p_(program), uses_(program) {}

  void run() {
    require(p_.num_inputs >= 0 && p_.num_outputs >= 0 && p_.workspace_bytes >= 0, "a count is not negative");
    require(p_.num_loops <= kMostLoops, "the program has too many loops");
    std::vector<size_t> left = {static_cast<size_t>(p_.num_inputs), static_cast<size_t>(p_.num_outputs),
                                p_.constants.size()};
    std::unordered_set<int64_t> seen;
    for (buffer_ = 0; buffer_ < static_cast<int64_t>(p_.buffers.size()); ++buffer_) {
      const ProgramBuffer& b = p_.buffers[static_cast<size_t>(buffer_)];
      this->buffer(b);
      if (b.kind == BufferKind::workspace) continue;
      const auto kind = static_cast<size_t>(b.kind);
      const size_t most = kind == 0   ? static_cast<size_t>(p_.num_inputs)
                          : kind == 1 ? static_cast<size_t>(p_.num_outputs)
                                      : p_.constants.size();
      require(b.index >= 0 && static_cast<size_t>(b.index) < most, "there is no such input, output or constant");
      require(seen.insert(static_cast<int64_t>(kind) << 32 | b.index).second,
              "an input, output or constant has two buffers");
      --left[kind];
    }
    buffer_ = -1;
    require(left[0] == 0 && left[1] == 0 && left[2] == 0, "an input, output or constant has no buffer");
    in_place();
    steps(p_.steps, 0);
  }

 private:
  [[noreturn]] void fail(std::string rule) const { throw Broken{{step_, step_ >= 0 ? -1 : buffer_, std::move(rule)}}; }
  void require(bool holds, std::string_view rule) const {
    if (!holds) fail(std::string(rule));
  }

  // ---- buffers

  void buffer(const ProgramBuffer& b) const {
    require(text::addressable(b.type), "a buffer is too large");
    require(b.strides.size() == b.type.shape.size(), "a buffer has a stride for each dimension");
    require(b.kind == BufferKind::input || b.strides == row_major_strides(b.type.shape),
            "only inputs have strides that are not row-major");
    for (const int64_t s : b.strides) require(s <= text::kMaxBytes && s >= -text::kMaxBytes, "a stride is too large");
    require(!b.donated || b.kind == BufferKind::input, "only inputs are donated");
    require(b.private_to < 0 || b.kind == BufferKind::workspace, "only workspace is private to a loop");
    require(b.offset >= 0 && b.offset <= text::kMaxBytes, "an offset is not in the workspace");
    require(b.offset == 0 || b.kind == BufferKind::workspace, "only workspace has an offset");
    if (b.kind == BufferKind::constant && b.index >= 0 && static_cast<size_t>(b.index) < p_.constants.size())
      require(p_.constants[static_cast<size_t>(b.index)].type() == b.type, "a constant has its buffer's type");
  }

  void in_place() const {
    if (p_.in_place.empty()) return;
    require(p_.in_place.size() == static_cast<size_t>(p_.num_outputs), "every output is in place or not");
    std::unordered_set<int32_t> taken;
    for (const int32_t input : p_.in_place) {
      if (input < 0) continue;
      require(input < p_.num_inputs, "an output is in the memory of an input that does not exist");
      require(taken.insert(input).second, "two outputs are in the memory of one input");
    }
  }

  bool is_reused(int32_t input) const {
    return std::find(p_.in_place.begin(), p_.in_place.end(), input) != p_.in_place.end();
  }

  const ProgramBuffer& buffer(int32_t number) const {
    if (number < 0 || static_cast<size_t>(number) >= p_.buffers.size())
      fail(fmt::format("there is no buffer m{}", number));
    return p_.buffers[static_cast<size_t>(number)];
  }

  // ---- views

  /// Iteration numbers of the loops in scope are at most this.
  int64_t last_iteration(int32_t loop) const {
    const auto at = last_.find(loop);
    if (at == last_.end()) fail(fmt::format("i{} is not the number of an enclosing counted loop", loop));
    return at->second;
  }

  /// Checks a slice of `bytes` bytes, of which none are accessed in a loop that never runs.
  void slice(int32_t number, int64_t offset, const std::vector<View::Term>& terms, int64_t bytes, bool writes) const {
    const ProgramBuffer& b = buffer(number);
    require(!writes || b.kind != BufferKind::constant, "a constant is written to");
    require(!writes || b.kind != BufferKind::input || is_reused(b.index),
            "an input is written to in which there is no output");
    int64_t begin = offset, end = offset;
    bool fits = offset <= text::kMaxBytes && offset >= -text::kMaxBytes;
    for (const View::Term& t : terms) {
      int64_t furthest = 0;
      fits = fits && !__builtin_mul_overflow(t.bytes, last_iteration(t.loop), &furthest);
      fits = fits && furthest <= text::kMaxBytes && furthest >= -text::kMaxBytes;
      if (fits) (furthest < 0 ? begin : end) += furthest;
      fits = fits && begin >= -text::kMaxBytes && end <= text::kMaxBytes;
    }
    if (bytes <= 0 || never_ > 0) return;
    const auto negative = [](int64_t stride) { return stride < 0; };
    if (std::any_of(b.strides.begin(), b.strides.end(), negative)) return;
    fits = fits && begin >= 0 && bytes <= text::kMaxBytes * 16 && end + bytes <= size_of_buffer(b);
    if (!fits) fail(fmt::format("a view is outside its buffer m{}", number));
  }

  /// Bytes from the first element to the end of the last.
  static int64_t size_of_buffer(const ProgramBuffer& b) {
    int64_t elements = 1;
    for (size_t d = 0; d < b.strides.size(); ++d) {
      int64_t more = 0;
      if (b.type.shape[d] == 0) return 0;
      if (__builtin_mul_overflow(b.type.shape[d] - 1, b.strides[d], &more) ||
          __builtin_add_overflow(elements, more, &elements))
        return text::kMaxBytes;
    }
    return std::min(elements, text::kMaxBytes) * static_cast<int64_t>(size_of(b.type.dtype));
  }

  void view(const View& v, int64_t bytes, bool writes) const {
    slice(v.buffer, v.offset, v.terms, bytes, writes);
    for (const View::Choice& c : v.choices) {
      require(!c.conditions.empty(), "a choice has a condition");
      for (const View::Condition& when : c.conditions) {
        require(when.period >= 2 && when.remainder >= 0 && when.remainder < when.period,
                "a remainder is less than the period");
        if (last_.count(when.loop) == 0 && whiles_.count(when.loop) == 0)
          fail(fmt::format("i{} is not the number of an enclosing loop or of an earlier while", when.loop));
      }
      slice(c.buffer, c.offset, c.terms, bytes, writes);
    }
  }

  int64_t element_bytes(const View& v) const { return static_cast<int64_t>(size_of(buffer(v.buffer).type.dtype)); }

  // ---- steps

  void steps(const std::vector<Step>& list, int depth) {
    require(depth <= kMaxDepth, "steps are nested too deeply");
    PendingCalls pending(p_, uses_);
    for (const Step& s : list) {
      const int64_t number = num_steps_++;
      step_ = number;
      step(s);
      if (s.kind == StepKind::while_ || s.kind == StepKind::repeat)
        loop(s, depth);
      else
        for (const auto& block : s.blocks) steps(block, depth + 1);
      step_ = number;
      if (const std::string_view broken = pending.pass(s); !broken.empty()) fail(std::string(broken));
    }
    require(pending.empty(), "a call is started that is not completed in the same list of steps");
  }

  void shape(const Step& s, size_t views, size_t blocks) const {
    require(s.views.size() == views && s.blocks.size() == blocks, "a step has the views and blocks of its kind");
  }

  void step(const Step& s) const {
    require(s.carries.empty() || s.kind == StepKind::while_ || s.kind == StepKind::repeat, "only loops have carries");
    switch (s.kind) {
      case StepKind::kernel:
        return call(s);
      case StepKind::copy:
        shape(s, 2, 0);
        require(s.bytes >= 0, "a copy's bytes are not negative");
        view(s.views[0], s.bytes, true);
        return view(s.views[1], s.bytes, false);
      case StepKind::while_:
        require(s.most_iterations >= -1, "a loop's counts are not negative");
        return shape(s, 1, 2);
      case StepKind::branch: {
        shape(s, 1, std::max<size_t>(s.blocks.size(), 1));
        view(s.views[0], element_bytes(s.views[0]), false);
        const DType selector = buffer(s.views[0].buffer).type.dtype;
        return require(selector == DType::i32 || is_bool(selector), "a branch is selected by an i32 or a bool");
      }
      case StepKind::repeat:
        shape(s, s.sums.size(), 1);
        require(s.count >= 0 && s.grain >= 0 && s.private_bytes >= 0, "a loop's counts are not negative");
        require(s.chunk_id < 0 || s.grain > 0, "only loops with a grain have chunks");
        for (size_t i = 0; i < s.sums.size(); ++i) view(s.views[i], static_cast<int64_t>(bytes_of(s.sums[i])), true);
        return;
      case StepKind::iota_i32:
        shape(s, 1, 0);
        if (last_.count(s.loop_id) == 0 && whiles_.count(s.loop_id) == 0)
          fail(fmt::format("i{} is not the number of an enclosing loop", s.loop_id));
        return view(s.views[0], 4, true);
      case StepKind::host_call:
        return host_call(s);
      case StepKind::routine:
        return routine(s);
    }
  }

  void call(const Step& s) const {
    require(s.kernel >= 0 && static_cast<size_t>(s.kernel) < p_.kernels.size(), "there is no such kernel");
    const Kernel& k = p_.kernels[static_cast<size_t>(s.kernel)];
    if (s.views.size() != k.num_parameters() || !s.blocks.empty())
      fail(fmt::format("the kernel has {} buffers, got {}", k.num_parameters(), s.views.size()));
    for (size_t i = 0; i < s.views.size(); ++i)
      view(s.views[i], std::max<int64_t>(k.buffers[i].extent, 0) * static_cast<int64_t>(size_of(k.buffers[i].dtype)),
           k.buffers[i].written);
  }

  void host_call(const Step& s) const {
    require(s.host_function >= 0 && static_cast<size_t>(s.host_function) < p_.host_functions.size(),
            "there is no such host function");
    call_of_types(s, p_.host_functions[static_cast<size_t>(s.host_function)]);
  }

  void routine(const Step& s) const {
    require(s.routine >= 0 && static_cast<size_t>(s.routine) < p_.routines.size(), "there is no such routine");
    call_of_types(s, p_.routines[static_cast<size_t>(s.routine)]);
  }

  template <class Ref>
  void call_of_types(const Step& s, const Ref& f) const {
    shape(s, f.arguments.size() + f.results.size(), 0);
    for (size_t i = 0; i < s.views.size(); ++i) {
      const bool result = i >= f.arguments.size();
      const Type& type = result ? f.results[i - f.arguments.size()] : f.arguments[i];
      view(s.views[i], static_cast<int64_t>(bytes_of(type)), result);
    }
  }

  void loop(const Step& s, int depth) {
    if (s.loop_id >= 0) new_loop(s.loop_id);
    if (s.chunk_id >= 0) new_loop(s.chunk_id);
    std::unordered_set<int32_t> taken;
    for (const Carry& c : s.carries) {
      carry(c);
      require(c.from < 0 || taken.insert(c.from).second, "the memory of a carry has the next value of one carry");
      require(c.from < 0 || (static_cast<size_t>(c.from) < s.carries.size() &&
                             s.carries[static_cast<size_t>(c.from)].before == c.next && c.next != c.before),
              "a carry whose next value is in the memory of another one names that one");
    }
    const bool counted = s.kind == StepKind::repeat, never = counted && s.count == 0;
    if (counted && s.loop_id >= 0) last_[s.loop_id] = std::max<int64_t>(s.count - 1, 0);
    if (counted && s.chunk_id >= 0) last_[s.chunk_id] = std::max<int64_t>((s.count - 1) / s.grain, 0);
    if (!counted && s.loop_id >= 0) whiles_.insert(s.loop_id);
    if (!counted) {
      view(s.views[0], 1, false);
      require(is_bool(buffer(s.views[0].buffer).type.dtype), "a while's condition is a bool");
    }
    never_ += never;
    for (const auto& block : s.blocks) steps(block, depth + 1);
    never_ -= never;
    last_.erase(s.loop_id);
    last_.erase(s.chunk_id);
  }

  void new_loop(int32_t id) {
    if (id >= p_.num_loops) fail(fmt::format("the program has {} loops, got i{}", p_.num_loops, id));
    if (!loops_.insert(id).second) fail(fmt::format("two loops have the number i{}", id));
  }

  void carry(const Carry& c) const {
    for (const int32_t b : {c.before, c.next, c.spare}) {
      require(buffer(b).kind == BufferKind::workspace, "a carry is in the workspace");
      require(buffer(b).type == buffer(c.before).type, "the buffers of a carry have one type");
    }
    require(c.spare != c.before && c.spare != c.next, "the spare buffer of a carry is another one");
    view(c.result, static_cast<int64_t>(bytes_of(buffer(c.before).type)), true);
  }

  const Program& p_;
  const MemoryUses uses_;
  std::unordered_map<int32_t, int64_t> last_;  ///< by number of an enclosing counted loop: the last iteration number
  std::unordered_set<int32_t> whiles_;         ///< enclosing and earlier ones
  std::unordered_set<int32_t> loops_;          ///< all so far
  int never_ = 0;                              ///< enclosing loops without iterations
  int64_t step_ = -1, num_steps_ = 0, buffer_ = -1;
};

}  // namespace

std::optional<Violation> find_violation(const Program& program) {
  try {
    ProgramVerifier(program).run();
  } catch (Broken& broken) {
    return std::move(broken.violation);
  }
  return std::nullopt;
}

void verify(const Program& program) {
  const auto v = find_violation(program);
  if (!v) return;
  const std::string at = v->step >= 0     ? fmt::format(" (step {})", v->step)
                         : v->buffer >= 0 ? fmt::format(" (buffer m{})", v->buffer)
                                          : "";
  throw CompileError(fmt::format("verify: program {}: {}{}", program.name, v->rule, at));
}

}  // namespace calque::kernel
