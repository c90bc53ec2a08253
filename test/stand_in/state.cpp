#include "state.h"

namespace stand_in {

State& state() {
  static State& one = *new State;
  return one;
}

int& current_depth() {
  thread_local int depth = 0;
  return depth;
}

Status State::enter(const char* entry, bool needs_context) {
  ++calls[entry];
  if (const auto found = injections.find(entry); found != injections.end() && found->second.after-- == 0) {
    const Status status = found->second.status;
    injections.erase(found);
    return status;
  }
  if (needs_context && current_depth() == 0)
    return misuse(std::string(entry) + " without a current context", kInvalidContext);
  return kSuccess;
}

bool State::idle() const {
  bool idle = true;
  streams.each([&](const Stream& stream) { idle = idle && stream.queue.empty(); });
  return idle;
}

Status State::ask(calque::runtime::cuda::Stream handle, Work work) {
  Stream* stream = streams.find(handle);
  if (stream == nullptr) return misuse("work for no stream", kInvalidHandle);
  if (sticky != kSuccess) return sticky;
  if (stream->captures)
    stream->captured.push_back(std::move(work));
  else
    stream->queue.push_back(std::move(work));
  return kSuccess;
}

Status State::run_one(Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (sticky != kSuccess) return sticky;
  return sticky = work();
}

Status State::drain(Stream& stream) {
  while (!stream.queue.empty()) run_one(stream);
  return sticky;
}

bool State::holds(calque::runtime::cuda::Address address, size_t bytes) const {
  const auto* at = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
  const auto range = memory.find(at);
  return !range.released && range.holds(static_cast<uintptr_t>(address), bytes);
}

}  // namespace stand_in
