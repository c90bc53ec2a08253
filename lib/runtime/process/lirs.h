#pragma once
// Which entries of a bounded table go: LIRS (S. Jiang and X. Zhang, "LIRS: an efficient low inter-reference recency set
// replacement policy to improve buffer cache performance", SIGMETRICS 2002), with sizes in place of counts.
//
// Most of the memory belongs to entries of low inter-reference recency: those used again soonest, seen from one use to
// the next. The others pass through a short queue. An entry that was evicted is remembered for a while (a ghost), so
// that one used again before the oldest protected entry is takes its place. Hence a scan does not displace what is used
// again and again, and of a cycle that is larger than the memory, as much stays as fits, where least recently used
// would never hit. How long an entry takes to make is left out: compiling takes time in proportion to the code that
// comes out, so that the time saved for a byte kept is about the same for all.
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace calque::runtime {

class Lirs {
 public:
  /// What the policy knows of an entry. Stays where it is as long as the policy knows of it.
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
    std::list<Node*>::iterator stack_, queue_;  // queue_: of ghosts as well
  };

  explicit Lirs(size_t capacity) { set_capacity(capacity); }
  /// Bytes of all residents. The newest stays however large it is, until the next one comes.
  void set_capacity(size_t bytes);

  /// An entry that was made just now: a new one or a ghost.
  void insert(Node& node, size_t bytes);
  /// A resident is used. Again right after itself does not count: that says nothing of how soon it will be wanted after
  /// others were.
  void touch(Node& node);
  /// The policy forgets the entry.
  void remove(Node& node);

  /// The next resident to evict, or null when the residents fit. It is a ghost afterwards, or is known no more.
  Node* evict();
  /// The next ghost that is known no more, or null.
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
  List stack_;   // by last use, newest first; the last one is of low recency
  List queue_;   // residents of high recency, oldest first
  List ghosts_;  // oldest first; all in the stack
  Node* newest_ = nullptr;
  std::vector<Node*> forgotten_;
};

}  // namespace calque::runtime
