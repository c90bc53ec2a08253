// Attention. Short sequences are a composition of two products and a softmax. Long ones go block by block, with the
// online softmax of FlashAttention (Dao, Fu, Ermon, Rudra and Re 2022, algorithm 1), so that no matrix of all scores
// exists: a block of rows of q runs over the blocks of k and v, with the maximum m of each row's scores, the sum l of
// exp(s - m) and the sum of exp(s - m) v, which are rescaled when the maximum grows. Derivatives compute the scores
// again.
#include <cmath>
#include <limits>

#include "calque/detail/control/control.h"
#include "calque/detail/transforms/transform.h"

#include "frontend/vocabulary/common.h"

namespace calque::detail::ops {
namespace {

using Handles = std::vector<Handle>;

constexpr double kInf = std::numeric_limits<double>::infinity();
/// Elements of a matrix of scores from which on it is computed block by block.
constexpr int64_t kManyScores = int64_t{512} * 512;
/// Rows and columns of a block: its scores stay in a core's cache, its products run at full speed.
constexpr int64_t kRows = 128, kColumns = 256;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Attention {
  int64_t batch, heads, groups;  ///< `groups` heads of k and v, each shared by heads / groups of q
  int64_t length, others;        ///< T of q, S of k and v
  int64_t size, out_size;
  double scale;
  bool causal;
  DType dtype;  ///< of scores
  const Site& s;

  /// What stands for the score of an element that is not attended to: finite, so that a row of such alone has a mean.
  double least() const {
    return dtype == DType::f64 ? std::numeric_limits<double>::lowest()
                               : static_cast<double>(std::numeric_limits<float>::lowest());
  }
};

Expression counted_along(const Shape& of, int axis, const Site& s) { return {counted(DType::i32, of, axis, s), s}; }

// ---- all scores at once

/// q [batch, T, heads, size], k and v [batch, S, heads, size].
Handle attend_at_once(const Attention& a, Handle q, Handle k, Handle v, std::optional<Handle> mask, DType result) {
  const Site& s = a.s;
  const Operand products[] = {q, k};
  Expression logits(convert(einsum("btnh,bsnh->bnts", products, s.at), a.dtype, s), s);
  logits = logits * a.scale;
  const Shape of{a.batch, a.heads, a.length, a.others};
  if (mask && is_bool(dtype(*mask))) {
    logits = Expression(broadcast(*mask, of, s), s).choose(logits, logits.number(a.least()));
  } else if (mask) {
    logits = logits + Expression(broadcast(*mask, of, s), s);
  }
  if (a.causal) {
    logits = (counted_along(of, 3, s) <= counted_along(of, 2, s)).choose(logits, logits.number(a.least()));
  }
  const Handle weights = convert(softmax(logits.handle(), 3, s.at), result, s);
  const Operand sums[] = {weights, v};
  return einsum("bnts,bsnh->btnh", sums, s.at);
}

// ---- block by block

/// The blocks of q are [row blocks, rows, size], all those of a head adjacent, those of k and v likewise. Loops run
/// over the row blocks, inner loops over the column blocks.
class Blocks {
 public:
  explicit Blocks(const Attention& a)
      : a_(a),
        s_(a.s),
        rows_(std::min(kRows, a.length)),
        columns_(std::min(kColumns, a.others)),
        row_blocks_(ceil_div(a.length, rows_)),
        column_blocks_(ceil_div(a.others, columns_)) {}

  Handle run(Handle q, Handle k, Handle v, std::optional<Handle> mask) const {
    std::vector<Handle> operands{split(q, rows_, row_blocks_), split(k, columns_, column_blocks_),
                                 split(v, columns_, column_blocks_)};
    std::optional<Handle> truth;
    if (mask) {
      // [b, h, T, S], each extent either 1 or whole; whole ones up to the end of the last block.
      Handle m = *mask;
      Shape of = shape(m);
      while (of.rank() < 4) of = of.with_inserted(0, 1);
      m = reshape(m, of, s_);
      if (of[2] != 1) m = padded_along(m, 2, 0, row_blocks_ * rows_ - a_.length, 0, s_);
      if (of[3] != 1) m = padded_along(m, 3, 0, column_blocks_ * columns_ - a_.others, 0, s_);
      if (is_bool(dtype(m))) {
        truth = m;
      } else {
        operands.push_back(m);
      }
    }
    const Handle y = forward(kOrders, operands, truth)[0];
    // [batch * heads * row blocks, rows, size] to [batch, T, heads, size].
    const Handle whole = reshape(y, Shape{a_.batch, a_.heads, row_blocks_ * rows_, a_.out_size}, s_);
    const Handle cut = padded_along(whole, 2, 0, a_.length - row_blocks_ * rows_, 0, s_);
    return transpose(cut, Ints{0, 2, 1, 3}, s_);
  }

 private:
  static constexpr int kOrders = 2;  // of derivatives

  /// [batch, n, heads, size] as [batch * heads * blocks, rows, size]; further rows are zeros.
  Handle split(Handle x, int64_t rows, int64_t blocks) const {
    const Shape of = shape(x);
    const Handle by_head = padded_along(transpose(x, Ints{0, 2, 1, 3}, s_), 2, 0, blocks * rows - of[1], 0, s_);
    return reshape(by_head, Shape{of[0] * of[2] * blocks, rows, of[3]}, s_);
  }

  Expression zeros(const Shape& of) const { return {splat(0, {a_.dtype, of}, s_), s_}; }
  static Operand known(int64_t n) { return literal_operand(static_cast<int32_t>(n)); }
  Expression integer(int64_t n) const { return {splat(static_cast<double>(n), {DType::i32, {}}, s_), s_}; }
  /// A number for each row as a matrix.
  Expression each_row(Handle x, int64_t columns) const {
    return {broadcast(reshape(x, Shape{rows_, 1}, s_), Shape{rows_, columns}, s_), s_};
  }
  Expression product(std::string_view spec, Handle x, Handle y) const {
    const Operand both[] = {x, y};
    return {einsum(spec, both, s_.at), s_};
  }
  /// Block `i` of blocks.
  Handle block(Handle x, Handle i) const {
    const Shape of = shape(x);
    const Operand starts[] = {i, known(0), known(0)};
    const int64_t sizes[] = {1, of[1], of[2]};
    return reshape(dynamic_slice(x, starts, sizes, s_.at), Shape{of[1], of[2]}, s_);
  }

  /// The position of a block of scores.
  struct Position {
    Expression head, row, column;  ///< `head` among batch * heads, blocks of rows and of columns
  };
  /// The first of the blocks of k and v of the head that belongs to a row block.
  Expression first_column_block(const Position& p) const {
    const Expression b = p.head / integer(a_.heads), h = p.head - b * integer(a_.heads);
    const Expression kv = b * integer(a_.groups) + h / integer(a_.heads / a_.groups);
    return kv * integer(column_blocks_);
  }
  Position position(Expression block_of_rows, Expression column) const {
    const Expression head = block_of_rows / integer(row_blocks_);
    return {head, block_of_rows - head * integer(row_blocks_), column};
  }
  Expression first_row(const Position& p) const { return p.row * integer(rows_); }
  Expression first_column(const Position& p) const { return p.column * integer(columns_); }

  /// The block of a mask, broadcast.
  Handle mask_block(Handle mask, const Position& p) const {
    const Shape of = shape(mask);
    const Expression b = p.head / integer(a_.heads), h = p.head - b * integer(a_.heads);
    const auto start = [&](size_t axis, Expression first) {
      return of[axis] == 1 ? known(0) : Operand(first.handle());
    };
    const Operand starts[] = {start(0, b), start(1, h), start(2, first_row(p)), start(3, first_column(p))};
    const int64_t height = of[2] == 1 ? 1 : rows_, width = of[3] == 1 ? 1 : columns_;
    const int64_t sizes[] = {1, 1, height, width};
    const Handle part = reshape(dynamic_slice(mask, starts, sizes, s_.at), Shape{height, width}, s_);
    return broadcast(part, Shape{rows_, columns_}, s_);
  }
  /// True where an element is attended to, if there are others.
  std::optional<Expression> attended(std::optional<Handle> truth, const Position& p) const {
    std::optional<Expression> all;
    if (truth) all = Expression(mask_block(*truth, p), s_);
    if (a_.causal) {
      const Shape of{rows_, columns_};
      const auto from = [&](Expression first, int axis) {
        return Expression(broadcast(first, of, s_), s_) + counted_along(of, axis, s_);
      };
      const Expression before = from(first_column(p), 1) <= from(first_row(p), 0);
      all = all ? *all & before : before;
    }
    return all;
  }
  /// Columns beyond the last of S: without weight, also in rows that attend to nothing.
  Expression without_padding(Expression scores, const Position& p, double weightless) const {
    if (column_blocks_ * columns_ == a_.others) return scores;
    const Shape of{rows_, columns_};
    const Expression column = Expression(broadcast(first_column(p), of, s_), s_) + counted_along(of, 1, s_);
    return (column < column.number(static_cast<double>(a_.others))).choose(scores, scores.number(weightless));
  }
  Expression scores(std::span<const Handle> qkvm, std::optional<Handle> truth, Handle q, Handle k,
                    const Position& p) const {
    Expression x = product("qh,kh->qk", q, k) * a_.scale;
    if (qkvm.size() > 3) x = x + Expression(mask_block(qkvm[3], p), s_);
    if (const auto where = attended(truth, p)) x = where->choose(x, x.number(a_.least()));
    return without_padding(x, p, -kInf);
  }

  /// The attention of each block of rows, and m and l of its rows.
  Handles values(std::span<const Handle> qkvm, std::optional<Handle> truth) const {
    const TraceBody of_rows = [&](std::span<const Handle> in, Handles& out) {
      const Expression index(in[1], s_);
      const Expression first = first_column_block(position(index, integer(0)));
      const TraceBody step = [&](std::span<const Handle> c, Handles& next) {
        const Expression m(c[1], s_), l(c[2], s_), sum(c[3], s_);
        const Position p = position(index, {c[0], s_});
        const Expression block_of_columns = first + p.column;
        const Expression x = scores(qkvm, truth, in[0], block(qkvm[1], block_of_columns), p);
        const Expression most = m.of<prim::Max>({emit<prim::ReduceMax>(s_, {x}, {{"axes", Ints{1}}}), s_});
        // Where all scores so far are -inf.
        const Expression shift = (most == -kInf).choose(most.number(0), most);
        const Expression weights = (x - each_row(shift, columns_)).of<prim::Exp>(), decay = (m - shift).of<prim::Exp>();
        const Expression here({emit<prim::ReduceSum>(s_, {weights}, {{"axes", Ints{1}}}), s_});
        next.push_back(most);
        next.push_back(l * decay + here);
        next.push_back(sum * each_row(decay, a_.out_size) +
                       product("qk,kh->qh", weights, block(qkvm[2], block_of_columns)));
      };
      const Expression m(splat(-kInf, {a_.dtype, Shape{rows_}}, s_), s_);
      const Handle initial[] = {m, zeros(Shape{rows_}), zeros(Shape{rows_, a_.out_size})};
      const Handles last = fori_loop(known(0), last_column_block(position(index, integer(0)), truth), DType::i32, step,
                                     initial, {s_.at, {}});
      const Expression sum(last[2], s_);
      out.push_back(sum / each_row(last[1], a_.out_size));
      out.push_back(last[0]);
      out.push_back(last[1]);
    };
    const Handle xs[] = {qkvm[0], counted(DType::i32, Shape{shape(qkvm[0])[0]}, 0, s_)};
    return map(of_rows, xs, {s_.at, {}});
  }
  /// The blocks of columns that a row block runs over: those up to its last row, when nothing after is attended to. Not
  /// with a mask, which may leave a row without anything to attend to: its weights are then equal.
  Operand last_column_block(const Position& p, std::optional<Handle> truth) const {
    if (!a_.causal || truth) return known(column_blocks_);
    const Expression end = first_row(p) + integer(rows_ + columns_ - 1), blocks = end / integer(columns_);
    return blocks.of<prim::Min>(integer(column_blocks_)).handle();
  }

  /// The tangents of `values`: with the scores' tangents ds and weights w = exp(s - m) / l, l changes by l sum(w ds)
  /// and the result by sum(w (ds v + dv)) - sum(w ds) result. m, which cancels, is constant.
  Handles tangents(std::span<const Handle> qkvm, std::span<const Handle> by, std::span<const Handle> results,
                   std::optional<Handle> truth) const {
    const TraceBody of_rows = [&](std::span<const Handle> in, Handles& out) {
      const Expression index(in[5], s_);
      const Expression first = first_column_block(position(index, integer(0)));
      const TraceBody step = [&](std::span<const Handle> c, Handles& next) {
        // Rematerialized: weights are not kept for reverse mode.
        const TraceBody of_block = [&](std::span<const Handle> rows, Handles& sums) {
          const Handle q = rows[0], dq = rows[1], m = rows[2], l = rows[3];
          const Position p = position(index, {c[0], s_});
          const Expression block_of_columns = first + p.column;
          const Handle k = block(qkvm[1], block_of_columns), v = block(qkvm[2], block_of_columns);
          const Handle dk = block(by[1], block_of_columns), dv = block(by[2], block_of_columns);
          const Expression x = scores(qkvm, truth, q, k, p);
          const Expression w = (x - each_row(m, columns_)).of<prim::Exp>() / each_row(l, columns_);
          Expression dx = (product("qh,kh->qk", dq, k) + product("qh,kh->qk", q, dk)) * a_.scale;
          if (qkvm.size() > 3) dx = dx + Expression(mask_block(by[3], p), s_);
          if (const auto where = attended(truth, p)) dx = where->choose(dx, dx.number(0));
          const Expression change = w * without_padding(dx, p, 0);
          sums.push_back(emit<prim::ReduceSum>(s_, {change}, {{"axes", Ints{1}}}));
          sums.push_back(product("qk,kh->qh", change, v) + product("qk,kh->qh", w, dv));
        };
        const Handle rows[] = {in[0], in[1], in[2], in[3]};
        const Handles sums = emit_checkpoint(of_block, rows, {s_.name, s_.at, {}});
        next.push_back(Expression(c[1], s_) + Expression(sums[0], s_));
        next.push_back(Expression(c[2], s_) + Expression(sums[1], s_));
      };
      const Handle initial[] = {zeros(Shape{rows_}), zeros(Shape{rows_, a_.out_size})};
      const Handles last = fori_loop(known(0), known(column_blocks_), DType::i32, step, initial, {s_.at, {}});
      const Expression change(last[0], s_), sum(last[1], s_);
      out.push_back(sum - each_row(change, a_.out_size) * Expression(in[4], s_));
      out.push_back(change * Expression(in[3], s_));
    };
    const Handle xs[] = {qkvm[0],    by[0],      results[1],
                         results[2], results[0], counted(DType::i32, Shape{shape(qkvm[0])[0]}, 0, s_)};
    return map(of_rows, xs, {s_.at, {}});
  }

  Handles forward(int orders, std::span<const Handle> qkvm, std::optional<Handle> truth) const {
    if (orders == 0) {
      Handles fixed;
      const std::string reason = std::string(s_.name) + " of long sequences: has derivatives of order one and two";
      for (Handle x : qkvm) {
        fixed.push_back(emit<prim::Captured>(s_, {x}, {{"by", std::string()}, {"value", reason}}));
      }
      return values(fixed, truth);
    }
    const TraceBody body = [&](std::span<const Handle> in, Handles& out) { out = values(in, truth); };
    const TraceBody rule = [&](std::span<const Handle> in, Handles& out) {
      const std::span<const Handle> at = in.first(qkvm.size()), by = in.subspan(qkvm.size());
      out = forward(orders - 1, at, truth);
      const Handles changes = tangents(at, by, out, truth);
      out.push_back(changes[0]);
      out.push_back(splat(0, type(out[1]), s_));
      out.push_back(changes[1]);
    };
    return emit_custom_jvp(body, rule, qkvm, {}, {s_.name, s_.at, {}});
  }

  const Attention& a_;
  const Site& s_;
  int64_t rows_, columns_, row_blocks_, column_blocks_;
};

}  // namespace

Handle dot_product_attention(const Operand& q, const Operand& k, const Operand& v, const Operand* mask, bool causal,
                             std::optional<double> scale, Location at) {
  const Site s{"dot_product_attention", at};
  const Operand* all[] = {&q, &k, &v};
  const DType result = to_inexact(promoted_dtype(all, s)), d = wide(result);
  Handle query = value(q, result, s), key = value(k, result, s), values = value(v, result, s);
  if (is_complex(result)) reject(type(query), "real numbers", s);
  const Type tq = type(query), tk = type(key), tv = type(values);
  const auto wrong = [&] {
    s.shape_error("needs q [batch, T, heads, size] and k, v [batch, S, heads, size], with or without batch, got " +
                  to_string(tq) + ", " + to_string(tk) + " and " + to_string(tv));
  };
  const int rank = tq.shape.rank();
  if ((rank != 3 && rank != 4) || tk.shape.rank() != rank || tv.shape.rank() != rank) wrong();
  const auto with_batch = [&](Handle x) { return rank == 4 ? x : reshape(x, shape(x).with_inserted(0, 1), s); };
  query = with_batch(query);
  key = with_batch(key);
  values = with_batch(values);
  const Shape sq = shape(query), sk = shape(key), sv = shape(values);
  const Attention a{sq[0],  sq[2], sk[2], sq[1],
                    sk[1],  sq[3], sv[3], scale.value_or(sq[3] == 0 ? 1 : 1 / std::sqrt(static_cast<double>(sq[3]))),
                    causal, d,     s};
  if (sk[0] != a.batch || sv[0] != a.batch || sk[3] != a.size || sv[1] != a.others || sv[2] != a.groups ||
      a.groups == 0 || a.heads % a.groups != 0) {
    wrong();
  }
  std::optional<Handle> m;
  if (mask != nullptr) {
    m = value(*mask, s);
    if (!is_bool(dtype(*m))) m = value(*mask, d, s);
    broadcast(*m, Shape{a.batch, a.heads, a.length, a.others}, s);  // throws if it does not
  }
  const bool some = sq.num_elements() > 0 && sv.num_elements() > 0 && sv[3] > 0;
  Handle y;
  if (some && a.length * a.others > kManyScores) {
    y = convert(Blocks(a).run(convert(query, d, s), convert(key, d, s), convert(values, d, s), m), result, s);
  } else {
    // Several query heads may share one of keys and values.
    if (a.groups != a.heads) {
      key = repeat(key, a.heads / a.groups, 2, at);
      values = repeat(values, a.heads / a.groups, 2, at);
    }
    y = attend_at_once(a, query, key, values, m, result);
  }
  return rank == 4 ? y : reshape(y, shape(y).without(0), s);
}

}  // namespace calque::detail::ops
