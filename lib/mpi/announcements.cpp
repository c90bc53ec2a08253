#include "mpi/announcements.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mpi/reductions.h"

namespace calque::mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// What a rank tells those with which it is about to communicate.
struct Announcement {
  enum class Kind : uint8_t { end, collective, message };
  Kind kind = Kind::end;
  /// Of a message: to and from the rank that reads this. Cleared where the other rank's part is found.
  bool sends = false, receives = false;
  bool on_main_thread = true;  ///< that of the session
  uint64_t communicator = 0;
  char name[40] = {};
  char details[140] = {};  ///< equal in calls that belong together
  char line[256] = {};
};

template <size_t N>
void put(char (&to)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

std::string text_of(const Announcement& a) {
  if (a.kind == Announcement::Kind::end) return "ends its session";
  return fmt::format("calls {}({}{}{}) of communicator {}{}", a.name, a.details, a.sends ? ", to it" : "",
                     a.receives ? ", from it" : "", a.communicator, a.line);
}

std::string mismatch_of(const Announcement& mine, int rank, const Announcement& theirs) {
  return fmt::format("rank {} {}, but rank {} {}", state().rank, text_of(mine), rank, text_of(theirs));
}

/// What another rank has told this one.
struct Peer {
  std::vector<Announcement> inbox;  ///< what this rank has not done its part of, in order
  std::vector<Announcement> sent;   ///< messages to it of which it has not said that it receives them
};

/// Announcements go from rank to rank in the order in which the sender makes its calls.
struct Exchange {
  std::mutex mutex;
  std::vector<Peer> peers;  ///< by rank of the world
  struct Outgoing {
    std::unique_ptr<Announcement> announcement;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::vector<Outgoing> outgoing;

  Peer& peer(int rank) { return peers[static_cast<size_t>(rank)]; }

  void tell(int rank, const Announcement& a) {
    std::erase_if(outgoing, [](Outgoing& out) {
      int done = 0;
      MPI_Test(&out.request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    });
    Outgoing& out = outgoing.emplace_back();
    out.announcement = std::make_unique<Announcement>(a);
    MPI_Isend(out.announcement.get(), sizeof a, MPI_BYTE, rank, 0, state().announcements, &out.request);
  }

  /// Takes in what has arrived.
  void listen() {
    while (true) {
      int arrived = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, 0, state().announcements, &arrived, &message, &status);
      if (arrived == 0) return;
      Announcement a;
      MPI_Mrecv(&a, sizeof a, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      peer(status.MPI_SOURCE).inbox.push_back(a);
    }
  }
};
Exchange& exchange() {
  static Exchange* const e = new Exchange;
  return *e;
}

/// Whether a rank that makes the call `theirs`, which waits for this rank, cannot make what `mine` waits for before.
/// The calls of one communicator have one order, and so have those of the sessions' threads.
bool excludes(const Announcement& mine, const Announcement& theirs) {
  return mine.kind == Announcement::Kind::end || theirs.kind == Announcement::Kind::end ||
         mine.communicator == theirs.communicator || (mine.on_main_thread && theirs.on_main_thread);
}

/// The messages that a rank has said to receive are those that this rank has said to send, in order. The text of the
/// first mismatch, or nothing.
std::string match_messages(int rank, Peer& peer) {
  for (Announcement& theirs : peer.inbox) {
    if (!theirs.receives) continue;
    const auto mine = std::find_if(peer.sent.begin(), peer.sent.end(),
                                   [&](const Announcement& a) { return a.communicator == theirs.communicator; });
    if (mine == peer.sent.end()) continue;
    if (std::strcmp(mine->details, theirs.details) != 0) return mismatch_of(*mine, rank, theirs);
    theirs.receives = false;
    peer.sent.erase(mine);
  }
  std::erase_if(peer.inbox,
                [](const Announcement& a) { return a.kind == Announcement::Kind::message && !a.sends && !a.receives; });
  return {};
}

struct Found {
  bool found = false;
  std::string mismatch;
};

/// Looks for what `mine` waits for: that the rank makes the same collective, sends the message, or ends.
Found look_for(const Announcement& mine, int rank, Peer& peer) {
  using enum Announcement::Kind;
  if (std::string mismatch = match_messages(rank, peer); !mismatch.empty()) return {false, std::move(mismatch)};
  for (auto theirs = peer.inbox.begin(); theirs != peer.inbox.end(); ++theirs) {
    const bool is_answer = mine.communicator == theirs->communicator && mine.kind == theirs->kind;
    if (is_answer && (mine.kind != message || theirs->sends)) {
      const bool fits = std::strcmp(mine.details, theirs->details) == 0 &&
                        (mine.kind == message || std::strcmp(mine.name, theirs->name) == 0);
      if (!fits) return {false, mismatch_of(mine, rank, *theirs)};
      if (mine.kind == end && !peer.sent.empty()) return {false, mismatch_of(peer.sent[0], rank, *theirs)};
      theirs->sends = false;
      if (!theirs->receives) peer.inbox.erase(theirs);
      return {true, {}};
    }
    // One that sends a message may go on without its being received, until the end.
    const bool waits = theirs->kind != message || theirs->receives || mine.kind == end;
    if (waits && excludes(mine, *theirs)) return {false, mismatch_of(mine, rank, *theirs)};
  }
  return {};
}

/// Between looks at what has arrived: short at first, since most announcements are answered at once.
class Pause {
 public:
  void take() {
    if (++looks_ < 200) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(looks_ < 1000 ? 50 : 1000));
    }
  }

 private:
  int looks_ = 0;
};

/// Waits until each of the ranks has announced what `mine` waits for, until the time, should there be one. The text of
/// the first mismatch, or nothing.
std::string wait_for(std::vector<int> ranks, const Announcement& mine,
                     const std::optional<Clock::time_point>& until = {}) {
  Exchange& e = exchange();
  for (Pause pause;; pause.take()) {
    {
      const std::lock_guard lock(e.mutex);
      e.listen();
      for (size_t i = 0; i < ranks.size();) {
        Found answer = look_for(mine, ranks[i], e.peer(ranks[i]));
        if (!answer.mismatch.empty()) return std::move(answer.mismatch);
        answer.found ? void(ranks.erase(ranks.begin() + static_cast<std::ptrdiff_t>(i))) : void(++i);
      }
    }
    if (ranks.empty()) return {};
    if (until && Clock::now() > *until)
      return fmt::format("rank {} {} after an operation has failed, but rank {} does not", state().rank, text_of(mine),
                         ranks[0]);
  }
}

bool has_root(Collective kind) {
  return kind == Collective::reduce || kind == Collective::broadcast || kind == Collective::gather ||
         kind == Collective::scatter;
}
bool has_op(Collective kind) {
  return kind == Collective::all_reduce || kind == Collective::reduce || kind == Collective::reduce_scatter ||
         kind == Collective::scan;
}

Announcement announcement_of(const MpiGroup& group, std::string_view name, std::string_view details,
                             const Location& location) {
  Announcement a;
  a.kind = Announcement::Kind::collective;
  a.communicator = group.shared_id();
  a.on_main_thread = std::this_thread::get_id() == state().main_thread;
  put(a.name, name);
  put(a.details, details);
  put(a.line, where_text(location));
  return a;
}

Announcement announcement_of(const MpiGroup& group, const CollectiveCall& call, Memory memory) {
  std::string details;
  if (call.kind != Collective::barrier)
    details = to_string(call.kind == Collective::receive ? call.result : call.operand);
  if (has_op(call.kind)) details += fmt::format(", {}", to_string(call.op));
  if (has_root(call.kind)) details += fmt::format(", root {}", call.peer);
  if (memory != Memory::host) details += memory == Memory::gpu ? ", on a GPU" : ", on a GPU that is new to it";
  Announcement a = announcement_of(group, function_of(call.kind), details, call.location);
  if (is_message(call.kind)) a.kind = Announcement::Kind::message;
  return a;
}

/// The ranks of the world to which and from which a message goes; -1 for none.
struct Ends {
  int to = -1, from = -1;
};
Ends ends_of(const MpiGroup& group, const CollectiveCall& call) {
  const auto world_rank = [&](int64_t r) { return r < 0 ? -1 : group.world_ranks()[static_cast<size_t>(r)]; };
  return {call.kind == Collective::receive ? -1 : world_rank(call.peer),
          call.kind == Collective::send ? -1 : world_rank(call.source)};
}

/// Announces both parts of a call between two ranks. The part of the rank that sends, as seen from here.
Announcement announce_message(const MpiGroup& group, const CollectiveCall& call, Memory memory = Memory::host) {
  const Ends ends = ends_of(group, call);
  Exchange& e = exchange();
  const std::lock_guard lock(e.mutex);
  const auto part = [&](int rank) {
    Announcement a = announcement_of(group, call, memory);
    a.sends = rank == ends.to;
    a.receives = rank == ends.from;
    return a;
  };
  if (ends.to >= 0) {
    e.tell(ends.to, part(ends.to));
    e.peer(ends.to).sent.push_back(part(ends.to));
  }
  if (ends.from >= 0 && ends.from != ends.to) e.tell(ends.from, part(ends.from));
  return part(ends.from);
}

std::string announce_collective(const MpiGroup& group, const Announcement& a) {
  std::vector<int> ranks;
  {
    Exchange& e = exchange();
    const std::lock_guard lock(e.mutex);
    for (int64_t r = 0; r < group.size(); ++r) {
      if (r == group.rank()) continue;
      ranks.push_back(group.world_ranks()[static_cast<size_t>(r)]);
      e.tell(ranks.back(), a);
    }
  }
  return wait_for(std::move(ranks), a);
}

[[noreturn]] void fail_with(std::string_view name, const std::string& mismatch) {
  fail(fmt::format("{}: {}", name, mismatch), {});
}

/// A message that MPI has not taken yet. MPI may take it at once, whatever the other rank does; one that stays, while
/// the other rank waits for another call of this one, waits for ever.
class Departure {
 public:
  Departure(Announcement mine, int rank) : mine_(std::move(mine)), rank_(rank) {}

  /// What the other rank waits for, once it has done so for a while; or nothing.
  std::string look(Peer& peer) {
    if (std::string mismatch = match_messages(rank_, peer); !mismatch.empty()) return mismatch;
    const bool is_received = std::none_of(peer.sent.begin(), peer.sent.end(), [&](const Announcement& sent) {
      return sent.communicator == mine_.communicator;
    });
    const auto other = std::find_if(peer.inbox.begin(), peer.inbox.end(),
                                    [&](const Announcement& theirs) { return excludes(mine_, theirs); });
    if (is_received || other == peer.inbox.end()) {
      since_.reset();
    } else if (!since_) {
      since_ = Clock::now();
    } else if (Clock::now() > *since_ + std::chrono::seconds(2)) {
      return mismatch_of(mine_, rank_, *other);
    }
    return {};
  }

 private:
  Announcement mine_;
  int rank_;
  std::optional<Clock::time_point> since_;
};

}  // namespace

bool is_message(Collective kind) {
  return kind == Collective::send || kind == Collective::receive || kind == Collective::send_receive;
}

void start_announcements() {
  Exchange& e = exchange();
  const std::lock_guard lock(e.mutex);
  e.peers.assign(static_cast<size_t>(state().size), {});
}

void compare_announcements(const MpiGroup& group, std::string_view name, const Location& location) {
  const std::string mismatch = announce_collective(group, announcement_of(group, name, {}, location));
  if (!mismatch.empty()) fail_with(name, mismatch);
}

void compare_announcements(const MpiGroup& group, const CollectiveCall& call, Memory memory) {
  std::string mismatch;
  if (is_message(call.kind)) {
    const Announcement mine = announce_message(group, call, memory);
    const int from = ends_of(group, call).from;
    if (from >= 0) mismatch = wait_for({from}, mine);
  } else {
    mismatch = announce_collective(group, announcement_of(group, call, memory));
  }
  if (!mismatch.empty()) fail_with(function_of(call.kind), mismatch);
}

void exchange_announced(const MpiGroup& group, const CollectiveCall& call, const void* operand, void* result) {
  const Announcement mine = announce_message(group, call);
  const Ends ends = ends_of(group, call);
  const bool has_result = call.kind != Collective::send;
  const Type& type = has_result ? call.result : call.operand;
  const auto check = [&](int code) { require(code, function_of(call.kind), call.location); };
  // Not the caller's memory: after a mismatch MPI may still read and write it.
  struct Buffers {
    std::vector<std::byte> out, in;
  };
  auto buffers = std::make_unique<Buffers>();
  const size_t bytes = static_cast<size_t>(type.shape.num_elements()) * size_of(type.dtype);
  buffers->in.resize(bytes);
  const auto count = static_cast<int>(type.shape.num_elements());
  const MPI_Datatype element = datatype_of(type.dtype);
  MPI_Request request_out = MPI_REQUEST_NULL, request_in = MPI_REQUEST_NULL;
  bool receives = false, sent = ends.to < 0, received = ends.from < 0;
  if (!sent) {
    const auto* const x = static_cast<const std::byte*>(operand);
    buffers->out.assign(x, x + bytes);
    check(MPI_Isend(buffers->out.data(), count, element, static_cast<int>(call.peer), 0, group.comm(), &request_out));
  }
  Announcement departs = mine;
  departs.sends = true;
  departs.receives = ends.from == ends.to;
  Departure departure(departs, ends.to);
  std::string mismatch;
  for (Pause pause; mismatch.empty() && (!sent || !received); pause.take()) {
    int done = 0;
    if (!sent) check(MPI_Test(&request_out, &done, MPI_STATUS_IGNORE));
    sent = sent || done != 0;
    if (receives) {
      check(MPI_Test(&request_in, &done, MPI_STATUS_IGNORE));
      received = done != 0;
    }
    Exchange& e = exchange();
    const std::lock_guard lock(e.mutex);
    e.listen();
    if (!sent) mismatch = departure.look(e.peer(ends.to));
    if (!mismatch.empty() || receives || received) continue;
    Found answer = look_for(mine, ends.from, e.peer(ends.from));
    mismatch = std::move(answer.mismatch);
    receives = answer.found;
    if (receives)
      check(MPI_Irecv(buffers->in.data(), count, element, static_cast<int>(call.source), 0, group.comm(), &request_in));
  }
  if (!mismatch.empty()) {
    static_cast<void>(buffers.release());
    fail_with(function_of(call.kind), mismatch);
  }
  if (has_result && bytes != 0) std::memcpy(result, buffers->in.data(), bytes);
}

std::string announce_end() {
  const Announcement a;
  std::vector<int> ranks;
  Exchange& e = exchange();
  {
    const std::lock_guard lock(e.mutex);
    for (int r = 0; r < state().size; ++r) {
      if (r == state().rank) continue;
      e.tell(r, a);
      ranks.push_back(r);
    }
  }
  // Ranks may wait for what this one has not done.
  std::optional<Clock::time_point> until;
  if (state().failed) until = Clock::now() + std::chrono::seconds(5);
  std::string mismatch = wait_for(std::move(ranks), a, until);
  if (mismatch.empty()) {
    for (Exchange::Outgoing& out : e.outgoing) MPI_Wait(&out.request, MPI_STATUS_IGNORE);
    e.outgoing.clear();
  }
  return mismatch;
}

}  // namespace calque::mpi
