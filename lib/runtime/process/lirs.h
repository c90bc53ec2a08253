#pragma once
// The eviction policy of a bounded cache: LIRS (S. Jiang and X. Zhang, "LIRS: an efficient low inter-reference recency
// set replacement policy to improve buffer cache performance", SIGMETRICS 2002), with sizes instead of counts.
//
// Most of the capacity belongs to entries of low inter-reference recency: those with the shortest distance between two
// uses. The others pass through a short queue. An evicted entry is remembered for a while (a ghost), and if it is used
// again before the oldest protected entry is, it replaces that entry. Hence a scan does not displace entries that are
// used repeatedly, and of a cycle that exceeds the capacity as much stays as fits, where LRU would never hit. The cost
// of making an entry is not considered: compile time is proportional to the size of the generated code, so the time
// saved per cached byte is about the same for all entries.
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace calque::runtime {

class Lirs {
 public:
  /// The policy's data of an entry. Its address must not change while the policy tracks it.
  class Node {
   public:
    Node() = default;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    bool is_ghost() const { return state_ == State::ghost; }

   private:
    friend class Lirs;
    enum class State : uint8_t { unknown, low, high, ghost };  // low, high: inter-reference recency of a resident
    State state_ = State::unknown;
    bool in_stack_ = false;
    size_t bytes_ = 0;
    std::list<Node*>::iterator stack_, queue_;  // queue_: into queue_ or ghosts_
  };

  explicit Lirs(size_t capacity) { set_capacity(capacity); }
  /// The limit on the total bytes of residents. The newest stays whatever its size, until the next one is inserted.
  void set_capacity(size_t bytes);

  /// Inserts an entry that has just been made: a new one or a ghost.
  void insert(Node& node, size_t bytes);
  /// Records a use of a resident. Repeated use of the newest entry does not count: it tells nothing about the distance
  /// to the next use after other entries.
  void touch(Node& node);
  /// Stops tracking the entry.
  void remove(Node& node);

  /// The next resident to evict, or null when the residents fit. Afterwards it is a ghost or no longer tracked.
  Node* evict();
  /// The next ghost that is no longer tracked, or null.
  Node* forget();

  size_t bytes() const { return low_bytes_ + high_bytes_; }

 private:
  using State = Node::State;
  using List = std::list<Node*>;
  void push(Node& node);
  void unstack(Node& node);
  void prune();
  void shrink();
  void promote(Node& node);
  void bound_ghosts();

  size_t capacity_ = 0, low_capacity_ = 0;
  size_t low_bytes_ = 0, high_bytes_ = 0, residents_ = 0;
  List stack_;   // by last use, newest first; the last entry has low recency
  List queue_;   // residents of high recency, oldest first
  List ghosts_;  // oldest first; all in the stack
  Node* newest_ = nullptr;
  std::vector<Node*> forgotten_;
};

}  // namespace calque::runtime
