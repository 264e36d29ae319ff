"""Samples a posterior by nutpie and plots it by ArviZ.

    python examples/python/eight_schools.py [PICTURE]

Data: D. B. Rubin, Estimation in parallel randomized experiments, Journal of Educational Statistics 6 (1981).
"""

import pathlib
import sys

import arviz
import matplotlib.pyplot as plt
import numpy as np

import lambada

effects = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
errors = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def main() -> None:
    m = lambada.load(pathlib.Path(__file__).with_suffix(".lam"))
    trace = lambada.sampling.sample(
        m.log_posterior,
        start={"mu": 0.0, "log_tau": 0.0, "z": np.zeros(8)},
        dims={"z": ["school"]},
        coords={"school": list("ABCDEFGH")},
        draws=1000,
        chains=4,
        seed=1,
        effects=effects,
        errors=errors,
    )
    print(arviz.summary(trace, var_names=["mu", "log_tau"])[["mean", "sd", "ess_bulk", "r_hat"]])
    arviz.plot_forest(trace, var_names=["mu", "z"], combined=True)
    plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "eight_schools.png")


if __name__ == "__main__":
    main()
