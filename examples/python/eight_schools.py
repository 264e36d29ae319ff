"""Samples a posterior and plots it by ArviZ.

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
    trace = lambada.sample(m.schools, {"effects": effects, "errors": errors}, seed=1)
    print(arviz.summary(trace, var_names=["mu", "tau"])[["mean", "sd", "ess_bulk", "r_hat"]])
    arviz.plot_forest(trace, var_names=["mu", "z"], combined=True)
    plt.savefig(sys.argv[1] if len(sys.argv) > 1 else "eight_schools.png")


if __name__ == "__main__":
    main()
