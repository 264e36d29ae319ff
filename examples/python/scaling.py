"""How a gradient that is summed over shards scales with the number of workers of a Dask cluster: measured on this machine, and modelled for more.

    python scaling.py [--workers 2] [--rows 1000000] [--shards 4]

Each worker holds its shards of the data, which it has drawn itself. *Strong* scaling: the same data on more workers. *Weak* scaling: as much data on each
worker, whatever their number. The model has three terms: a shard's kernel, what Dask takes for a task, and what a level of the tree of sums takes.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from dask.distributed import Client, LocalCluster, wait

import lambada

# The likelihood of a mixture of normal distributions: the kernel of each shard.
MODEL = """
def loglik [n] [d] [k] (weights : [k]real) (means : [k][d]real) (x : [n][d]real) : real =
  sum (for row in x => logsumexp (for (w, mean) in zip weights means => w - 0.5 * sum ((row - mean) ** 2)))
"""

DIMENSIONS, COMPONENTS = 16, 25


def shard(seed: int, rows: int) -> np.ndarray:
    """Rows that a worker draws itself."""
    return np.random.default_rng(seed).normal(size=(rows, DIMENSIONS))


def parameters() -> dict[str, np.ndarray]:
    """Weights and means of the mixture."""
    rng = np.random.default_rng(0)
    return {"weights": rng.normal(size=COMPONENTS), "means": rng.normal(size=(COMPONENTS, DIMENSIONS))}


def least(run, count: int = 10) -> float:
    """The least time of several runs, in seconds, without the first one, which compiles."""
    run()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def on_cluster(workers: int, shards: int, rows: int) -> tuple[float, float]:
    """The time of a value and gradient on so many workers, with so many shards of so many rows; and the value, which the workers do not change."""
    f = lambada.compile(MODEL).loglik
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        # As many shards on each worker; Dask itself may give one worker more than another.
        places = list(client.scheduler_info()["workers"])
        data = [client.submit(shard, k, rows, workers=[places[k * workers // shards]]) for k in range(shards)]
        wait(data)
        given = parameters()

        def run() -> float:
            # Dask keeps what it has computed: parameters that are new make it compute.
            given["weights"] = given["weights"] + 1e-9
            return lambada.dask.sum_value_and_grad(f, sharded={"x": data}, wrt=("weights", "means"), **given)[0]

        return least(run), run()


def kernel(rows: int) -> float:
    """The time of one shard's value and gradient, without Dask."""
    f, x, given = lambada.compile(MODEL).loglik, shard(0, rows), parameters()
    return least(lambda: f.value_and_grad(x=x, wrt=("weights", "means"), **given))


def main() -> None:
    import lambada.dask  # noqa: F401  (registers the adapter)

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--workers", type=int, default=2, help="measure up to so many workers")
    arguments.add_argument("--rows", type=int, default=1_000_000, help="rows of a shard")
    arguments.add_argument("--shards", type=int, default=4, help="shards for each worker")
    given = arguments.parse_args()

    one = kernel(given.rows)
    # Shards without work: what remains is Dask's, so much for each task and so much for each level of sums.
    few, many = 2, 32
    small = {count: on_cluster(1, count, 1)[0] for count in (few, many)}
    task = (small[many] - small[few]) / (2 * (many - few))
    start = small[few] - 2 * few * task

    def model(workers: int, shards: int, rows: float = given.rows) -> float:
        return start + math.ceil(shards / workers) * (one * rows / given.rows + 2 * task) + math.log2(workers) * task

    print(f"one shard of {given.rows} rows: {1e3 * one:.1f} ms; a call: {1e3 * start:.1f} ms; a task: {1e3 * task:.2f} ms")
    total = given.shards * given.workers
    for name, shards_of in (("strong", lambda workers: total), ("weak", lambda workers: given.shards * workers)):
        print(f"\n{name} scaling\nworkers shards  measured   model  efficiency")
        base, values = {}, set()
        for workers in [*range(1, given.workers + 1), 4, 8, 16, 32, 64]:
            # More workers than shards: as many smaller ones.
            shards = max(shards_of(workers), workers)
            expected = model(workers, shards, given.rows * shards_of(workers) / shards)
            times = {"model": expected}
            if workers <= given.workers:
                times["measured"], value = on_cluster(workers, shards, given.rows)
                values.add((shards, value))
            kind, time_taken = list(times.items())[-1]
            efficiency = base.setdefault(kind, time_taken) / time_taken / (workers if name == "strong" else 1)
            base.setdefault("model", expected)
            shown = f"{1e3 * times['measured']:7.0f} ms" if "measured" in times else "         –"
            print(f"{workers:7} {shards:6} {shown} {1e3 * expected:5.0f} ms {100 * efficiency:9.0f} %")
        if name == "strong" and len(values) != 1:
            raise SystemExit(f"the value depends on the number of workers: {values}")


if __name__ == "__main__":
    main()
