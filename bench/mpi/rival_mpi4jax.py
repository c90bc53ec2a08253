#!/usr/bin/env python3
"""The tasks of bench_mpi with mpi4jax, on one thread for each of two ranks; medians in microseconds.

  pip install mpi4jax; mpirun -np 2 python bench/mpi/rival_mpi4jax.py
"""
import os
import statistics
import time

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
import jax
import jax.numpy as jnp
import mpi4jax
import numpy as np
from jax import lax
from mpi4py import MPI

jax.config.update("jax_enable_x64", True)
comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
assert size == 2


def result(returned):
    """Without the token that versions with tokens return, too."""
    return returned[0] if isinstance(returned, (tuple, list)) else returned


def total(x):
    return result(mpi4jax.allreduce(x, op=MPI.SUM, comm=comm))


def heat(rows, n):
    def step(_, u):
        mine, other = (u[-1:], 1) if rank == 0 else (u[:1], 0)
        ghost = result(mpi4jax.sendrecv(mine, mine, source=other, dest=other, comm=comm))
        edge = jnp.zeros((1, n))
        wide = jnp.concatenate([edge, u, ghost] if rank == 0 else [ghost, u, edge])
        wide = jnp.pad(wide, ((0, 0), (1, 1)))
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        return u + 0.2 * (around - 4.0 * u)

    return lambda u: lax.fori_loop(0, 100, step, u)


def measure(name, f, x):
    f = jax.jit(f)
    f(x).block_until_ready()
    times = []
    for _ in range(25):
        comm.Barrier()
        start = time.perf_counter()
        f(x).block_until_ready()
        times.append(time.perf_counter() - start)
    if rank == 0:
        print(f"{name}: {1e6 * statistics.median(times):.4g} us", flush=True)


draw = np.random.default_rng(rank).random
measure("allreduce, 1000 calls, 8", lambda x: lax.fori_loop(0, 1000, lambda _, c: total(c) / size, x), jnp.array(draw(8)))
for count in (1 << 16, 1 << 22):
    measure(f"allreduce, {count}", total, jnp.array(draw(count)))
for n in (256, 1024):
    measure(f"heat, 100 steps, {n}", heat(n // size, n), jnp.array(draw((n // size, n))))
if rank == 0:
    print(f"jax {jax.__version__}, mpi4jax {mpi4jax.__version__}")
