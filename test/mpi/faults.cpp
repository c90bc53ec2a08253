// What goes wrong on purpose: each case must end all ranks, with a message that the test expects.
#include <string>

#include "calque/mpi.h"

namespace {

using D = calque::Array<double>;
namespace mpi = calque::mpi;

void run(const std::string& fault) {
  const mpi::Communicator world = mpi::world();
  const int rank = world.rank();
  const D x{1, 2};
  if (fault == "other_operation") {
    if (rank == 0) {
      mpi::allreduce(x, world);
    } else {
      mpi::bcast(x, 0, world);
    }
  } else if (fault == "other_shape") {
    mpi::allreduce(rank == 0 ? x : D{1}, world);
  } else if (fault == "other_type") {
    if (rank == 0) {
      mpi::send(x, 1, world);
    } else if (rank == 1) {
      mpi::recv(calque::Array<float>{1, 2}, 0, world);
    }
  } else if (fault == "other_root") {
    mpi::bcast(x, rank % 2, world);
  } else if (fault == "other_communicator") {
    const mpi::Communicator part = world.split(rank == 0 ? 0 : 1);
    mpi::allreduce(x, rank == 1 ? part : world);
  } else if (fault == "ends_early") {
    if (rank != 1) mpi::allreduce(x, world);
  } else if (fault == "branch_of_some") {
    const auto f = calque::jit([&](auto v) {
      return calque::cond(
          calque::sum(v) > 0.0, [&](auto y) { return mpi::allreduce(y, world); }, [](auto y) { return y; }, v);
    });
    f(x * (rank == 0 ? 1.0 : -1.0));
    mpi::barrier(world);
  } else if (fault == "exception") {
    if (rank == 1) throw calque::Error("a fault of the program (model.cpp:42)");
    mpi::allreduce(x, world);
  } else if (fault == "caught_later") {
    if (rank == 1) mpi::bcast(x, 7, world);
    mpi::allreduce(x, world);
  } else if (fault == "caught_inside") {
    try {
      if (rank == 1) mpi::bcast(x, 7, world);
    } catch (const calque::Error&) {
      return;
    }
    mpi::allreduce(x, world);
  } else if (fault == "neighbours_of_some") {
    // Rank 0 finds nothing wrong with rank 1, which goes on to the end, and waits for it.
    try {
      mpi::sendrecv(rank == 2 ? D{1, 2, 3} : x, rank - 1, rank < 2 ? rank + 1 : mpi::null_rank, world);
    } catch (const calque::Error& e) {
      std::cout << "caught " << e.what() << std::endl;
    }
  } else if (fault == "root_out_of_range") {
    mpi::bcast(x, 7, world);
  } else if (fault == "message_for_a_collective") {
    // Rank 0 cannot go on: MPI takes no message of this size before it is received.
    if (rank == 0) {
      mpi::send(D::zeros({1000000}), 1, world);
    } else {
      mpi::allreduce(x, world);
    }
  } else if (fault == "message_not_received") {
    if (rank == 0) mpi::send(x, 1, world);
  } else if (fault == "both_receive") {
    if (rank < 2) mpi::recv(x, 1 - rank, world);
  } else if (fault == "split_of_some") {
    if (rank == 0) {
      world.split(0);
    } else {
      mpi::barrier(world);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "";
  if (fault == "caught_later") {
    // The exception leaves the session and is caught: the others must not wait.
    try {
      mpi::Session session(argc, argv);
      run(fault);
    } catch (const calque::Error& e) {
      std::cout << "caught " << e.what() << std::endl;
    }
    return 1;
  }
  mpi::Session session(argc, argv);
  run(fault);
}
