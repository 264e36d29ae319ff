#!/usr/bin/env python3
"""Log densities in JAX, and nutpie's chains, for beside.py.

    peers.py serve MODEL DATA                                       answers the lines of standard input
    peers.py jax MODEL DATA OUT CHAINS WARMUP DRAWS SEED            nutpie's chains with the density in JAX
    peers.py stan LIBRARY DATA OUT CHAINS WARMUP DRAWS SEED NAMES   nutpie's chains with BridgeStan's library of a Stan program

The densities take the coordinates of the Stan programs of the same names, in their order, and leave out constants, as Stan's sampler does.
OUT is a file of NumPy with the draws of the variables: chains first, then draws. Needs jax and nutpie; `stan` needs stanio.
"""

import json
import sys
import time

import numpy as np

if sys.argv[1] != "stan":
    import jax
    import jax.numpy as jnp
    from jax.scipy.special import logsumexp

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")


def arrays(data):
    return {name: np.array(value, dtype=float) for name, value in data.items()}


def normal(x, mean, sd):
    """The log density without its constant, summed; `sd` is broadcast."""
    terms = -0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd)
    return jnp.sum(terms)


def cauchy(x, scale):
    return -jnp.log1p((x / scale) ** 2)


def bernoulli_logit(y, logit):
    return jnp.sum(jnp.where(y > 0, -jnp.logaddexp(0.0, -logit), -jnp.logaddexp(0.0, logit)))


def eight_schools_centered(d):
    def density(u):
        theta, mu, tau = u[:8], u[8], jnp.exp(u[9])
        return cauchy(tau, 5) + normal(theta, mu, tau) + normal(d["y"], theta, d["sigma"]) + normal(mu, 0, 5.0) + u[9]

    return 10, density


def eight_schools_noncentered(d):
    def density(u):
        trans, mu, tau = u[:8], u[8], jnp.exp(u[9])
        return cauchy(tau, 5) + normal(trans, 0, 1.0) + normal(d["y"], trans * tau + mu, d["sigma"]) + normal(mu, 0, 5.0) + u[9]

    return 10, density


def ar_k(d):
    k, y = int(d["K"]), d["y"]
    lags = np.stack([y[k - 1 - j : len(y) - 1 - j] for j in range(k)], axis=1)

    def density(u):
        alpha, beta, sigma = u[0], u[1 : k + 1], jnp.exp(u[k + 1])
        return normal(alpha, 0, 10.0) + normal(beta, 0, 10.0) + cauchy(sigma, 2.5) + normal(y[k:], alpha + lags @ beta, sigma) + u[k + 1]

    return k + 2, density


def arma11(d):
    y = d["y"]

    def density(u):
        mu, phi, theta, sigma = u[0], u[1], u[2], jnp.exp(u[3])
        first = y[0] - (mu + phi * mu)

        def step(err, pair):
            err = pair[0] - (mu + phi * pair[1] + theta * err)
            return err, err

        _, errs = jax.lax.scan(step, first, (y[1:], y[:-1]))
        prior = normal(mu, 0, 10.0) + normal(phi, 0, 2.0) + normal(theta, 0, 2.0) + cauchy(sigma, 2.5)
        return prior + normal(first, 0, sigma) + normal(errs, 0, sigma) + u[3]

    return 4, density


def garch11(d):
    y = d["y"]

    def density(u):
        mu, alpha0, alpha1 = u[0], jnp.exp(u[1]), jax.nn.sigmoid(u[2])
        beta1 = (1 - alpha1) * jax.nn.sigmoid(u[3])

        def step(sigma, before):
            sigma = jnp.sqrt(alpha0 + alpha1 * (before - mu) ** 2 + beta1 * sigma**2)
            return sigma, sigma

        _, rest = jax.lax.scan(step, jnp.asarray(d["sigma1"]), y[:-1])
        unit = lambda v: -jnp.logaddexp(0.0, v) - jnp.logaddexp(0.0, -v)
        return normal(y[0], mu, d["sigma1"]) + normal(y[1:], mu, rest) + u[1] + unit(u[2]) + unit(u[3]) + jnp.log(1 - alpha1)

    return 4, density


def kernel(x, alpha, rho):
    return alpha**2 * jnp.exp(-0.5 * ((x[:, None] - x) / rho) ** 2)


def gamma(x, shape, rate):
    return (shape - 1) * jnp.log(x) - rate * x


def gp_regr(d):
    n = len(d["x"])

    def density(u):
        rho, alpha, sigma = jnp.exp(u)
        factor = jnp.linalg.cholesky(kernel(d["x"], alpha, rho) + sigma * jnp.eye(n))
        white = jax.scipy.linalg.solve_triangular(factor, d["y"], lower=True)
        prior = gamma(rho, 25, 4) + normal(alpha, 0, 2.0) + normal(sigma, 0, 1.0)
        return prior - 0.5 * jnp.sum(white**2) - jnp.sum(jnp.log(jnp.diag(factor))) + jnp.sum(u)

    return 3, density


def gp_pois_regr(d):
    n = len(d["x"])

    def density(u):
        rho, alpha, tilde = jnp.exp(u[0]), jnp.exp(u[1]), u[2:]
        f = jnp.linalg.cholesky(kernel(d["x"], alpha, rho) + 1e-10 * jnp.eye(n)) @ tilde
        prior = gamma(rho, 25, 4) + normal(alpha, 0, 2.0) + normal(tilde, 0, 1.0)
        return prior + jnp.sum(d["k"] * f - jnp.exp(f)) + u[0] + u[1]

    return n + 2, density


def linear(columns, y, prior=lambda beta, sigma: 0.0):
    """A regression on a constant and columns."""

    def model(d):
        x = np.stack([np.ones(len(y(d))), *columns(d)], axis=1)
        target, k = y(d), x.shape[1]

        def density(u):
            beta, sigma = u[:k], jnp.exp(u[k])
            return prior(beta, sigma) + normal(target, x @ beta, sigma) + u[k]

        return k + 1, density

    return model


def half_cauchy(_, sigma):
    return cauchy(sigma, 2.5)


def blr(d):
    k = int(d["D"])

    def density(u):
        beta, sigma = u[:k], jnp.exp(u[k])
        return normal(beta, 0, 10.0) + normal(sigma, 0, 10.0) + normal(d["y"], d["X"] @ beta, sigma) + u[k]

    return k + 1, density


def kilpisjarvi(d):
    def density(u):
        sigma = jnp.exp(u[2])
        prior = normal(u[0], d["pmualpha"], d["psalpha"]) + normal(u[1], d["pmubeta"], d["psbeta"])
        return prior + normal(d["y"], u[0] + u[1] * d["x"], sigma) + u[2]

    return 3, density


def low_dim_gauss_mix(d):
    def density(u):
        mu = jnp.array([u[0], u[0] + jnp.exp(u[1])])
        sigma, theta = jnp.exp(u[2:4]), jax.nn.sigmoid(u[4])
        log_theta, log_rest = -jnp.logaddexp(0.0, -u[4]), -jnp.logaddexp(0.0, u[4])
        parts = -0.5 * ((d["y"][:, None] - mu) / sigma) ** 2 - jnp.log(sigma) + jnp.stack([log_theta, log_rest])
        prior = normal(sigma, 0, 2.0) + normal(mu, 0, 2.0) + 4 * (log_theta + log_rest)
        return prior + jnp.sum(logsumexp(parts, axis=1)) + u[1] + u[2] + u[3] + log_theta + log_rest

    return 5, density


def irt_2pl(d):
    y = d["y"]
    i, j = y.shape

    def density(u):
        s_theta, theta, s_a, log_a = jnp.exp(u[0]), u[1 : j + 1], jnp.exp(u[j + 1]), u[j + 2 : j + 2 + i]
        mu_b, s_b, b = u[j + 2 + i], jnp.exp(u[j + 3 + i]), u[j + 4 + i :]
        prior = cauchy(s_theta, 2) + normal(theta, 0, s_theta) + cauchy(s_a, 2) + normal(log_a, 0, s_a) - jnp.sum(log_a)
        prior += normal(mu_b, 0, 5.0) + cauchy(s_b, 2) + normal(b, mu_b, s_b)
        logit = jnp.exp(log_a)[:, None] * (theta - b[:, None])
        return prior + bernoulli_logit(y, logit) + u[0] + u[j + 1] + jnp.sum(log_a) + u[j + 3 + i]

    return j + 2 * i + 4, density


def radon_partially_pooled_noncentered(d):
    k, place = int(d["J"]), d["county_idx"].astype(int) - 1

    def density(u):
        raw, mu, s_alpha, s_y = u[:k], u[k], jnp.exp(u[k + 1]), jnp.exp(u[k + 2])
        prior = normal(s_y, 0, 1.0) + normal(s_alpha, 0, 1.0) + normal(mu, 0, 10.0) + normal(raw, 0, 1.0)
        return prior + normal(d["log_radon"], (mu + s_alpha * raw)[place], s_y) + u[k + 1] + u[k + 2]

    return k + 3, density


def wells_dist(d):
    return 2, lambda u: bernoulli_logit(d["switched"], u[0] + u[1] * d["dist"])


def ages(d):
    return [(d["age_discrete"] == k).astype(float) for k in (2, 3, 4)]


MODELS = {
    "arK": ar_k,
    "arma11": arma11,
    "blr": blr,
    "earn_height": linear(lambda d: [d["height"]], lambda d: d["earn"]),
    "eight_schools_centered": eight_schools_centered,
    "eight_schools_noncentered": eight_schools_noncentered,
    "garch11": garch11,
    "gp_pois_regr": gp_pois_regr,
    "gp_regr": gp_regr,
    "irt_2pl": irt_2pl,
    "kidscore_interaction": linear(lambda d: [d["mom_hs"], d["mom_iq"], d["mom_hs"] * d["mom_iq"]], lambda d: d["kid_score"], half_cauchy),
    "kilpisjarvi": kilpisjarvi,
    "logearn_interaction": linear(lambda d: [d["height"], d["male"], d["height"] * d["male"]], lambda d: np.log(d["earn"])),
    "low_dim_gauss_mix": low_dim_gauss_mix,
    "mesquite": linear(lambda d: [d[k] for k in ("diam1", "diam2", "canopy_height", "total_height", "density", "group")], lambda d: d["weight"]),
    "nes": linear(lambda d: [d["real_ideo"], d["race_adj"], *ages(d), d["educ1"], d["gender"], d["income"]], lambda d: d["partyid7"]),
    "radon_partially_pooled_noncentered": radon_partially_pooled_noncentered,
    "wells_dist": wells_dist,
}


def serve(model, data):
    count, density = model(data)
    both = jax.jit(jax.value_and_grad(density))

    # Times count inside of compiled code, so that calls from Python do not.
    @jax.jit
    def repeat(u, times):
        def step(_, state):
            u, total = state
            value, gradient = jax.value_and_grad(density)(u)
            return u + 1e-300 * gradient, total + value

        return jax.lax.fori_loop(0, times, step, (u, 0.0))

    begun = time.perf_counter()
    jax.block_until_ready(both(jnp.zeros(count)))
    print(time.perf_counter() - begun, count, flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "at":
            value, gradient = both(jnp.array([float(x) for x in words[1:]]))
            print(float(value), *map(float, gradient), flush=True)
        elif words[0] == "time":
            u = jnp.array([float(x) for x in words[2:]])
            jax.block_until_ready(repeat(u, 1))
            begun = time.perf_counter()
            jax.block_until_ready(repeat(u, int(words[1])))
            print(time.perf_counter() - begun, flush=True)


def of_jax(model, data):
    import nutpie.compiled_pyfunc

    count, density = model(data)
    both = jax.jit(jax.value_and_grad(density))
    jax.block_until_ready(both(jnp.zeros(count)))

    def log_density(u):
        value, gradient = both(u)
        return float(value), np.asarray(gradient, dtype=np.float64)

    return nutpie.compiled_pyfunc.from_pyfunc(
        ndim=count,
        make_logp_fn=lambda: log_density,
        make_expand_fn=lambda *_: lambda u: {"u": np.asarray(u, dtype=np.float64)},
        expanded_dtypes=[np.dtype("float64")],
        expanded_shapes=[(count,)],
        expanded_names=["u"],
    )


def of_stan(library, data):
    import nutpie._lib
    from nutpie.compile_stan import CompiledStanModel

    made = CompiledStanModel(code="", library=nutpie._lib.StanLibrary(library), dims={}, _coords={}, model_name="model", model=None, data=data)
    return made.with_data()


def draw(model, words, names):
    import nutpie

    out, chains, warmup, draws, seed = words[0], *map(int, words[1:5])
    begun = time.process_time()
    trace = nutpie.sample(model, draws=draws, tune=warmup, chains=chains, cores=1, seed=seed, progress_bar=False, save_warmup=False)
    took = time.process_time() - begun
    posterior = trace.posterior
    names = names or list(posterior.data_vars)
    np.savez(out, took=took, diverging=trace.sample_stats.diverging.values.sum(), **{name: posterior[name].values for name in names})


def main():
    command, what, path, *words = sys.argv[1:]
    with open(path) as file:
        data = json.load(file)
    if command == "serve":
        serve(MODELS[what], arrays(data))
    elif command == "jax":
        draw(of_jax(MODELS[what], arrays(data)), words, None)
    else:
        draw(of_stan(what, data), words, words[5].split(","))


if __name__ == "__main__":
    main()
