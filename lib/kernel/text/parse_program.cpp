// Recursive descent over the text that print_program.cpp writes. Memory is bounded by the length of the text, the stack
// by kMaxDepth. The kernels come last and are read by parse.cpp.
#include <algorithm>
#include <charconv>
#include <utility>

#include "ir/text/text.h"
#include "ir/text/value_parser.h"
#include "kernel/ir/kernel_refs.h"
#include "kernel/text/names.h"
#include "kernel/text/parse.h"
#include "primitives/control/collectives.h"

namespace calque::kernel {
namespace {

using text::Token;
using text::TokenKind;

class ProgramParser : text::ValueParser {
 public:
  explicit ProgramParser(std::string_view text) : ValueParser(text, kProgramPunctuation), text_(text) {}

  Program parse() {
    header();
    while (peek().kind == TokenKind::identifier && spelling(peek()).front() == 'm') buffer();
    expect("steps", "or a buffer after the program's name");
    expect("{", "before the steps");
    p_.steps = block(0);
    while (true) {
      if (accept("copied")) {
        p_.copied.push_back(remark());
      } else if (accept("not")) {
        const bool fusion = accept("fused");
        if (!fusion) expect("overlapped", "or 'fused' in a remark");
        (fusion ? p_.remarks : p_.awaited).push_back(remark());
      } else {
        break;
      }
    }
    while (accept("host")) host_function();
    while (accept("routine")) routine();
    while (accept("constant")) constant();
    if (!at_end() && !at("kernel")) expected("a remark, a host function, a routine, a constant or a kernel");
    p_.kernels = parse_kernels(text_, peek().offset);
    bind_kernels();
    if (!at_reused_.empty()) reuse_inputs();
    if (const auto v = find_violation(p_)) {
      const size_t at = v->step >= 0     ? at_steps_[static_cast<size_t>(v->step)].offset
                        : v->buffer >= 0 ? at_buffers_[static_cast<size_t>(v->buffer)].offset
                                         : 0;
      lexer_.fail(at, v->rule);
    }
    return std::move(p_);
  }

 private:
  static constexpr int kMaxDepth = 200;

  // ---- the header and the buffers

  void header() {
    expect("program", "to start the text");
    p_.name = name("a program's name");
    for (const char* word : {":", "workspace"}) expect(word, "after a program's name");
    p_.workspace_bytes = at_least(0, "bytes");
    expect("bytes", "after the size of the workspace");
    if (!accept(",")) return;
    p_.num_loops = index("the number of loops");
    expect("loops", "after their number");
  }

  void buffer() {
    at_buffers_.push_back(peek());
    if (buffer_number() != static_cast<int32_t>(p_.buffers.size()))
      fail(at_buffers_.back(), "expected m" + std::to_string(p_.buffers.size()));
    expect("=", "after a buffer's name");
    ProgramBuffer b;
    b.kind = buffer_kind();
    if (b.kind != BufferKind::workspace) {
      b.index = index("the position of an input, output or constant");
    } else if (accept("private")) {
      expect("to", "after 'private'");
      b.private_to = loop_number();
    }
    if (accept("at")) b.offset = at_least(0, "an offset in bytes");
    b.donated = accept("donated");
    expect(":", "before a buffer's type");
    b.type = type();
    b.strides = accept("strides") ? strides() : row_major_strides(b.type.shape);
    if (at("in")) {
      at_reused_.emplace_back(peek(), p_.buffers.size());
      for (const char* word : {"in", "the", "memory", "of", "input"}) expect(word, "after the type of an output");
      reused_.push_back(index("the position of an input"));
    }
    p_.num_inputs += b.kind == BufferKind::input;
    p_.num_outputs += b.kind == BufferKind::output;
    p_.buffers.push_back(std::move(b));
  }

  BufferKind buffer_kind() {
    for (const BufferKind kind : kBufferKinds)
      if (accept(spelling_of(kind))) return kind;
    expected("'input', 'output', 'constant' or 'workspace'");
  }

  Shape::Dims strides() {
    Shape::Dims list;
    expect("[", "before the strides");
    if (accept("]")) return list;
    do {
      list.push_back(integer("a stride"));
    } while (accept(","));
    expect("]", "or ',' after a stride");
    return list;
  }

  void reuse_inputs() {
    p_.in_place.assign(static_cast<size_t>(p_.num_outputs), -1);
    for (size_t i = 0; i < at_reused_.size(); ++i) {
      const auto& [token, number] = at_reused_[i];
      const ProgramBuffer& b = p_.buffers[number];
      if (b.kind != BufferKind::output || b.index >= p_.num_outputs)
        fail(token, "only an output is in the memory of an input");
      p_.in_place[static_cast<size_t>(b.index)] = reused_[i];
    }
  }

  // ---- steps

  /// Up to the closing brace.
  std::vector<Step> block(int depth) {
    if (depth > kMaxDepth) fail(peek(), "steps are nested too deeply");
    std::vector<Step> steps;
    while (!accept("}")) {
      if (at_end()) expected("a step or '}'");
      steps.push_back(step(depth));
    }
    return steps;
  }

  void blocks(Step& s, int depth) {
    while (accept("{")) s.blocks.push_back(block(depth + 1));
  }

  Step step(int depth) {
    Step s;
    at_steps_.push_back(peek());
    if (accept("call")) {
      call(s);
    } else if (accept("copy")) {
      s.kind = StepKind::copy;
      s.bytes = at_least(0, "bytes");
      for (const char* word : {"bytes", "to"}) expect(word, "after the size of a copy");
      s.views.push_back(view());
      expect("from", "before what is copied");
      s.views.push_back(view());
    } else if (accept("while")) {
      s.kind = StepKind::while_;
      s.views.push_back(view());
      if (at_loop()) s.loop_id = loop_number();
      if (accept("at")) {
        expect("most", "before the largest number of iterations");
        s.most_iterations = at_least(0, "the largest number of iterations");
      }
      if (accept("carries")) carries(s);
      blocks(s, depth);
    } else if (accept("branch")) {
      s.kind = StepKind::branch;
      s.views.push_back(view());
      blocks(s, depth);
    } else if (accept("repeat")) {
      repeat(s);
      blocks(s, depth);
    } else if (accept("iota")) {
      s.kind = StepKind::iota_i32;
      s.loop_id = loop_number();
      expect("to", "before what iota writes to");
      s.views.push_back(view());
    } else if (accept("host")) {
      s.kind = StepKind::host_call;
      s.host_function = numbered('h', "a host function like h0");
      s.views = views();
    } else if (accept("routine")) {
      s.kind = StepKind::routine;
      s.routine = numbered('r', "a routine like r0");
      s.views = views();
    } else {
      expected("a step or '}'");
    }
    while (accept("copies")) {
      ArrayCopy c;
      c.from = view();
      expect("to", "between an array and its copy");
      c.to = view();
      c.remark = quoted();
      s.array_copies.push_back(std::move(c));
    }
    return s;
  }

  void call(Step& s) {
    const Token token = peek();
    std::string kernel = name("a kernel's name");
    const int32_t number = accept("#") ? index("a kernel's number among those of its name") : -1;
    s.kernel = static_cast<int32_t>(calls_.size());  // until bind_kernels
    calls_.push_back({token, std::move(kernel), number});
    s.views = views();
  }

  void repeat(Step& s) {
    s.kind = StepKind::repeat;
    s.count = at_least(0, "the number of iterations");
    s.reverse = accept("reverse");
    if (at_loop()) s.loop_id = loop_number();
    if (accept("sums")) {
      do {
        s.views.push_back(view());
        expect(":", "after a sum's memory");
        s.sums.push_back(type());
      } while (accept(","));
    }
    if (accept("chunks")) s.chunk_id = loop_number();
    s.threads = accept("threads");
    if (accept("(")) {
      s.grain = at_least(1, "iterations of a chunk");
      expect(")", "after the iterations of a chunk");
    }
    if (accept("private")) {
      s.private_bytes = at_least(1, "bytes");
      expect("bytes", "after the size of private memory");
    }
    if (accept("carries")) carries(s);
  }

  void carries(Step& s) {
    do {
      Carry c;
      c.before = buffer_number();
      expect("then", "after the buffer of a carry");
      c.next = buffer_number();
      expect("spare", "after the buffers of a carry");
      c.spare = buffer_number();
      c.updates = accept("updates");
      if (accept("from")) c.from = static_cast<int32_t>(at_least(0, "the number of a carry"));
      expect("result", "before the memory of the final value");
      c.result = view();
      if (accept("copied")) c.remark = quoted();
      s.carries.push_back(std::move(c));
    } while (accept(","));
  }

  /// The calls name kernels that the text defines after them.
  void bind_kernels() {
    const auto numbers = kernels_by_name(p_.kernels);
    std::vector<int32_t> bound;
    for (const Call& call : calls_) {
      const auto found = numbers.find(call.kernel);
      if (found == numbers.end()) fail(call.token, "there is no kernel '" + call.kernel + "'");
      const std::vector<int32_t>& list = found->second;
      if (call.number < 0 && list.size() > 1)
        fail(call.token, std::to_string(list.size()) + " kernels are named '" + call.kernel + "': say which after '#'");
      const auto number = static_cast<size_t>(std::max(call.number, 0));
      if (number >= list.size()) fail(call.token, "there is no such kernel '" + call.kernel + "'");
      bound.push_back(list[number]);
    }
    bind(p_.steps, bound);
  }
  static void bind(std::vector<Step>& steps, const std::vector<int32_t>& bound) {
    for (Step& s : steps) {
      if (s.kind == StepKind::kernel) s.kernel = bound[static_cast<size_t>(s.kernel)];
      for (auto& b : s.blocks) bind(b, bound);
    }
  }

  // ---- views

  std::vector<View> views() {
    std::vector<View> list;
    expect("(", "before the views");
    if (accept(")")) return list;
    do {
      list.push_back(view());
    } while (accept(","));
    expect(")", "or ',' after a view");
    return list;
  }

  View::Condition condition() {
    View::Condition when;
    when.loop = loop_number();
    if (accept("mod")) {
      when.period = at_least(3, "a number of buffers");
      expect("is", "after the number of buffers");
      when.remainder = at_least(0, "a remainder");
      return when;
    }
    when.remainder = accept("even") ? 0 : 1;
    if (when.remainder == 1) expect("odd", "or 'even' or 'mod' after a loop's number");
    return when;
  }
  View view() {
    View v;
    while (at_loop()) {
      View::Choice c;
      do {
        c.conditions.push_back(condition());
      } while (accept("and"));
      expect("?", "before the choice");
      slice(c);
      expect(":", "after the choice");
      v.choices.push_back(std::move(c));
    }
    slice(v);
    return v;
  }

  template <class Slice>
  void slice(Slice& s) {
    s.buffer = buffer_number();
    for (bool first = true; accept("+"); first = false) {
      const int64_t n = integer("bytes");
      if (accept("*"))
        s.terms.push_back({loop_number(), n});
      else if (first)
        s.offset = n;
      else
        expected("'*' and a loop's number");
    }
  }

  // ---- what steps refer to

  std::string remark() {
    expect(":", "before a remark");
    return quoted();
  }
  std::string quoted() { return lexer_.unquoted(expect_kind(TokenKind::string, "a remark in quotes")); }

  std::vector<Type> types() {
    std::vector<Type> list;
    expect("(", "before types");
    if (accept(")")) return list;
    do {
      list.push_back(type());
    } while (accept(","));
    expect(")", "or ',' after a type");
    return list;
  }

  void host_function() {
    const Token token = peek();
    if (numbered('h', "a host function like h0") != static_cast<int32_t>(p_.host_functions.size()))
      fail(token, "expected h" + std::to_string(p_.host_functions.size()));
    expect("=", "after a host function's name");
    HostFunctionRef f;
    if (accept("start")) {
      f.phase = CallPhase::start;
    } else if (accept("finish")) {
      f.phase = CallPhase::finish;
    }
    f.primitive = name("a primitive");
    f.equation_attributes = attributes();
    for (const std::string_view key : {"function", "group"}) {
      const AttributeValue* function = f.equation_attributes.find(key);
      if (function == nullptr) continue;
      const auto* opaque = std::get_if<std::shared_ptr<const Opaque>>(function);
      if (opaque == nullptr) fail(token, "the attribute '" + std::string(key) + "' is not an object");
      f.function = *opaque;
    }
    f.arguments = types();
    expect("gives", "before the types of the results");
    f.results = types();
    f.location = location();
    try {
      if (const Primitive* const primitive = find_primitive(f.primitive))
        f.collective =
            primitives::collective_call(primitive->id, f.equation_attributes, f.arguments, f.results, f.location);
    } catch (const Error& error) {  // of its attributes
      fail(token, error.what());
    }
    p_.host_functions.push_back(std::move(f));
  }

  void routine() {
    const Token token = peek();
    if (numbered('r', "a routine like r0") != static_cast<int32_t>(p_.routines.size()))
      fail(token, "expected r" + std::to_string(p_.routines.size()));
    expect("=", "after a routine's number");
    const Token named = peek();
    const std::string of = name("the name of a routine");
    const auto& names = primitives::kRoutineNames;
    const auto found = std::find(names.begin(), names.end(), of);
    if (found == names.end()) fail(named, "there is no routine " + of);
    RoutineRef r;
    r.routine = static_cast<primitives::Routine>(found - names.begin());
    if (peek().kind == TokenKind::number)
      r.flags = static_cast<uint32_t>(at_least(0, "the flags of a routine") & 0xffffffff);
    r.arguments = types();
    expect("gives", "before the types of the results");
    r.results = types();
    r.location = location();
    p_.routines.push_back(std::move(r));
  }

  void constant() {
    const Token token = peek();
    if (index("a constant's number") != static_cast<int32_t>(p_.constants.size()))
      fail(token, "expected constant " + std::to_string(p_.constants.size()));
    expect(":", "after a constant's number");
    const Type t = type();
    expect("=", "after a constant's type");
    p_.constants.push_back(contents(t));
  }

  // ---- words and numbers

  int64_t at_least(int64_t least, const char* what) {
    const Token token = peek();
    const int64_t n = integer(what);
    if (n < least) fail(token, std::string("expected ") + what + " from " + std::to_string(least));
    return n;
  }
  int32_t index(const char* what) {
    const Token token = peek();
    const int64_t n = at_least(0, what);
    if (n > INT32_MAX) fail(token, std::string(what) + " is too large");
    return static_cast<int32_t>(n);
  }

  static std::optional<int32_t> number_after(char letter, std::string_view word) {
    int32_t n = -1;
    if (word.size() < 2 || word[0] != letter) return std::nullopt;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size() || n < 0) return std::nullopt;
    return n;
  }
  int32_t numbered(char letter, const char* what) {
    const auto n = peek().kind == TokenKind::identifier ? number_after(letter, spelling(peek())) : std::nullopt;
    if (!n) expected(what);
    next();
    return *n;
  }
  int32_t buffer_number() { return numbered('m', "a buffer like m0"); }
  int32_t loop_number() { return numbered('i', "a loop like i0"); }
  bool at_loop() const {
    return peek().kind == TokenKind::identifier && number_after('i', spelling(peek())).has_value();
  }

  struct Call {
    Token token;
    std::string kernel;
    int32_t number;  ///< among the kernels of that name; -1: the only one
  };

  std::string_view text_;
  Program p_;
  std::vector<Call> calls_;
  std::vector<Token> at_steps_, at_buffers_;
  std::vector<std::pair<Token, size_t>> at_reused_;  ///< with the number of the buffer
  std::vector<int32_t> reused_;
};

}  // namespace

Program parse_program(std::string_view text) { return ProgramParser(text).parse(); }

bool is_program(std::string_view text) { return text::begins_with(text, "program "); }

}  // namespace calque::kernel
