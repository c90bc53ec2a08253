// Recursive descent. The text may be anything: memory is bounded by its length, the stack by kMaxDepth.
#include "kernel/text/parse.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "ir/text/text.h"
#include "ir/text/token_stream.h"
#include "kernel/text/names.h"

namespace calque::kernel {
namespace {

using text::Token;
using text::TokenKind;

class KernelParser : text::TokenStream {
 public:
  /// Reads the text from the offset on. Offsets in errors are those in the whole text.
  KernelParser(std::string_view text, size_t from)
      : TokenStream(text, from == 0 ? std::string_view() : kProgramPunctuation),
        values_left_(kFreeValues + text.size()) {
    while (!at_end() && peek().offset < from) next();
  }

  std::vector<Kernel> parse() {
    std::vector<Kernel> kernels;
    while (!at_end()) {
      expect("kernel", "before a kernel's name");
      kernels.push_back(kernel());
      verify(kernels.back());
    }
    return kernels;
  }

 private:
  static constexpr int kMaxDepth = 200;
  // Ids may have gaps, where passes removed instructions: so many values more than the text has characters.
  static constexpr size_t kFreeValues = 4096;

  // ---- kernels

  Kernel kernel() {
    Kernel k;
    kernel_ = &k;
    k.name = name("a kernel's name");
    expect("(", "before the buffers");
    if (!accept(")")) {
      do {
        k.buffers.push_back(buffer(k.buffers.size()));
      } while (accept(","));
      expect(")", "or ',' after a buffer");
    }
    expect("{", "before the instructions");
    if (accept("origin")) k.origin = origin();
    if (accept("reads")) cost(k);
    if (accept("launch")) launch(k);
    k.body = instructions(0);
    kernel_ = nullptr;
    return k;
  }

  Buffer buffer(size_t index) {
    Buffer b;
    b.written = accept("out");
    const Token at_name = peek();
    if (buffer_index() != static_cast<int64_t>(index)) fail(at_name, "expected b" + std::to_string(index));
    expect(":", "after a buffer's name");
    b.dtype = dtype();
    expect("[", "after a buffer's element type");
    b.extent = between(-INT64_MAX, INT64_MAX, "the elements of a buffer");
    expect("]", "after a buffer's elements");
    b.alignment = accept("align") ? at_least(1, "an alignment in bytes") : static_cast<int64_t>(size_of(b.dtype));
    return b;
  }

  /// Local buffers are numbered as they were: loops may list them in another order.
  int32_t local_buffer() {
    Buffer b;
    const Token at_name = peek();
    const int64_t number = buffer_index();
    constexpr int64_t kMostLocals = 1024;
    const auto first = static_cast<int64_t>(kernel_->num_parameters());
    if (number < first || number >= first + kMostLocals) fail(at_name, "this is not the number of a local buffer");
    expect(":", "after a buffer's name");
    b.dtype = dtype();
    expect("[", "after a buffer's element type");
    b.extent = between(1, INT64_MAX, "the elements of a local buffer");
    expect("]", "after a buffer's elements");
    b.alignment = static_cast<int64_t>(size_of(b.dtype));
    b.local = b.written = true;
    auto& all = kernel_->buffers;
    // Those of loops that are still to come are empty until then, which the verifier refuses if they do not come.
    if (static_cast<size_t>(number) >= all.size()) all.resize(static_cast<size_t>(number) + 1, {.local = true});
    if (all[static_cast<size_t>(number)].extent != 0) fail(at_name, "this buffer belongs to another loop already");
    all[static_cast<size_t>(number)] = b;
    return static_cast<int32_t>(number);
  }

  KernelOrigin origin() {
    for (const KernelOrigin o : kOrigins)
      if (accept(spelling_of(o))) return o;
    expected("what the kernel was lowered from");
  }

  /// Bytes are estimates, which may be negative for buffers with negative strides.
  void cost(Kernel& k) {
    k.bytes_read = integer("bytes");
    for (const char* word : {"bytes", ",", "writes"}) expect(word, "in the kernel's cost");
    k.bytes_written = integer("bytes");
    for (const char* word : {"bytes", ","}) expect(word, "in the kernel's cost");
    k.flops = at_least(0, "operations");
    expect("flops", "in the kernel's cost");
  }

  void launch(Kernel& k) {
    Launch l;
    l.groups = at_least(1, "thread groups");
    for (const char* word : {"groups", "of"}) expect(word, "in the kernel's launch");
    l.group_size = static_cast<int32_t>(between(1, INT32_MAX, "threads of a group"));
    for (const char* word : {"threads", ","}) expect(word, "in the kernel's launch");
    l.threads = static_cast<int32_t>(between(1, INT32_MAX, "threads of a block"));
    for (const char* word : {"threads", "per", "block"}) expect(word, "in the kernel's launch");
    k.launch = l;
  }

  // ---- regions

  /// Up to the closing brace.
  Region instructions(int depth) {
    if (depth > kMaxDepth) fail(peek(), "regions are nested too deeply");
    Region region;
    while (!accept("}")) {
      if (at_end()) expected("an instruction or '}'");
      region.instructions.push_back(instruction(depth));
    }
    return region;
  }

  Region region(int depth) {
    Ids parameters;
    if (accept("(")) {
      do {
        parameters.push_back(declaration());
      } while (accept(","));
      expect(")", "or ',' after a parameter");
    }
    expect("{", "before a region");
    Region r = instructions(depth + 1);
    r.parameters = std::move(parameters);
    return r;
  }

  // ---- instructions

  Instruction instruction(int depth) {
    Instruction i;
    if (peek().kind == TokenKind::value) {
      do {
        i.results.push_back(declaration());
      } while (accept(","));
      expect("=", "after the results");
    }
    const Token start = peek();
    if (is_literal()) {
      if (i.results.size() != 1) fail(start, "a constant has one result");
      i.op = Op::constant;
      i.literal = element(kernel_->values[static_cast<size_t>(i.results[0])]);
    } else if (accept("load")) {
      i.op = Op::load;
      element_of_buffer(i);
      predicate(i);
    } else if (at("store") || at("combine")) {
      store(i);
    } else if (accept("while")) {
      i.op = Op::while_;
      if (accept("from")) operands(i);
      expect("cond", "before the condition");
      i.regions.push_back(region(depth));
      expect("do", "before the body");
      i.regions.push_back(region(depth));
    } else if (accept("if")) {
      i.op = Op::if_;
      i.operands.push_back(value());
      expect("then", "before the region of true");
      i.regions.push_back(region(depth));
      expect("else", "before the region of false");
      i.regions.push_back(region(depth));
    } else if (accept("contraction")) {
      contraction(i, depth);
    } else if (accept("yield")) {
      i.op = Op::yield;
      if (peek().kind == TokenKind::value) operands(i);
    } else if (const auto kind = loop_kind()) {
      i.op = Op::loop;
      i.loop = *kind;
      loop(i, depth);
    } else {
      scalar(i);
    }
    return i;
  }

  /// Whether an element comes next, or the name of an operation.
  bool is_literal() const {
    if (peek().kind == TokenKind::number) return true;
    for (const std::string_view word : {"true", "false", "nan", "inf"})
      if (at(word)) return true;
    return false;
  }

  std::optional<LoopKind> loop_kind() {
    for (const LoopKind kind : {LoopKind::parallel, LoopKind::sequential, LoopKind::reduction})
      if (accept(spelling_of(kind))) return kind;
    return std::nullopt;
  }

  void scalar(Instruction& i) {
    i.op = Op::scalar;
    const Token token = peek();
    std::string word = name("an instruction");
    constexpr std::string_view kExact = ".exact";
    if (word.ends_with(kExact)) {
      i.exact = true;
      word.resize(word.size() - kExact.size());
    }
    const Primitive* primitive = find_primitive(word);
    if (primitive == nullptr) fail(token, "there is no instruction '" + word + "'");
    i.primitive = primitive->id;
    if (peek().kind == TokenKind::value) operands(i);
  }

  void element_of_buffer(Instruction& i) {
    const Token token = peek();
    const int64_t index = buffer_index();
    if (index >= static_cast<int64_t>(kernel_->buffers.size()))
      fail(token, "the kernel has no buffer b" + std::to_string(index));
    i.buffer = static_cast<int32_t>(index);
    expect("[", "before an element's index");
    i.operands.push_back(value());
    expect("]", "after an element's index");
  }

  void predicate(Instruction& i) {
    if (accept("where")) i.operands.push_back(value());
  }

  void store(Instruction& i) {
    i.op = Op::store;
    if (!accept("store")) {
      next();
      expect("by", "before a combiner");
      i.combiners.push_back(combiner());
    }
    i.non_temporal = accept("nontemporal");
    element_of_buffer(i);
    expect(",", "before the value that is stored");
    i.operands.push_back(value());
    predicate(i);
  }

  void contraction(Instruction& i, int depth) {
    i.op = Op::contraction;
    i.rows = at_least(0, "rows");
    expect("x", "between rows and columns");
    i.columns = at_least(0, "columns");
    expect("over", "before the contracted extent");
    i.extent = at_least(0, "the contracted extent");
    i.threads = accept("threads");
    mapping(i);
    if (accept("cpu_tiles")) i.cpu_tiles = std::make_shared<const CpuTiles>(tiles<CpuTiles>());
    if (accept("gpu_tiles")) i.gpu_tiles = std::make_shared<const GpuTiles>(tiles<GpuTiles>());
    for (const char* title : {"lhs", "rhs", "then"}) {
      expect(title, "before a region of a contraction");
      i.regions.push_back(region(depth));
    }
  }

  /// A number from 1 on in parentheses; 0 if there is none. The parameters of a region are in parentheses too.
  int64_t in_parentheses(int64_t most, const char* what) {
    if (!at("(") || peek(1).kind != TokenKind::number) return 0;
    next();
    const int64_t n = between(1, most, what);
    expect(")", "after a number");
    return n;
  }

  template <class Tiles>
  Tiles tiles() {
    Tiles t;
    expect("(", "before the fields of tiles");
    do {
      const Token token = peek();
      const std::string word = name("a field of tiles");
      bool known = false;
      for_each_field(t, [&](std::string_view name, auto& field) {
        if (name != word) return;
        known = true;
        tile_field(field);
      });
      if (!known) fail(token, "tiles have no field '" + word + "'");
    } while (accept(","));
    expect(")", "or ',' after a field of tiles");
    return t;
  }
  template <class Integer>
  void tile_field(Integer& field) {
    field = static_cast<Integer>(between(1, std::numeric_limits<Integer>::max(), "a number"));
  }
  void tile_field(bool& field) { field = true; }
  void tile_field(GpuTiles::Unit& unit) {
    for (const GpuTiles::Unit u : kTileUnits)
      if (accept(spelling_of(u))) {
        unit = u;
        return;
      }
    expected("a unit");
  }

  void loop(Instruction& i, int depth) {
    i.extent = at_least(0, "the iterations of a loop");
    i.vectorize = accept("vectorize");
    if (i.vectorize) i.lanes = static_cast<uint16_t>(in_parentheses(UINT16_MAX, "lanes of a vector"));
    if (accept("unroll")) i.unroll = static_cast<uint8_t>(in_parentheses(UINT8_MAX, "an unroll factor"));
    i.overlapping_tail = accept("overlapping_tail");
    if (accept("columns")) i.column_tile = static_cast<int32_t>(in_parentheses(INT32_MAX, "columns of a tile"));
    i.threads = accept("threads");
    if (i.threads) i.grain = in_parentheses(INT64_MAX, "iterations of a chunk");
    mapping(i);
    if (accept("thread_tile")) i.thread_tile = tiles<ThreadTile>();
    if (accept("local")) {
      do {
        i.locals.push_back(local_buffer());
      } while (accept(","));
    }
    if (is_combiner()) {
      do {
        i.combiners.push_back(combiner());
      } while (accept(","));
    }
    if (accept("from")) operands(i);
    i.regions.push_back(region(depth));
  }

  void mapping(Instruction& i) {
    if (!accept("over")) return;
    if (accept("groups")) {
      i.mapping = ParallelMapping::groups;
    } else {
      expect("threads", "or 'groups' after 'over'");
      i.mapping = ParallelMapping::threads;
    }
  }

  // ---- words and values

  bool is_combiner() const {
    for (const Combiner c : kCombiners)
      if (at(spelling_of(c))) return true;
    return false;
  }
  Combiner combiner() {
    for (const Combiner c : kCombiners)
      if (accept(spelling_of(c))) return c;
    expected("a combiner");
  }

  int64_t between(int64_t least, int64_t most, const char* what) {
    const Token token = peek();
    const int64_t n = integer(what);
    if (n < least || n > most)
      fail(token, std::string("expected ") + what + " from " + std::to_string(least) + " to " + std::to_string(most));
    return n;
  }
  int64_t at_least(int64_t least, const char* what) { return between(least, INT64_MAX, what); }

  /// The number N of bN.
  int64_t buffer_index() {
    const Token token = peek();
    const std::string word = name("a buffer like b0");
    int64_t index = -1;
    const char* end = word.data() + word.size();
    if (word.size() < 2 || word[0] != 'b' || std::from_chars(word.data() + 1, end, index).ptr != end || index < 0)
      fail(token, "expected a buffer like b0, got '" + word + "'");
    return index;
  }

  Id value() {
    const Token token = expect_kind(TokenKind::value, "a value like %0");
    const std::string_view digits = spelling(token).substr(1);
    int64_t id = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    if (error != std::errc() || end != digits.data() + digits.size() || id < 0)
      fail(token, "expected a value like %0, got '" + std::string(spelling(token)) + "'");
    if (id > INT32_MAX) fail(token, "there is no such value");
    return static_cast<Id>(id);
  }
  Id declaration() {
    const Token token = peek();
    const Id id = value();
    expect(":", "after the name of a result or parameter");
    auto& values = kernel_->values;
    if (const auto needed = static_cast<size_t>(id) + 1; needed > values.size()) {
      if (needed - values.size() > values_left_) fail(token, "the ids of the values have too large gaps");
      values_left_ -= needed - values.size();
      values.resize(needed, DType::f32);
    }
    values[static_cast<size_t>(id)] = dtype();
    return id;
  }
  void operands(Instruction& i) {
    do {
      i.operands.push_back(value());
    } while (accept(","));
  }

  Kernel* kernel_ = nullptr;
  size_t values_left_;
};

}  // namespace

std::vector<Kernel> parse_kernels(std::string_view text, size_t from) { return KernelParser(text, from).parse(); }

}  // namespace calque::kernel
