#pragma once
// Questions of C++ code about tracers, and who answers them.
#include <optional>
#include <span>
#include <unordered_map>

#include "trace/branches/path.h"

namespace calque::detail {

class Builder;

/// Answers the questions of an outermost trace, in order, and keeps the path.
class Oracle {
 public:
  virtual ~Oracle() = default;
  /// The answer to the question that was appended to the path last, for which there is none in it yet.
  virtual int64_t answer(Builder& trace, const Question& question) = 0;
  Path path;
};

/// Asks a question of a nested trace in the enclosing one.
class Hoist {
 public:
  virtual ~Hoist() = default;
  /// The answer; none if the value depends on more than the operands of the trace.
  virtual std::optional<int64_t> ask(Builder& inner, const Question& question) = 0;
};

/// For a function whose inputs are values of the enclosing trace: what the value is computed from is recorded there
/// too.
class OperandHoist final : public Hoist {
 public:
  explicit OperandHoist(std::span<const Handle> operands) : operands_(operands) {}
  std::optional<int64_t> ask(Builder& inner, const Question& question) override;

 private:
  Value outer(Builder& inner, Value v);
  std::span<const Handle> operands_;
  std::unordered_map<uint32_t, Value> known_;  ///< values of the inner trace in the enclosing one
};

/// The equations that compute a value of a trace, in recorded order: a graph of all inputs of the trace, which are its
/// own and then its captures, and of one output. Empty if one of the equations has an effect.
std::optional<Graph> slice_of(Builder& trace, Value v);

/// The answer to a question about a value of this trace, in which nothing may be recorded meanwhile but by enclosing
/// ones; none when neither a path nor an enclosing trace has one.
std::optional<int64_t> ask(Builder& trace, Question question);
/// The same about a tracer. `site` is the address in the user's code.
std::optional<int64_t> ask(Handle value, QuestionKind kind, const void* site);

}  // namespace calque::detail
