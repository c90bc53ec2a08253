#pragma once
// CALQUE_MPI_CHECK: before each call, ranks tell those with whom they are about to communicate what they call.
#include "mpi/group.h"

namespace calque::mpi {

/// Whether the call is between two ranks. Then each message is announced by itself: one rank may call sendrecv where
/// the other receives and then sends.
bool is_message(Collective kind);

/// Where the arrays of a call are, as far as ranks must agree.
enum class Memory : uint8_t {
  host,     ///< in the host's memory, or about to be copied there
  gpu,      ///< in the memory of the GPU with which the communicator was used before
  new_gpu,  ///< in that of another one
};

/// Before the first announcement of a session.
void start_announcements();

/// Exchanges announcements with the ranks of the call, of a message with the rank that sends it. Throws Error that
/// names both lines when they do not belong to one call.
void compare_announcements(const MpiGroup& group, const CollectiveCall& call, Memory memory = Memory::host);
/// The same of another call of all ranks.
void compare_announcements(const MpiGroup& group, std::string_view name, const Location& location);

/// Announces and makes a call between two ranks. Throws Error when the announcements do not fit, or when the message
/// waits for a rank that waits for another call of this one.
void exchange_announced(const MpiGroup& group, const CollectiveCall& call, const void* operand, void* result);

/// Announces that this rank ends its session, and waits until all do. The message of the first rank that does not;
/// empty if all do.
std::string announce_end();

}  // namespace calque::mpi
