#include "mpi/announcements.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace calque::mpi {
namespace {

using Clock = std::chrono::steady_clock;

/// Announcements of two ranks to each other form one sequence, whatever communicators the calls are of: so a rank sees
/// what the other really does next.
struct Announcement {
  uint64_t communicator = 0;
  int32_t kind = -1;  ///< a Collective; -1: the end of the session
  int32_t op = 0;
  int64_t root = -1;
  bool sends = false, receives = false;  ///< to and from the rank that reads this
  char type[120] = {};
  char line[256] = {};
};

template <size_t N>
void put(char (&to)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

bool is_between_two(Collective kind) {
  return kind == Collective::send || kind == Collective::receive || kind == Collective::send_receive;
}
bool has_root(Collective kind) {
  return kind == Collective::reduce || kind == Collective::broadcast || kind == Collective::gather ||
         kind == Collective::scatter;
}
bool has_op(Collective kind) {
  return kind == Collective::all_reduce || kind == Collective::reduce || kind == Collective::reduce_scatter ||
         kind == Collective::scan;
}

std::string text_of(const Announcement& a) {
  if (a.kind < 0) return "ends its session";
  const auto kind = static_cast<Collective>(a.kind);
  std::string details;
  const auto add = [&](const std::string& text) { details += (details.empty() ? "" : ", ") + text; };
  if (kind != Collective::barrier) add(a.type);
  if (has_op(kind)) add(std::string(to_string(static_cast<ReduceOp>(a.op))));
  if (has_root(kind)) add(fmt::format("root {}", a.root));
  if (a.sends) add("to it");
  if (a.receives) add("from it");
  return fmt::format("calls {}({}) of communicator {}{}", function_of(kind), details, a.communicator, a.line);
}

bool belong_together(const Announcement& a, const Announcement& b) {
  if (a.kind < 0 || b.kind < 0) return a.kind == b.kind;
  if (a.communicator != b.communicator || std::strcmp(a.type, b.type) != 0) return false;
  const bool two = is_between_two(static_cast<Collective>(a.kind));
  if (two != is_between_two(static_cast<Collective>(b.kind))) return false;
  if (two) return a.sends == b.receives && a.receives == b.sends;
  return a.kind == b.kind && a.op == b.op && a.root == b.root;
}

/// The index of a request that is done; -1 if none is by the time, should there be one.
int wait_for_any(std::vector<MPI_Request>& requests, const std::optional<Clock::time_point>& until) {
  int index = -1, done = 0;
  const auto count = static_cast<int>(requests.size());
  if (!until) {
    MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
    return index;
  }
  while (true) {
    MPI_Testany(count, requests.data(), &index, &done, MPI_STATUS_IGNORE);
    if (done != 0) return index;
    if (Clock::now() > *until) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Exchanges announcements with some ranks of the world, until the time, should there be one. The text of the first
/// mismatch, or nothing.
std::string exchange_with(const std::vector<int>& ranks, std::vector<Announcement> announcements,
                          const std::optional<Clock::time_point>& until = {}) {
  const MPI_Comm comm = state().announcements;
  struct Messages {
    std::vector<Announcement> mine, theirs;
  };
  auto messages = std::make_unique<Messages>();
  messages->mine = std::move(announcements);
  messages->theirs.resize(ranks.size());
  std::vector<Announcement>&mine = messages->mine, &theirs = messages->theirs;
  std::vector<MPI_Request> requests;
  for (size_t i = 0; i < ranks.size(); ++i) {
    MPI_Isend(&mine[i], sizeof(Announcement), MPI_BYTE, ranks[i], 0, comm, &requests.emplace_back());
    MPI_Irecv(&theirs[i], sizeof(Announcement), MPI_BYTE, ranks[i], 0, comm, &requests.emplace_back());
  }
  // One mismatch is enough: other ranks may never answer.
  std::vector<bool> seen(ranks.size());
  std::string mismatch;
  for (size_t left = ranks.size(); left > 0 && mismatch.empty(); --left) {
    std::vector<MPI_Request> receives;
    std::vector<size_t> of;
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (seen[i]) continue;
      receives.push_back(requests[2 * i + 1]);
      of.push_back(i);
    }
    const int done = wait_for_any(receives, until);
    if (done < 0) {
      mismatch = fmt::format("rank {} {} after an operation has failed, but rank {} does not", state().rank,
                             text_of(mine[of[0]]), ranks[of[0]]);
      break;
    }
    const size_t i = of[static_cast<size_t>(done)];
    seen[i] = true;
    requests[2 * i + 1] = MPI_REQUEST_NULL;
    if (!belong_together(mine[i], theirs[i]))
      mismatch =
          fmt::format("rank {} {}, but rank {} {}", state().rank, text_of(mine[i]), ranks[i], text_of(theirs[i]));
  }
  if (mismatch.empty()) {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  } else {
    // MPI may read and write them at any time, should the program go on.
    static_cast<void>(messages.release());
  }
  return mismatch;
}

}  // namespace

void compare_announcements(const MpiGroup& group, const CollectiveCall& call) {
  Announcement a;
  a.communicator = group.shared_id();
  a.kind = static_cast<int32_t>(call.kind);
  if (has_op(call.kind)) a.op = static_cast<int32_t>(call.op);
  if (has_root(call.kind)) a.root = call.peer;
  if (call.kind != Collective::barrier)
    put(a.type, to_string(call.kind == Collective::receive ? call.result : call.operand));
  put(a.line, where_text(call.location));
  std::vector<int> ranks;
  std::vector<Announcement> announcements;
  for (int64_t r = 0; r < group.size(); ++r) {
    if (r == group.rank()) continue;
    if (is_between_two(call.kind)) {
      a.sends = call.kind != Collective::receive && r == call.peer;
      a.receives = call.kind != Collective::send && r == call.source;
      if (!a.sends && !a.receives) continue;
    }
    ranks.push_back(group.world_ranks()[static_cast<size_t>(r)]);
    announcements.push_back(a);
  }
  const std::string mismatch = exchange_with(ranks, std::move(announcements));
  if (!mismatch.empty()) fail(fmt::format("{}: {}", function_of(call.kind), mismatch), {});
}

std::string announce_end() {
  std::vector<int> ranks;
  for (int r = 0; r < state().size; ++r) {
    if (r != state().rank) ranks.push_back(r);
  }
  // Ranks may wait for what this one has not done.
  std::optional<Clock::time_point> until;
  if (state().failed) until = Clock::now() + std::chrono::seconds(5);
  return exchange_with(ranks, std::vector<Announcement>(ranks.size()), until);
}

}  // namespace calque::mpi
