#include "runtime/process/lirs.h"

#include <utility>

namespace calque::runtime {
namespace {

/// One in `kHighShare` bytes of the capacity is for entries of high inter-reference recency. (The paper's hundredth
/// would fit only the newest entry here, where entries are few.)
constexpr size_t kHighShare = 16;

constexpr size_t most_ghosts(size_t residents) { return 2 * residents + 64; }

}  // namespace

void Lirs::set_capacity(size_t bytes) {
  capacity_ = bytes;
  low_capacity_ = bytes - bytes / kHighShare;
  shrink();
}

void Lirs::push(Node& node) {
  if (node.in_stack_) {
    stack_.splice(stack_.begin(), stack_, node.stack_);
  } else {
    stack_.push_front(&node);
    node.in_stack_ = true;
  }
  node.stack_ = stack_.begin();
}

void Lirs::unstack(Node& node) {
  if (!node.in_stack_) return;
  stack_.erase(node.stack_);
  node.in_stack_ = false;
}

/// Entries older than every entry of low recency cannot become one at their next use, so the stack drops them.
void Lirs::prune() {
  while (!stack_.empty() && stack_.back()->state_ != State::low) {
    Node& node = *stack_.back();
    unstack(node);
    if (node.state_ != State::ghost) continue;
    ghosts_.erase(node.queue_);
    node.state_ = State::unknown;
    forgotten_.push_back(&node);
  }
}

void Lirs::shrink() {
  while (low_bytes_ > low_capacity_ && stack_.back() != newest_) {
    Node& node = *stack_.back();
    unstack(node);
    node.state_ = State::high;
    node.queue_ = queue_.insert(queue_.end(), &node);
    low_bytes_ -= node.bytes_;
    high_bytes_ += node.bytes_;
    prune();
  }
}

void Lirs::promote(Node& node) {
  node.state_ = State::low;
  low_bytes_ += node.bytes_;
  push(node);
  prune();
  shrink();
}

void Lirs::insert(Node& node, size_t bytes) {
  newest_ = &node;
  node.bytes_ = bytes;
  ++residents_;
  if (node.state_ == State::ghost) {
    ghosts_.erase(node.queue_);
    promote(node);
  } else if (low_bytes_ + bytes <= low_capacity_) {
    promote(node);
  } else {
    node.state_ = State::high;
    high_bytes_ += bytes;
    node.queue_ = queue_.insert(queue_.end(), &node);
    push(node);
  }
}

void Lirs::touch(Node& node) {
  if (newest_ == &node) return;
  newest_ = &node;
  if (node.state_ == State::low) {
    push(node);
    prune();
  } else if (node.in_stack_) {
    queue_.erase(node.queue_);
    high_bytes_ -= node.bytes_;
    promote(node);
  } else {
    push(node);
    queue_.splice(queue_.end(), queue_, node.queue_);
  }
}

void Lirs::remove(Node& node) {
  if (newest_ == &node) newest_ = nullptr;
  unstack(node);
  switch (std::exchange(node.state_, State::unknown)) {
    case State::low:
      low_bytes_ -= node.bytes_;
      --residents_;
      prune();
      break;
    case State::high:
      queue_.erase(node.queue_);
      high_bytes_ -= node.bytes_;
      --residents_;
      break;
    case State::ghost:
      ghosts_.erase(node.queue_);
      break;
    case State::unknown:
      std::erase(forgotten_, &node);
      break;
  }
}

Lirs::Node* Lirs::evict() {
  if (bytes() <= capacity_) return nullptr;
  auto at = queue_.begin();
  if (at != queue_.end() && *at == newest_) ++at;
  if (at == queue_.end()) {
    if (low_bytes_ == 0 || stack_.back() == newest_) return nullptr;
    Node& node = *stack_.back();
    remove(node);
    return &node;
  }
  Node& node = **at;
  queue_.erase(at);
  high_bytes_ -= node.bytes_;
  --residents_;
  if (node.in_stack_) {
    node.state_ = State::ghost;
    node.queue_ = ghosts_.insert(ghosts_.end(), &node);
    bound_ghosts();
  } else {
    node.state_ = State::unknown;
  }
  return &node;
}

void Lirs::bound_ghosts() {
  // Never removes the newest ghost, which evict has yet to report to its owner.
  while (ghosts_.size() > most_ghosts(residents_)) {
    Node& node = *ghosts_.front();
    ghosts_.pop_front();
    unstack(node);
    node.state_ = State::unknown;
    forgotten_.push_back(&node);
  }
}

Lirs::Node* Lirs::forget() {
  if (forgotten_.empty()) return nullptr;
  Node* const node = forgotten_.back();
  forgotten_.pop_back();
  return node;
}

}  // namespace calque::runtime
