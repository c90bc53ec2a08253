#pragma once
// CALQUE_MPI_CHECK: before each call, ranks tell those with whom they are about to communicate what they call.
#include "mpi/group.h"

namespace calque::mpi {

/// Exchanges announcements with the ranks of the call. Throws Error that names both lines when they do not belong to
/// one call.
void compare_announcements(const MpiGroup& group, const CollectiveCall& call);

/// Announces that this rank ends its session, and waits until all do. The message of the first rank that does not;
/// empty if all do.
std::string announce_end();

}  // namespace calque::mpi
