// Every collective in every element type, at once and compiled, against what one process computes from the arguments of
// all ranks; random sizes and roots; communicators of parts.
#include <complex>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi/ranks.h"

namespace calque::test {
namespace {

using mpi::Communicator;
using mpi::Op;

/// The same on all ranks.
struct Case {
  std::string name;
  int64_t count;
  int root;
  unsigned seed;
};

/// Rank r's argument: small numbers, exact in every type.
template <class T>
Array<T> argument(const Case& c, int rank, const std::vector<int64_t>& shape) {
  std::mt19937 draw(c.seed * 31 + static_cast<unsigned>(rank));
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(draw() % 3) + 1);
  const Array<double> x = Array<double>::from(numbers).reshape(Shape(shape));
  if constexpr (std::is_same_v<T, bool>) {
    return x > 1.0;
  } else {
    return cast<T>(x);
  }
}

template <class T>
Array<T> combined(const std::vector<Array<T>>& all, Op op, size_t count) {
  Array<T> out = all[0];
  for (size_t r = 1; r < count; ++r) {
    if constexpr (std::is_same_v<T, bool>) {
      out = op == Op::all ? out && all[r] : out || all[r];
    } else if constexpr (ComplexElem<T>) {
      out = op == Op::sum ? Array<T>(out + all[r]) : Array<T>(out * all[r]);
    } else {
      out = op == Op::sum    ? Array<T>(out + all[r])
            : op == Op::prod ? Array<T>(out * all[r])
            : op == Op::max  ? Array<T>(maximum(out, all[r]))
                             : Array<T>(minimum(out, all[r]));
    }
  }
  return out;
}

/// Compilation takes most of the time; code for one element is that for more, and that of a part that of the world.
template <class T>
bool is_compiled(const Communicator& comm, const Array<T>& x) {
  return x.size() != 1 && (comm == mpi::world() || (std::is_same_v<T, double> && x.size() != 0));
}

template <class T, class F>
void check(const Communicator& comm, const F& f, const Array<T>& x, const Array<T>& want, const std::string& what) {
  expect_equal(f(x), want, what + " at once");
  if (!is_compiled(comm, x)) return;
  expect_equal(jit([&](auto v) { return f(v); })(x), want, what + " compiled");
}

template <class T>
void check_type(const Communicator& comm, const Case& c) {
  const int rank = comm.rank(), size = comm.size();
  const auto ranks = static_cast<size_t>(size);
  std::vector<Array<T>> all, rows;
  for (int r = 0; r < size; ++r) {
    all.push_back(argument<T>(c, r, {c.count}));
    rows.push_back(argument<T>(c, r + 100, {size, c.count}));
  }
  const auto mine = static_cast<size_t>(rank), root = static_cast<size_t>(c.root);
  const Array<T>&x = all[mine], &m = rows[mine];
  const std::string name = c.name + " of " + std::to_string(c.count) + " root " + std::to_string(c.root);
  const Array<T> none = Array<T>::zeros({c.count});
  const bool is_root = rank == c.root;

  std::vector<Op> ops{Op::sum, Op::prod, Op::max, Op::min};
  if (std::is_same_v<T, bool>) ops = {Op::all, Op::any};
  if (ComplexElem<T>) ops = {Op::sum, Op::prod};
  for (const Op op : ops) {
    const std::string what = name + " " + std::string(to_string(op));
    const Array<T> sum = combined(all, op, ranks), sums = combined(rows, op, ranks);
    check(comm, [&](auto v) { return mpi::allreduce(v, comm, op); }, x, sum, what + " allreduce");
    check(comm, [&](auto v) { return mpi::reduce(v, c.root, comm, op); }, x, is_root ? sum : none, what + " reduce");
    check(comm, [&](auto v) { return mpi::scan(v, comm, op); }, x, combined(all, op, mine + 1), what + " scan");
    check(
        comm, [&](auto v) { return mpi::reduce_scatter(v, comm, op); }, m, Array<T>(sums[rank]),
        what + " reduce_scatter");
  }
  const Array<T> stacked = stack(all, 0);
  check(comm, [&](auto v) { return mpi::bcast(v, c.root, comm); }, x, all[root], name + " bcast");
  check(comm, [&](auto v) { return mpi::allgather(v, comm); }, x, stacked, name + " allgather");
  check(
      comm, [&](auto v) { return mpi::gather(v, c.root, comm); }, x,
      is_root ? stacked : Array<T>::zeros({size, c.count}), name + " gather");
  check(comm, [&](auto v) { return mpi::scatter(v, c.root, comm); }, m, Array<T>(rows[root][rank]), name + " scatter");
  std::vector<Array<T>> column;
  for (const Array<T>& each : rows) column.push_back(each[rank]);
  check(comm, [&](auto v) { return mpi::alltoall(v, comm); }, m, stack(column, 0), name + " alltoall");
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  check(
      comm, [&](auto v) { return mpi::sendrecv(v, next, previous, comm); }, x, all[static_cast<size_t>(previous)],
      name + " sendrecv");
  check(
      comm, [&](auto v) { return mpi::sendrecv(v, rank + 1 < size ? rank + 1 : mpi::null_rank, rank - 1, comm); }, x,
      rank == 0 ? none : all[mine - 1], name + " chain");
  if (size > 1) {
    const auto pass = [&](auto v) {
      if (rank == 0) mpi::send(v, 1, comm);
      return rank == 1 ? mpi::recv(v, 0, comm) : v;
    };
    check(comm, pass, x, rank == 1 ? all[0] : x, name + " send");
  }
  mpi::barrier(comm);
}

void check_all(const Communicator& comm, unsigned seed) {
  std::mt19937 draw(seed);
  for (const int64_t count : {int64_t{0}, int64_t{1}, static_cast<int64_t>(draw() % 100 + 2)}) {
    const int root = static_cast<int>(draw() % static_cast<unsigned>(comm.size()));
    const auto of = [&](const char* name) { return Case{name, count, root, seed}; };
    check_type<bool>(comm, of("bool"));
    check_type<int8_t>(comm, of("i8"));
    check_type<uint16_t>(comm, of("u16"));
    check_type<int32_t>(comm, of("i32"));
    check_type<uint64_t>(comm, of("u64"));
    check_type<float16>(comm, of("f16"));
    check_type<bfloat16>(comm, of("bf16"));
    check_type<float>(comm, of("f32"));
    check_type<double>(comm, of("f64"));
    check_type<std::complex<float>>(comm, of("c64"));
    check_type<std::complex<double>>(comm, of("c128"));
  }
}

/// Other types share all code with these but the MPI type.
template <class T>
void check_sum(const Communicator& comm) {
  expect_equal(mpi::allreduce(Array<T>{1, 2}, comm), cast<T>(Array<int32_t>{1, 2} * comm.size()), "sum");
}

}  // namespace
}  // namespace calque::test

int main(int argc, char** argv) {
  using namespace calque;
  using namespace calque::test;
  using D = Array<double>;
  mpi::Session session(argc, argv);
  const mpi::Communicator world = mpi::world();
  const int rank = world.rank(), size = world.size();
  check_all(world, 7);
  check_sum<int16_t>(world);
  check_sum<int64_t>(world);
  check_sum<uint8_t>(world);
  check_sum<uint32_t>(world);

  // Parts, in the reverse order of rank.
  const mpi::Communicator half = world.split(rank % 2, -rank);
  check_all(half, 11);
  expect(half.size() == (size + 1 - rank % 2) / 2, "size of a part");
  expect(!world.split(-1), "no part");
  expect(world == mpi::world() && half != world, "communicators are values");
  const auto by_argument = jit([](auto x, mpi::Communicator comm) { return mpi::allreduce(x, comm); });
  expect_equal(by_argument(D{1}, world), D{1.0 * size}, "argument");
  expect_equal(by_argument(D{1}, half), D{1.0 * half.size()}, "another argument");
  half.free();
  bool refused = false;
  try {
    by_argument(D{1}, half);
  } catch (const Error& e) {
    refused = std::string(e.what()).find("freed") != std::string::npos;
  }
  expect(refused, "a communicator that was freed");

  // NaN, numbers, trees, a communicator of MPI's own.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const mpi::Op op : {mpi::max, mpi::min}) {
    const D x = mpi::allreduce(D{rank == size - 1 ? nan : 1.0, 2.0}, world, op);
    expect(isnan(x[0]).item() && x[1].item() == 2, "NaN");
  }
  expect(mpi::allreduce(rank, world).item() == size * (size - 1) / 2, "numbers");
  const auto [a, b] = mpi::allreduce(std::tuple{D{1, 2}, std::vector<double>{3}}, world);
  expect_equal(a, D{1.0 * size, 2.0 * size}, "trees");
  expect_equal(b, D{3.0 * size}, "trees");
  const mpi::Communicator own = mpi::from_mpi_comm(mpi::mpi_comm(world));
  expect_equal(mpi::allreduce(D{1}, own), D{1.0 * size}, "from_mpi_comm");
  if (rank == 0) std::cout << "collectives of " << size << " ranks: all right\n";
}
