"""Fits a model by SciPy and plots it with the uncertainty that its derivatives say.

    python examples/python/beetles.py [PICTURE]

Data: C. Bliss, The calculation of the dosage-mortality curve, Annals of Applied Biology 22 (1935).
"""

import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.optimize

import lambada

dose = np.array([1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839])
total = np.array([59.0, 60, 62, 56, 63, 59, 62, 60])
killed = np.array([6.0, 13, 18, 28, 52, 53, 61, 60])

m = lambada.load(pathlib.Path(__file__).with_suffix(".lam"))

# The mode: -log_posterior is least there. Newton's method, with the exact Hessian.
cost = lambada.scipy.objective(m.log_posterior, wrt=("a", "b"), sign=-1, dose=dose, total=total, killed=killed)
found = scipy.optimize.minimize(cost.fun, cost.pack(a=0.0, b=0.0), jac=cost.jac, hess=cost.hess, method="trust-exact")
mode = cost.unpack(found.x)
covariance = np.linalg.inv(cost.hess(found.x))
print(f"a = {mode['a']:.3f} ± {covariance[0, 0] ** 0.5:.3f}, b = {mode['b']:.2f} ± {covariance[1, 1] ** 0.5:.2f}")

# What the uncertainty of a and b means for the probability of each dose: its derivatives by them, times their covariance.
fine = np.linspace(1.65, 1.92, 200)
probability = m.probability(mode["a"], mode["b"], fine)
slopes = m.probability.jacobian(mode["a"], mode["b"], fine, wrt=("a", "b"))
slopes = np.stack([slopes["a"], slopes["b"]], axis=1)
deviation = np.sqrt(np.einsum("ni,ij,nj->n", slopes, covariance, slopes))

figure, axes = plt.subplots()
axes.fill_between(fine, probability - 2 * deviation, probability + 2 * deviation, alpha=0.3)
axes.plot(fine, probability)
axes.plot(dose, killed / total, "ko")
axes.set(xlabel="dose", ylabel="share of beetles killed")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "beetles.png")
