#include "mpi/nccl_agreement.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include "ir/log.h"

namespace calque::mpi {
namespace {

namespace nccl = runtime::nccl;

/// What a rank has.
struct Offer {
  int version = 0;  ///< of NCCL; 0: none
  char hardware[64] = {};
};

/// Why ranks with these offers do not use NCCL; empty if they may.
std::string obstacle_of(const std::vector<Offer>& offers) {
  std::map<std::string, size_t> ranks;
  for (size_t r = 0; r < offers.size(); ++r) {
    if (offers[r].version == 0) return fmt::format("rank {} has no NCCL", r);
    if (offers[r].version != offers[0].version)
      return fmt::format("rank 0 has NCCL {} and rank {} has {}", nccl::version_text(offers[0].version), r,
                         nccl::version_text(offers[r].version));
    const auto [other, is_new] = ranks.emplace(std::string(offers[r].hardware, sizeof offers[r].hardware), r);
    if (!is_new) return fmt::format("ranks {} and {} share a GPU", other->second, r);
  }
  return {};
}

}  // namespace

std::unique_ptr<runtime::NcclCommunicator> agree_on_nccl(const MpiGroup& group, DeviceQueue& queue,
                                                         const CollectiveCall& call) {
  const auto check = [&](int code) { require(code, function_of(call.kind), call.location); };
  const int size = static_cast<int>(group.size()), rank = static_cast<int>(group.rank());
  const std::shared_ptr<const nccl::Library>& library = nccl::library();
  Offer mine;
  if (library != nullptr) mine.version = library->version;
  const std::string hardware = queue.hardware();
  std::memcpy(mine.hardware, hardware.data(), std::min(hardware.size(), sizeof mine.hardware));
  std::vector<Offer> offers(static_cast<size_t>(size));
  check(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, offers.data(), sizeof mine, MPI_BYTE, group.comm()));
  const auto through_host = [&](const std::string& obstacle) {
    if (rank == 0)
      library_log().info("{}: arrays on GPUs are communicated through host memory: {}", group.label(), obstacle);
    return nullptr;
  };
  if (const std::string obstacle = obstacle_of(offers); !obstacle.empty()) return through_host(obstacle);

  // Each step is one on all ranks: none goes on where another has failed.
  const auto first_failure = [&](bool failed) {
    const int own = failed ? rank : size;
    int first = size;
    check(MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, group.comm()));
    return first;
  };
  bool failed = false;
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (const std::exception& e) {
      failed = true;
      library_log().warn("{}: NCCL {} does not start on rank {}: {}", group.label(), nccl::description(*library), rank,
                         e.what());
    }
  };
  nccl::UniqueId id{};
  if (rank == 0) attempt([&] { id = runtime::NcclCommunicator::unique_id(*library, queue); });
  std::unique_ptr<runtime::NcclCommunicator> made;
  int first = first_failure(failed);
  if (first == size) {
    check(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, group.comm()));
    attempt([&] { made = std::make_unique<runtime::NcclCommunicator>(library, queue, id, size, rank); });
    first = first_failure(failed);
  }
  if (first != size) {
    if (made != nullptr) made->abandon();
    return through_host(fmt::format("it does not start on rank {}", first));
  }
  if (rank == 0)
    library_log().info("{}: arrays on GPUs are communicated by NCCL {}", group.label(), nccl::description(*library));
  return made;
}

}  // namespace calque::mpi
