#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <pthread.h>

#include "ir/environment.h"
#include "mpi/announcements.h"
#include "mpi/group.h"

namespace calque::mpi {
namespace {

/// Ends all ranks. What other ranks print at the same time is waited for a little.
[[noreturn]] void abort_job(const std::string& message) {
  std::fflush(stdout);
  std::fputs((fmt::format("[rank {}] {}\n", state().rank, message)).c_str(), stderr);
  std::fflush(stderr);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

std::terminate_handler previous_handler = nullptr;

[[noreturn]] void on_terminate() {
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (running == 0 || ended != 0 || state().is_child) {
    if (previous_handler != nullptr) previous_handler();
    std::abort();
  }
  std::string message = "ends by std::terminate";
  if (const std::exception_ptr exception = std::current_exception()) {
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& e) {
      message = e.what();
    } catch (...) {
      message = "ends by an exception that is no std::exception";
    }
  }
  abort_job(message);
}

/// At the end of a process that left its session by an exception, which `main` has caught by then.
void abort_at_exit() {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0 && !state().is_child) abort_job("left its session by an exception; the other ranks are ended");
}

std::shared_ptr<const MpiGroup> group_with_id(const Communicator& comm, std::string_view name,
                                              const Location& location) {
  State& s = state();
  if (!s.has_session) {
    int ended = 0;
    MPI_Finalized(&ended);
    fail(std::string(name) + (ended != 0 ? ": MPI has ended" : ": no MPI is running; make a cq::mpi::Session first"),
         location);
  }
  if (comm.id == 0) fail(std::string(name) + ": the communicator is empty", location);
  const std::lock_guard lock(s.mutex);
  const auto found = s.groups.find(comm.id);
  if (found == s.groups.end()) fail(fmt::format("{}: there is no communicator {}", name, comm.id), location);
  found->second->require_alive(name, location);
  return found->second;
}

/// Registers a communicator, which it takes over. All ranks of it call this.
Communicator adopt(MPI_Comm comm, std::string_view name, const Location& location) {
  State& s = state();
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int size = 0, rank = 0;
  require(MPI_Comm_size(comm, &size), name, location);
  require(MPI_Comm_rank(comm, &rank), name, location);
  // The next number that is free on all its ranks.
  const uint64_t next = s.groups.empty() ? 1 : s.groups.rbegin()->first + 1;
  uint64_t id = next;
  require(MPI_Allreduce(&next, &id, 1, MPI_UINT64_T, MPI_MAX, comm), name, location);
  MPI_Group members = MPI_GROUP_NULL, everybody = MPI_GROUP_NULL;
  require(MPI_Comm_group(comm, &members), name, location);
  require(MPI_Comm_group(MPI_COMM_WORLD, &everybody), name, location);
  std::vector<int> ranks(static_cast<size_t>(size)), world(ranks.size());
  for (int r = 0; r < size; ++r) ranks[static_cast<size_t>(r)] = r;
  require(MPI_Group_translate_ranks(members, size, ranks.data(), everybody, world.data()), name, location);
  MPI_Group_free(&members);
  MPI_Group_free(&everybody);
  s.groups.emplace(id, std::make_shared<const MpiGroup>(comm, id, size, rank, std::move(world)));
  return {id};
}

constexpr uint64_t kWorld = 1;

bool on_all_ranks(bool here, MPI_Comm comm, const Location& location) {
  const int own = here ? 1 : 0;
  int all = 0;
  require(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm), "mpi::Session", location);
  return all != 0;
}

/// Waits until all ranks end their sessions. If an operation of this rank has failed, others may wait for it: then only
/// for a while. False if they have not ended by then.
bool all_end(State& s) {
  if (s.checks) return true;  // the announcements tell
  constexpr auto kPatience = std::chrono::seconds(5);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(s.groups.at(kWorld)->comm(), &request);
  if (!s.failed) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return true;
  }
  int done = 0;
  for (const auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < kPatience;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void end_session(State& s) {
  s.worker.reset();
  if (!all_end(s))
    abort_job("ends its session after an operation has failed, and other ranks have not; they are ended");
  if (s.checks) {
    const std::string mismatch = announce_end();
    if (!mismatch.empty()) abort_job("mpi::Session: " + mismatch);
    MPI_Comm_free(&s.announcements);
  }
  s.has_session = false;
  // Submitted calls of NCCL may wait for those that a rank with a failure has not made.
  const bool failed = !on_all_ranks(!s.failed, s.groups.at(kWorld)->comm(), {});
  for (const auto& [id, group] : s.groups) group->free(failed);
  std::set_terminate(previous_handler);
}

/// MPI_Finalize drops the attributes of MPI_COMM_SELF first, while MPI still runs.
int on_finalize(MPI_Comm, int, void*, void*) {
  if (state().has_session) end_session(state());
  return MPI_SUCCESS;
}

}  // namespace

State& state() {
  static State* const s = new State;
  return *s;
}

void require(int code, std::string_view name, const Location& location) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(fmt::format("{}: MPI reports {}", name, std::string_view(text, static_cast<size_t>(length))), location);
}

void fail(const std::string& text, const Location& location) {
  state().failed.store(true, std::memory_order_relaxed);
  throw Error(text + where_text(location));
}

Session::Session(int argc, char** argv, Loc loc) : exceptions_(std::uncaught_exceptions()) {
  State& s = state();
  if (s.has_session) throw Error("mpi::Session: there is a session already" + where_text(loc));
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  if (ended != 0) throw Error("mpi::Session: MPI has ended, and cannot be started twice" + where_text(loc));
  if (running == 0) {
    require(MPI_Init_thread(argc == 0 ? nullptr : &argc, argc == 0 ? nullptr : &argv, MPI_THREAD_MULTIPLE, &s.threads),
            "mpi::Session", loc);
    ends_mpi_ = true;
  } else {
    MPI_Query_thread(&s.threads);
  }
  const std::lock_guard lock(s.mutex);
  s.main_thread = std::this_thread::get_id();
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.size);
  s.checks = is_on("CALQUE_MPI_CHECK");
  s.failed = false;
  s.groups.clear();
  MPI_Comm world = MPI_COMM_NULL;
  require(MPI_Comm_dup(MPI_COMM_WORLD, &world), "mpi::Session", loc);
  if (s.checks) {
    require(MPI_Comm_dup(MPI_COMM_WORLD, &s.announcements), "mpi::Session", loc);
    start_announcements();
  }
  s.nccl = on_all_ranks(runtime::nccl::is_wanted(), world, loc);
  adopt(world, "mpi::Session", loc);
  require(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &s.end_key, nullptr), "mpi::Session", loc);
  require(MPI_Comm_set_attr(MPI_COMM_SELF, s.end_key, &s), "mpi::Session", loc);
  static const int handles_fork = pthread_atfork(nullptr, nullptr, [] { state().is_child = true; });
  static_cast<void>(handles_fork);
  s.has_session = true;
  previous_handler = std::set_terminate(&on_terminate);
}

Session::~Session() {
  State& s = state();
  if (!s.has_session || s.is_child) return;
  if (std::uncaught_exceptions() > exceptions_) {
    // The message is the exception's, which the handler that catches it prints first.
    s.has_session = false;
    for (const auto& [id, group] : s.groups) group->free(true);
    std::atexit(&abort_at_exit);
    return;
  }
  end_session(s);
  MPI_Comm_free_keyval(&s.end_key);
  if (ends_mpi_) MPI_Finalize();
}

Communicator world(Loc loc) {
  group_with_id({kWorld}, "mpi::world", loc);
  return {kWorld};
}

int Communicator::rank(Loc loc) const {
  return static_cast<int>(group_with_id(*this, "mpi::Communicator::rank", loc)->rank());
}
int Communicator::size(Loc loc) const {
  return static_cast<int>(group_with_id(*this, "mpi::Communicator::size", loc)->size());
}

Communicator Communicator::split(int colour, int key, Loc loc) const {
  const auto group = group_with_id(*this, "mpi::Communicator::split", loc);
  if (state().checks) compare_announcements(*group, "mpi::Communicator::split", loc);
  const std::lock_guard lock(state().mutex);
  MPI_Comm part = MPI_COMM_NULL;
  require(MPI_Comm_split(group->comm(), colour < 0 ? MPI_UNDEFINED : colour, key, &part), "mpi::Communicator::split",
          loc);
  return part == MPI_COMM_NULL ? Communicator{} : adopt(part, "mpi::Communicator::split", loc);
}

void Communicator::free(Loc loc) const {
  if (id == kWorld) fail("mpi::Communicator::free: that of all ranks cannot be freed", loc);
  const auto group = group_with_id(*this, "mpi::Communicator::free", loc);
  if (state().checks) compare_announcements(*group, "mpi::Communicator::free", loc);
  group->free();
}

MPI_Comm mpi_comm(const Communicator& comm, Loc loc) { return group_with_id(comm, "mpi::mpi_comm", loc)->comm(); }

Communicator from_mpi_comm(MPI_Comm comm, Loc loc) {
  group_with_id({kWorld}, "mpi::from_mpi_comm", loc);
  if (comm == MPI_COMM_NULL) fail("mpi::from_mpi_comm: it is MPI_COMM_NULL", loc);
  const std::lock_guard lock(state().mutex);
  MPI_Comm own = MPI_COMM_NULL;
  require(MPI_Comm_dup(comm, &own), "mpi::from_mpi_comm", loc);
  return adopt(own, "mpi::from_mpi_comm", loc);
}

void barrier(const Communicator& comm, Loc loc) {
  const auto group = detail::group_of(comm, "mpi::barrier", loc);
  const CollectiveCall call = detail::call_of(Collective::barrier, loc);
  if (calque::detail::tracing()) {
    detail::record("mpi::barrier", call, group, nullptr);
  } else {
    detail::run("mpi::barrier", call, group, nullptr);
  }
}

namespace detail {

std::shared_ptr<const ProcessGroup> group_of(const Communicator& comm, std::string_view name, Location at) {
  return group_with_id(comm, name, at);
}

namespace {

/// What this rank does not call, others may wait for.
template <class F>
auto noting_failure(const F& f) {
  try {
    return f();
  } catch (...) {
    state().failed = true;
    throw;
  }
}

}  // namespace

calque::detail::Handle record(std::string_view name, const CollectiveCall& call,
                              const std::shared_ptr<const ProcessGroup>& group, const calque::detail::Operand* x) {
  return noting_failure([&] { return calque::detail::ops::collective(group, call, x, name); });
}

AnyArray run(std::string_view name, const CollectiveCall& call, const std::shared_ptr<const ProcessGroup>& group,
             const AnyArray* x) {
  return noting_failure([&] { return calque::detail::ops::run_collective(group, call, x, name); });
}

}  // namespace detail

}  // namespace calque::mpi
