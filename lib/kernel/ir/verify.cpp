// Invariants of a kernel: a value is defined once, before its uses, in a region that encloses them; dtypes follow from
// the primitives' typing rules; regions have the parameters and yields that their instruction requires; at most one
// loop on any path from the root is vectorised; a local buffer belongs to one loop, inside which alone it is accessed,
// first by a store.
#include <algorithm>

#include <fmt/format.h>

#include "kernel/ir/kernel.h"

namespace calque::kernel {

namespace {

// Extents and their products with an element's size stay within 64 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 47;
/// Iterations of a loop that a thread runs unrolled.
constexpr int32_t kMaxTileSide = 64;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        defined_(kernel.values.size()),
        visible_(kernel.values.size()),
        locals_(kernel.buffers.size(), Local::outside) {}

  void run() {
    if (!kernel_.body.parameters.empty()) fail("the kernel's body has parameters");
    bool is_after_local = false;
    for (const Buffer& b : kernel_.buffers) {
      require(b.local || !is_after_local, "local buffers follow the parameters");
      is_after_local = b.local;
      require(!b.local || (b.written && b.extent > 0), "a local buffer has elements and is written");
      require(b.alignment > 0 && (b.alignment & (b.alignment - 1)) == 0, "a buffer's alignment is a power of two");
      require(b.extent <= kMaxExtent, "a buffer is too large");
    }
    region(kernel_.body, {}, nullptr, false, false);
    for (size_t b = 0; b < locals_.size(); ++b)
      require(!kernel_.buffers[b].local || locals_[b] == Local::left, "a local buffer belongs to a loop");
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw CompileError(fmt::format("verify: kernel {}: {}{}", kernel_.name, rule,
                                   at_ ? fmt::format(" (instruction {})", describe(*at_)) : ""));
  }
  std::string describe(const Instruction& i) const {
    constexpr std::string_view kOps[] = {"constant", "scalar", "load",        "store", "loop",
                                         "while",    "if",     "contraction", "yield"};
    std::string text(kOps[static_cast<size_t>(i.op)]);
    if (i.op == Op::scalar && i.primitive < num_primitives()) text += " " + primitive(i.primitive).name;
    for (size_t r = 0; r < i.results.size(); ++r) text += fmt::format("{}%{}", r ? ", " : " of ", i.results[r]);
    return text;
  }
  void require(bool holds, std::string_view rule) const {
    if (!holds) fail(std::string(rule));
  }
  DType dtype(Id id) const { return kernel_.values[static_cast<size_t>(id)]; }
  void check_id(Id id) const {
    if (id < 0 || static_cast<size_t>(id) >= kernel_.values.size()) fail(fmt::format("there is no value %{}", id));
  }
  void use(Id id) const {
    check_id(id);
    if (!visible_[static_cast<size_t>(id)]) fail(fmt::format("%{} is used where it is not defined", id));
  }
  void use(Id id, DType expected) const {
    use(id);
    if (dtype(id) != expected) fail(fmt::format("%{} is {}, expected {}", id, name(dtype(id)), name(expected)));
  }
  void define(Id id, std::vector<Id>& scope) {
    check_id(id);
    if (defined_[static_cast<size_t>(id)]) fail(fmt::format("%{} is defined twice", id));
    defined_[static_cast<size_t>(id)] = visible_[static_cast<size_t>(id)] = true;
    scope.push_back(id);
  }

  // `yields`: the dtypes that the region must yield; null when it must not yield.
  void region(const Region& r, const std::vector<DType>& parameters, const std::vector<DType>* yields, bool vector,
              bool split) {
    std::vector<Id> scope;
    if (r.parameters.size() != parameters.size())
      fail(fmt::format("a region has {} parameters, expected {}", r.parameters.size(), parameters.size()));
    for (size_t p = 0; p < parameters.size(); ++p) {
      define(r.parameters[p], scope);
      use(r.parameters[p], parameters[p]);
    }
    for (size_t n = 0; n < r.instructions.size(); ++n) {
      const Instruction& i = r.instructions[n];
      const Instruction* outer = at_;
      at_ = &i;
      if (i.op == Op::yield) {
        require(n + 1 == r.instructions.size() && yields,
                "a yield is the last instruction of a region that yields values");
        require(i.operands.size() == yields->size(), "the region yields a wrong number of values");
        for (size_t y = 0; y < yields->size(); ++y) use(i.operands[y], (*yields)[y]);
      } else {
        instruction(i, vector, split);
        for (const Id id : i.results) define(id, scope);
      }
      at_ = outer;
    }
    if (yields && !yields->empty())
      require(!r.instructions.empty() && r.instructions.back().op == Op::yield, "the region yields nothing");
    for (const Id id : scope) visible_[static_cast<size_t>(id)] = false;
  }

  std::vector<DType> dtypes(const Ids& ids) const {
    std::vector<DType> out;
    for (const Id id : ids) {
      check_id(id);
      out.push_back(dtype(id));
    }
    return out;
  }

  const Buffer& buffer(const Instruction& i) {
    if (i.buffer < 0 || static_cast<size_t>(i.buffer) >= kernel_.buffers.size())
      fail(fmt::format("there is no buffer {}", i.buffer));
    const Buffer& b = kernel_.buffers[static_cast<size_t>(i.buffer)];
    if (!b.local) return b;
    Local& state = locals_[static_cast<size_t>(i.buffer)];
    require(state == Local::entered || state == Local::stored, "a local buffer is accessed inside its loop");
    require(i.op == Op::store || state == Local::stored, "a local buffer is stored to before it is loaded");
    state = Local::stored;
    return b;
  }

  /// The body of a loop with local buffers is entered or left.
  void move_locals(const Instruction& i, bool enter) {
    for (const int32_t b : i.locals) {
      require(b >= 0 && static_cast<size_t>(b) < locals_.size() && kernel_.buffers[static_cast<size_t>(b)].local,
              "a loop lists a buffer that is not local");
      Local& state = locals_[static_cast<size_t>(b)];
      require(!enter || state == Local::outside, "a local buffer belongs to one loop");
      state = enter ? Local::entered : Local::left;
    }
  }

  void instruction(const Instruction& i, bool vector, bool split) {
    for (const Id id : i.operands) use(id);
    for (const Id id : i.results) check_id(id);
    require(!i.non_temporal || i.op == Op::store, "only a store is non-temporal");
    require(i.locals.empty() || is_parallel(i), "only a parallel loop has local buffers");
    require((!i.cpu_tiles && !i.gpu_tiles) || i.op == Op::contraction, "only a contraction has tiles");
    switch (i.op) {
      case Op::constant:
        require(i.results.size() == 1 && i.operands.empty(), "a constant has one result");
        break;
      case Op::scalar:
        scalar(i);
        break;
      case Op::load:
        require(i.results.size() == 1 && (i.operands.size() == 1 || i.operands.size() == 2),
                "a load takes an index and an optional predicate");
        use(i.operands[0], DType::i64);
        if (i.operands.size() == 2) use(i.operands[1], DType::bool_);
        require(dtype(i.results[0]) == buffer(i).dtype, "a load has its buffer's dtype");
        break;
      case Op::store:
        require(i.results.empty() && (i.operands.size() == 2 || i.operands.size() == 3),
                "a store takes an index, a value and an optional predicate");
        use(i.operands[0], DType::i64);
        use(i.operands[1], buffer(i).dtype);
        if (i.operands.size() == 3) use(i.operands[2], DType::bool_);
        require(i.combiners.empty() || (i.combiners.size() == 1 && !is_arg(i.combiners[0])),
                "a store has one combiner at most, and no argmax or argmin");
        require(buffer(i).written, "only a buffer that is marked as written is stored to");
        break;
      case Op::loop:
        loop(i, vector, split);
        break;
      case Op::while_: {
        require(i.regions.size() == 2 && i.results.size() == i.operands.size(),
                "a while has a condition, a body and carries");
        const std::vector<DType> carries = dtypes(i.operands), flag{DType::bool_};
        require(dtypes(i.results) == carries, "the results of a while have its carries' dtypes");
        region(i.regions[0], carries, &flag, vector, split);
        region(i.regions[1], carries, &carries, vector, split);
        break;
      }
      case Op::if_: {
        require(i.regions.size() == 2 && i.operands.size() == 1, "an if has a condition and two regions");
        use(i.operands[0], DType::bool_);
        const std::vector<DType> results = dtypes(i.results);
        for (const Region& r : i.regions) region(r, {}, &results, vector, split);
        break;
      }
      case Op::contraction:
        contraction(i, vector);
        break;
      case Op::yield:
        break;
    }
  }

  void contraction(const Instruction& i, bool vector) {
    require(i.regions.size() == 3 && i.operands.empty() && i.results.empty(),
            "a contraction has two factors, an epilogue, and no operands or results");
    require(i.rows >= 0 && i.columns >= 0 && i.extent >= 0, "a contraction's extents are not negative");
    require(std::max({i.rows, i.columns, i.extent}) <= kMaxExtent, "a contraction's extents are too large");
    require(!vector, "a contraction inside a vectorised loop");
    require(!i.cpu_tiles || !i.gpu_tiles, "a contraction has tiles for one kind of device");
    require(i.regions[2].parameters.size() == 3,
            "a contraction's epilogue has three parameters: row, column and accumulator");
    check_id(i.regions[2].parameters[2]);
    const DType accumulator = dtype(i.regions[2].parameters[2]);
    for (size_t r = 0; r < 2; ++r) {
      require(!i.regions[r].instructions.empty() && i.regions[r].instructions.back().operands.size() == 1,
              "a factor is one value");
      const Id id = i.regions[r].instructions.back().operands[0];
      check_id(id);
      const DType factor = dtype(id);
      const bool half = factor == DType::f16 || factor == DType::bf16;
      require(accumulator == (half ? DType::f32 : factor),
              "a contraction accumulates in its factors' dtype, 16-bit floats in f32");
      const std::vector<DType> yields{factor};
      region(i.regions[r], {DType::i64, DType::i64}, &yields, true, true);
    }
    region(i.regions[2], {DType::i64, DType::i64, accumulator}, nullptr, true, true);
  }

  void loop(const Instruction& i, bool vector, bool split) {
    require(i.regions.size() == 1, "a loop has one region");
    require(i.extent >= 0, "a loop's extent is not negative");
    require(i.extent <= kMaxExtent, "a loop's extent is too large");
    require(!(i.vectorize && vector), "a vectorised loop inside another");
    const bool ordered = i.loop == LoopKind::sequential && i.combiners.empty();
    require(!(i.vectorize && ordered), "a sequential loop cannot be vectorised");
    require(!i.threads || !ordered, "a sequential loop cannot be split over threads");
    require(!(i.threads && split), "a loop is split over threads inside another");
    require(i.vectorize || (i.lanes == 0 && i.column_tile == 0),
            "only a vectorised loop has lanes or tiles of columns");
    require(i.column_tile == 0 || (is_parallel(i) && i.lanes > 1),
            "only a parallel loop with lanes has tiles of columns");
    require(!i.overlapping_tail || (i.lanes > 1 && i.extent >= i.lanes), "the tail of a loop overlaps a whole vector");
    require(!i.thread_tile || (is_parallel(i) && i.mapping == ParallelMapping::groups),
            "only a parallel loop over groups has a thread tile");
    require(i.grain >= 0 && (i.threads || i.grain == 0), "only loops that are split over threads have a grain");
    require(!i.threads || i.grain > 0 || is_split_inside(i), "a loop without a grain is split with the one inside it");
    const std::vector<DType> results = dtypes(i.results);
    std::vector<DType> parameters{DType::i64};
    require(dtypes(i.operands) == results, "a loop's results have the dtypes of its initial values");
    switch (i.loop) {
      case LoopKind::parallel:
        require(results.empty(), "a parallel loop has no results");
        require(i.combiners.empty(), "a parallel loop has no combiners");
        break;
      case LoopKind::sequential:
        parameters.insert(parameters.end(), results.begin(), results.end());
        require(ordered || i.combiners.size() == results.size(), "a cumulative loop has a combiner for each carry");
        if (!ordered) check_arg_combiners(i, results);
        break;
      case LoopKind::reduction: {
        require(i.combiners.size() == results.size() && !results.empty(), "a reduction has a combiner for each result");
        check_arg_combiners(i, results);
        break;
      }
    }
    if (i.thread_tile) thread_tile(i);
    if (!i.locals.empty()) local_buffers(i);
    const ThreadTile outer = tile_;
    if (i.thread_tile) tile_ = i.thread_tile;
    move_locals(i, true);
    region(i.regions[0], parameters, results.empty() ? nullptr : &results, vector || i.vectorize, split || i.grain > 0);
    move_locals(i, false);
    tile_ = outer;
  }

  /// The threads that run chunks of a loop have their own stacks.
  void local_buffers(const Instruction& i) const {
    require(i.column_tile == 0 && !i.thread_tile, "a loop with local buffers runs one iteration after another");
    require(!contains(i.regions[0], [](const Instruction& inner) { return inner.threads; }),
            "no loop is split over threads inside one with local buffers");
  }

  void thread_tile(const Instruction& i) const {
    const ThreadTile& t = i.thread_tile;
    const auto& launch = kernel_.launch;
    require(launch && launch->group_size == 1, "thread tiles are for groups of one thread");
    require(t.iterations > 0 && t.iterations <= kMaxTileSide && t.warp > 0 && t.block > 0 && t.block % t.warp == 0,
            "the sides of a thread tile are positive, and a block's is a multiple of a warp's");
    const auto is_tiled = [](const Instruction& inner) { return static_cast<bool>(inner.thread_tile); };
    if (!tile_) {
      require(contains(i.regions[0], is_tiled), "two loops of a nest have thread tiles");
      return;
    }
    const auto is_mapped = [](const Instruction& inner) {
      return inner.op == Op::loop && inner.mapping == ParallelMapping::groups;
    };
    require(!contains(i.regions[0], is_mapped), "the innermost loop over groups has one of the two thread tiles");
    require(int64_t{tile_.warp} * t.warp == 32 && int64_t{tile_.block} * t.block == launch->threads,
            "the thread tiles of a nest have the threads of a warp and of a block");
    require(t.iterations == (vector_lanes(i) == 0 ? 1 : static_cast<int32_t>(vector_lanes(i))),
            "the innermost loop runs in vectors of the iterations of its thread tile");
  }

  static bool is_arg(Combiner c) { return c == Combiner::argmax || c == Combiner::argmin; }

  void check_arg_combiners(const Instruction& i, const std::vector<DType>& results) const {
    for (size_t r = 0; r < results.size(); ++r) {
      if (!is_arg(i.combiners[r])) continue;
      const Combiner c = i.combiners[r];
      ++r;
      require(r < results.size() && i.combiners[r] == c && results[r] == DType::i64,
              "argmax and argmin have two results: a value and an i64 index");
    }
  }

  static bool is_split_inside(const Instruction& i) {
    int loops = 0;
    for (const Instruction& inner : i.regions[0].instructions) {
      if (inner.op == Op::loop && inner.loop == LoopKind::parallel && inner.threads)
        ++loops;
      else if (inner.op != Op::constant && inner.op != Op::scalar && inner.op != Op::load)
        return false;
    }
    return i.loop == LoopKind::parallel && loops == 1;
  }

  void scalar(const Instruction& i) {
    require(i.primitive < num_primitives(), "there is no such primitive");
    require(i.results.size() == 1, "a scalar operation has one result");
    const Primitive& p = primitive(i.primitive);
    require(p.min_subgraphs == 0 && !p.has_effect, "only elementwise primitives are scalar operations");
    std::vector<Type> types;
    for (const Id id : i.operands) types.push_back({dtype(id), {}});
    std::vector<const Type*> operands;
    for (const Type& t : types) operands.push_back(&t);
    Attributes attributes;
    if (p.name == "convert" || p.name == "bitcast") attributes.set("dtype", dtype(i.results[0]));
    std::vector<Type> results;
    try {
      p.infer({operands, attributes, {}}, results);
    } catch (const Error& e) {
      fail(e.what());
    }
    require(results.size() == 1 && results[0].shape.empty(), "only elementwise primitives are scalar operations");
    if (results[0].dtype != dtype(i.results[0]))
      fail(fmt::format("{} gives {}, not {}", p.name, name(results[0].dtype), name(dtype(i.results[0]))));
  }

  enum class Local : uint8_t { outside, entered, stored, left };

  const Kernel& kernel_;
  std::vector<bool> defined_, visible_;
  std::vector<Local> locals_;  ///< by buffer
  ThreadTile tile_;            ///< of an enclosing loop
  const Instruction* at_ = nullptr;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace calque::kernel
