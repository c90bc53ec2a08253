#include "calque/detail/warm_call.h"

#include <algorithm>
#include <cstring>

#include "runtime/call/dispatch.h"
#include "runtime/call/function_state.h"
#include "runtime/memory/workspace.h"

namespace calque::detail {

inline void WarmCall::start(uint64_t options, const void* tree) {
  if (entry_ == nullptr || !entry_->runs_directly) return;
  const uint64_t* const words = entry_->signature.words.data();
  if (words[0] == reinterpret_cast<uintptr_t>(tree) && words[1] == options) words_ = words + 2;
}

WarmCall::WarmCall(const FunctionState& function, const void* tree) {
  entry_ = function.table->last(pin_);
  start(function.options_word, tree);
}

WarmCall::WarmCall(const LoweredState& compiled, const void* tree) {
  entry_ = compiled.entry.get();
  start(compiled.function->options_word, tree);
}

void WarmCall::unpin() {
  runtime::unpin(pin_);
  pin_ = nullptr;
}

void SignatureMatcher::bytes(const void* data, size_t size) {
  word(size);
  for (size_t at = 0; at < size; at += 8) {
    uint64_t w = 0;
    std::memcpy(&w, static_cast<const char*>(data) + at, std::min<size_t>(8, size - at));
    word(w);
  }
}

void SignatureMatcher::view(const LeafView& view) {
  const int rank = view.shape.rank();
  if (rank > 2) return fail();  // copied by the ordinary call
  const bool row_major = view.row_major();
  word(head(view.dtype, rank, row_major));
  for (const int64_t extent : view.shape) word(static_cast<uint64_t>(extent));
  if (!row_major) {
    for (const int64_t stride : view.strides) word(static_cast<uint64_t>(stride));
  }
  addresses_.push_back(const_cast<void*>(view.data));
}

void WarmCall::run(const FunctionState& function, CallResult& result) {
  if (pin_ != nullptr) function.table->count_hit(pin_);
  try {
    runtime::execute_directly(*entry_->executable, addresses_, entry_->lifted, entry_->device, result.outputs);
  } catch (const runtime::CallFailure& e) {
    runtime::rethrow(function, e);
  }
  result.structure = entry_->structure.get();
}

AnyArray WarmCall::run_for_one(const FunctionState& function) {
  if (pin_ != nullptr) function.table->count_hit(pin_);
  try {
    return runtime::execute_directly_for_one(*entry_->executable, addresses_, entry_->lifted, entry_->device);
  } catch (const runtime::CallFailure& e) {
    runtime::rethrow(function, e);
  }
}

}  // namespace calque::detail
