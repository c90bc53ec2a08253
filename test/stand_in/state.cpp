#include "state.h"

#include <algorithm>

namespace stand_in {

State& state() {
  static State& one = *new State;
  return one;
}

std::vector<Context*>& current() {
  thread_local std::vector<Context*> contexts;
  return contexts;
}

int& capture_mode() {
  thread_local int mode = 0;
  return mode;
}

std::string State::cubin_header() {
  return "\x7f"
         "ELF for " +
         std::to_string(settings["major"]) + "." + std::to_string(settings["minor"]) + ", driver " +
         std::to_string(settings["version"]) + "\n";
}

Status State::injected(const char* entry) {
  const auto found = injections.find(entry);
  if (found == injections.end() || found->second.after-- != 0) return kSuccess;
  const Status status = found->second.status;
  injections.erase(found);
  return status;
}

namespace {

/// Whether a call is allowed while another thread captures in global mode.
bool is_harmless(const std::string& entry) {
  return entry.starts_with("cuCtx") || entry.starts_with("cublasLtMatmul") || entry.ends_with("Async_v2") ||
         entry == "cuLaunchKernel" || entry == "cuGraphLaunch" || entry == "cuEventRecord";
}

}  // namespace

Status State::enter(const char* entry, bool needs_context) {
  ++calls[entry];
  if (const Status status = injected(entry); status != kSuccess) return status;
  if (needs_context && current().empty())
    return misuse(std::string(entry) + " without a current context", kInvalidContext);
  if (needs_context && settings["foreign_capture"] != 0 && capture_mode() != calque::runtime::cuda::kCaptureRelaxed &&
      !is_harmless(entry))
    return misuse(std::string(entry) + " invalidates another library's capture", 900);
  return kSuccess;
}

Status State::sticky() const { return current().empty() ? kSuccess : current().back()->sticky; }

bool State::is_registered(const void* from) const {
  const auto* at = static_cast<const std::byte*>(from);
  return std::any_of(registered.begin(), registered.end(),
                     [&](const auto& range) { return at >= range.first && at < range.first + range.second; });
}

bool State::idle() const {
  bool idle = true;
  streams.each([&](const Stream& stream) {
    idle = idle && (stream.queue.empty() || (!current().empty() && stream.context != current().back()));
  });
  return idle;
}

Status State::ask(calque::runtime::cuda::Stream handle, Work work) {
  Stream* stream = streams.find(handle);
  if (stream == nullptr) return misuse("work for no stream", kInvalidHandle);
  if (stream->context->sticky != kSuccess) return stream->context->sticky;
  if (stream->captures)
    stream->captured.push_back(std::move(work));
  else
    stream->queue.push_back(std::move(work));
  return kSuccess;
}

Status State::run_one(Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  Status& sticky = stream.context->sticky;
  if (sticky != kSuccess) return sticky;
  return sticky = work();
}

Status State::drain(Stream& stream) {
  while (!stream.queue.empty()) run_one(stream);
  return stream.context->sticky;
}

bool State::holds(calque::runtime::cuda::Address address, size_t bytes) const {
  const auto* at = reinterpret_cast<const void*>(static_cast<uintptr_t>(address));
  const auto range = memory.find(at);
  return !range.released && range.holds(static_cast<uintptr_t>(address), bytes);
}

}  // namespace stand_in
