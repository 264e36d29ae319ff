"""The workloads in JAX, PyTorch and SciPy.

`peers.py --systems` prints the installed systems with their versions. `peers.py WORKLOAD SYSTEM
DATA.npz BITS PATIENCE WRT` measures one system in this process and prints one JSON line, or null
if the system has no version of the workload. `lambada-benches --workloads` calls both.
"""

import json
import math
import os
import sys
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import numpy as np

CALLS = 1000


def jax_workloads():
    import jax
    import jax.numpy as jnp
    from jax import lax
    from jax.scipy.linalg import expm as matrix_exponential, solve_triangular
    from jax.scipy.special import logsumexp

    half_log_2pi = 0.5 * math.log(2 * math.pi)

    def cross_entropy(z, y):
        right = jnp.take_along_axis(z, y[:, None], 1)[:, 0]
        return jnp.mean(logsumexp(z, axis=1) - right)

    def logistic(w, b, x, y):
        z = x @ w + b
        return jnp.mean(jax.nn.softplus(z) - y * z)

    def mlp(w1, b1, w2, b2, w3, b3, x, y):
        h = jax.nn.relu(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
        return cross_entropy(h @ w3 + b3, y)

    def cnn(k1, b1, k2, b2, w3, b3, x, y):
        def layer(x, k, b):
            layout = ("NCHW", "OIHW", "NCHW")
            z = lax.conv_general_dilated(x, k, (1, 1), "VALID", dimension_numbers=layout)
            z = jax.nn.relu(z + b[None, :, None, None])
            n, c, h, w = z.shape
            h, w = h // 2, w // 2
            return z[:, :, : 2 * h, : 2 * w].reshape(n, c, h, 2, w, 2).mean((3, 5))

        z = layer(layer(x, k1, b1), k2, b2)
        return cross_entropy(z.reshape(z.shape[0], -1) @ w3 + b3, y)

    def transformer(wq, wk, wv, wo, g1, s1, g2, s2, w1, b1, w2, b2, x, target, heads):
        t, d = x.shape

        def layer_norm(x, gain, shift):
            c = x - x.mean(-1, keepdims=True)
            return c / jnp.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * gain + shift

        def split(a):
            return a.reshape(t, heads, d // heads).transpose(1, 0, 2)

        h = layer_norm(x, g1, s1)
        q, k, v = split(h @ wq), split(h @ wk), split(h @ wv)
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(d // heads)
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf)
        seen = (jax.nn.softmax(scores, -1) @ v).transpose(1, 0, 2).reshape(t, d)
        x = x + seen @ wo
        h = layer_norm(x, g2, s2)
        y = x + jax.nn.gelu(h @ w1 + b1, approximate=True) @ w2 + b2
        return jnp.mean(jnp.sum((y - target) ** 2, -1))

    def lstm(wx, wh, b, x, target):
        def step(state, u):
            hidden, cell = state
            i, f, z, o = jnp.split(u + hidden @ wh, 4, axis=1)
            cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(z)
            return (jax.nn.sigmoid(o) * jnp.tanh(cell), cell), None

        start = jnp.zeros((x.shape[1], wh.shape[0]), x.dtype)
        (hidden, _), _ = lax.scan(step, (start, start), x @ wx + b)
        return jnp.mean(jnp.sum((hidden - target) ** 2, -1))

    def neural_ode(w1, b1, w2, b2, x, target, steps):
        h = 1 / steps

        def f(y):
            return jnp.tanh(y @ w1 + b1) @ w2 + b2

        def step(y, _):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            k4 = f(y + h * k3)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        y, _ = lax.scan(step, x, None, length=steps)
        return jnp.mean(jnp.sum((y - target) ** 2, -1))

    def gp(amplitude, scale, noise, x, y):
        n = x.shape[0]
        z = x / jnp.exp(scale)
        squares = jnp.sum((z[:, None] - z[None]) ** 2, -1)
        k = jnp.exp(2 * amplitude - 0.5 * squares) + jnp.exp(2 * noise) * jnp.eye(n)
        l = jnp.linalg.cholesky(k)
        a = solve_triangular(l, y, lower=True)
        return -0.5 * a @ a - jnp.sum(jnp.log(jnp.diag(l))) - n * half_log_2pi

    def kalman(a, c, q, r, y):
        d, k = a.shape[0], c.shape[0]

        def step(state, seen):
            m, p = state
            m = a @ m
            p = a @ p @ a.T + jnp.diag(jnp.exp(q))
            l = jnp.linalg.cholesky(c @ p @ c.T + jnp.diag(jnp.exp(r)))
            z = solve_triangular(l, seen - c @ m, lower=True)
            w = solve_triangular(l, c @ p, lower=True)
            density = -0.5 * z @ z - jnp.sum(jnp.log(jnp.diag(l))) - k * half_log_2pi
            return (m + w.T @ z, p - w.T @ w), density

        return lax.scan(step, (jnp.zeros(d, y.dtype), jnp.eye(d, dtype=y.dtype)), y)[1].sum()

    def hmm(start, trans, mu, sigma, y):
        moves = jax.nn.log_softmax(trans, axis=1)
        z = (y[:, None] - mu) / jnp.exp(sigma)
        emit = -0.5 * z * z - sigma - half_log_2pi

        def step(alpha, emit):
            return logsumexp(alpha[:, None] + moves, axis=0) + emit, None

        alpha, _ = lax.scan(step, jax.nn.log_softmax(start) + emit[0], emit[1:])
        return logsumexp(alpha)

    def nbody(m, x, v, steps):
        h = 0.01

        def acceleration(x):
            d = x[None] - x[:, None]
            s = (d * d).sum(-1) + 0.01
            return ((m[None] / (s * jnp.sqrt(s)))[..., None] * d).sum(1)

        def step(state, _):
            x, v = state
            v = v + h / 2 * acceleration(x)
            x = x + h * v
            return (x, v + h / 2 * acceleration(x)), None

        (x, _), _ = lax.scan(step, (x, v), None, length=steps)
        return jnp.sum(x * x)

    def heat(u, k, target, steps):
        def step(u, _):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            inner = inner + 0.2 * k[1:-1, 1:-1] * (around - 4 * inner)
            return u.at[1:-1, 1:-1].set(inner), None

        u, _ = lax.scan(step, u, None, length=steps)
        return jnp.sum((u - target) ** 2)

    def softdtw(x, y, gamma):
        # Along the diagonals, whose elements do not depend on each other.
        n, m = x.shape[0], y.shape[0]
        cost = jnp.sum((x[:, None] - y[None]) ** 2, -1)
        i = jnp.arange(n + 1)

        def later(v):
            return jnp.concatenate([jnp.full(1, 1e10, v.dtype), v[:-1]])

        def step(state, k):
            a, b = state
            j = k - i
            here = cost[jnp.clip(i - 1, 0, n - 1), jnp.clip(j - 1, 0, m - 1)]
            s = jnp.stack([later(a), later(b), b])
            v = here - gamma * logsumexp(-s / gamma, axis=0)
            return (b, jnp.where((i >= 1) & (j >= 1) & (j <= m), v, 1e10)), None

        first = jnp.where(i == 0, 0.0, 1e10).astype(x.dtype)
        (_, v), _ = lax.scan(
            step, (first, jnp.full(n + 1, 1e10, x.dtype)), jnp.arange(2, n + m + 1)
        )
        return v[n]

    def rayleigh(values, x, starts, columns, steps):
        n = x.shape[0]
        rows = jnp.repeat(jnp.arange(n), jnp.diff(starts), total_repeat_length=len(columns))

        def product(v):
            return jax.ops.segment_sum(
                values * v[columns], rows, num_segments=n, indices_are_sorted=True
            )

        def step(v, _):
            w = product(v)
            return w / jnp.sqrt(w @ w), None

        v, _ = lax.scan(step, x, None, length=steps)
        return v @ product(v)

    def spectrum(x, target):
        z = jnp.fft.fft(x)
        return jnp.mean((jnp.log(1 + z.real**2 + z.imag**2) - target) ** 2)

    def eigh(a):
        n = a.shape[0]
        values, vectors = jnp.linalg.eigh(a)
        return jnp.sum(jnp.exp(-values)) + jnp.sum(jnp.arange(n) / n * vectors[:, 0] ** 2)

    def svd(a):
        u, s, vt = jnp.linalg.svd(a, full_matrices=False)
        return jnp.sum(s) + jnp.sum(u[:, 0] * vt[0])

    def expm(a, x):
        y = matrix_exponential(a) @ x
        return y @ y

    return locals()


def torch_workloads():
    import torch
    import torch.nn.functional as F

    log_2pi = math.log(2 * math.pi)

    def logistic(w, b, x, y):
        return F.binary_cross_entropy_with_logits(x @ w + b, y)

    def mlp(w1, b1, w2, b2, w3, b3, x, y):
        h = torch.relu(torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2))
        return F.cross_entropy(torch.addmm(b3, h, w3), y)

    def cnn(k1, b1, k2, b2, w3, b3, x, y):
        h = F.avg_pool2d(torch.relu(F.conv2d(x, k1, b1)), 2)
        h = F.avg_pool2d(torch.relu(F.conv2d(h, k2, b2)), 2)
        return F.cross_entropy(torch.addmm(b3, h.flatten(1), w3), y)

    def transformer(wq, wk, wv, wo, g1, s1, g2, s2, w1, b1, w2, b2, x, target, heads):
        t, d = x.shape

        def split(a):
            return a.view(t, heads, d // heads).transpose(0, 1)[None]

        h = F.layer_norm(x, (d,), g1, s1)
        seen = F.scaled_dot_product_attention(
            split(h @ wq), split(h @ wk), split(h @ wv), is_causal=True
        )
        x = x + seen[0].transpose(0, 1).reshape(t, d) @ wo
        h = F.layer_norm(x, (d,), g2, s2)
        y = x + F.gelu(torch.addmm(b1, h, w1), approximate="tanh") @ w2 + b2
        return ((y - target) ** 2).sum(-1).mean()

    def neural_ode(w1, b1, w2, b2, y, target, steps):
        h = 1 / steps

        def f(y):
            return torch.tanh(y @ w1 + b1) @ w2 + b2

        for _ in range(steps):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            k4 = f(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return ((y - target) ** 2).sum(-1).mean()

    def gp(amplitude, scale, noise, x, y):
        n = x.shape[0]
        z = x / torch.exp(scale)
        squares = (z * z).sum(1)
        squares = squares[:, None] + squares[None] - 2 * z @ z.T
        k = torch.exp(2 * amplitude - 0.5 * squares) + torch.exp(2 * noise) * torch.eye(n)
        l = torch.linalg.cholesky(k)
        a = torch.linalg.solve_triangular(l, y[:, None], upper=False)[:, 0]
        return -0.5 * a @ a - torch.log(torch.diagonal(l)).sum() - 0.5 * n * log_2pi

    def nbody(m, x, v, steps):
        h = 0.01

        def acceleration(x):
            d = x[None] - x[:, None]
            s = (d * d).sum(-1) + 0.01
            return ((m[None] / (s * torch.sqrt(s)))[..., None] * d).sum(1)

        for _ in range(steps):
            v = v + h / 2 * acceleration(x)
            x = x + h * v
            v = v + h / 2 * acceleration(x)
        return (x * x).sum()

    def heat(u, k, target, steps):
        k = 0.2 * k[1:-1, 1:-1]
        for _ in range(steps):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            inner = inner + k * (around - 4 * inner)
            u = torch.cat([u[:1], torch.cat([u[1:-1, :1], inner, u[1:-1, -1:]], 1), u[-1:]], 0)
        return ((u - target) ** 2).sum()

    def hmm(start, trans, mu, sigma, y):
        moves = torch.log_softmax(trans, 1)
        z = (y[:, None] - mu) / torch.exp(sigma)
        emit = -0.5 * z * z - sigma - 0.5 * log_2pi
        alpha = torch.log_softmax(start, 0) + emit[0]
        for s in range(1, len(y)):
            alpha = torch.logsumexp(alpha[:, None] + moves, 0) + emit[s]
        return torch.logsumexp(alpha, 0)

    def spectrum(x, target):
        z = torch.fft.fft(x)
        return ((torch.log(1 + z.real**2 + z.imag**2) - target) ** 2).mean()

    def eigh(a):
        n = a.shape[0]
        values, vectors = torch.linalg.eigh(a)
        return torch.exp(-values).sum() + (torch.arange(n) / n * vectors[:, 0] ** 2).sum()

    def svd(a):
        u, s, vt = torch.linalg.svd(a, full_matrices=False)
        return s.sum() + (u[:, 0] * vt[0]).sum()

    def expm(a, x):
        y = torch.matrix_exp(a) @ x
        return y @ y

    return locals()


def scipy_workloads():
    """Values with gradients worked out by hand."""
    import scipy.fft
    import scipy.linalg
    import scipy.sparse

    def logistic(w, b, x, y):
        z = x @ w + b
        e = np.exp(-np.abs(z))
        value = np.mean(np.maximum(z, 0) + np.log1p(e) - y * z)
        r = (np.where(z >= 0, 1 / (1 + e), e / (1 + e)) - y) / len(y)
        return value, (x.T @ r, r.sum())

    def gp(amplitude, scale, noise, x, y):
        n, d = x.shape
        z = x / np.exp(scale)
        s = (z * z).sum(1)
        squares = np.maximum(s[:, None] + s[None] - 2 * z @ z.T, 0)
        signal = np.exp(2 * amplitude - 0.5 * squares)
        k = signal + np.exp(2 * noise) * np.eye(n)
        l = scipy.linalg.cholesky(k, lower=True, check_finite=False)
        a = scipy.linalg.cho_solve((l, True), y, check_finite=False)
        value = -0.5 * y @ a - np.log(np.diag(l)).sum() - 0.5 * n * math.log(2 * math.pi)
        inverse, _ = scipy.linalg.lapack.dpotri(l, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        g = 0.5 * (np.outer(a, a) - inverse)
        gs = g * signal
        scales = [(gs * (z[:, i][:, None] - z[:, i][None]) ** 2).sum() for i in range(d)]
        return value, (2 * gs.sum(), np.array(scales), 2 * np.exp(2 * noise) * np.trace(g))

    def rayleigh(values, x, starts, columns, steps):
        n = len(x)
        rows = np.repeat(np.arange(n), np.diff(starts))
        a = scipy.sparse.csr_matrix((values, columns, starts), shape=(n, n))
        at = a.T.tocsr()
        states, norms = [x], []
        for _ in range(steps):
            w = a @ states[-1]
            norms.append(np.sqrt(w @ w))
            states.append(w / norms[-1])
        v = states[-1]
        w = a @ v
        dv, dvalues = w + at @ v, v[rows] * v[columns]
        for s in range(steps - 1, -1, -1):
            dw = (dv - states[s + 1] * (states[s + 1] @ dv)) / norms[s]
            dvalues += dw[rows] * states[s][columns]
            dv = at @ dw
        return v @ w, (dvalues, dv)

    def spectrum(x, target):
        z = scipy.fft.fft(x)
        p = 1 + z.real**2 + z.imag**2
        d = np.log(p) - target
        gradient = np.real(scipy.fft.ifft(4 * d / p * z))
        return np.mean(d * d), (gradient,)

    return locals()


def best(call, patience):
    times, start = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < patience and len(times) < 3000):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return min(times)


def memory(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key)) * 1024


def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def measured(prepare, value, patience, bits):
    """`prepare` compiles and gives the call for value and gradient; `value` that of the value.
    With 32 bits nobody reads the time of a thousand calls."""
    forget_peak()
    before, start = memory("VmRSS"), time.perf_counter()
    gradient = prepare()
    v, g = gradient()
    first = time.perf_counter() - start
    calls = 1
    while bits == 64 and calls < CALLS and time.perf_counter() - start < 10 * patience:
        gradient()
        calls += 1
    thousand = time.perf_counter() - start
    peak = memory("VmHWM") - before
    steady = best(gradient, patience)
    return {
        "value": float(v),
        "norms": [float(np.linalg.norm(np.asarray(x, dtype=float).ravel())) for x in g],
        "first": first,
        "thousand": thousand + (CALLS - calls) * steady,
        "memory": peak,
        "gradient_time": steady,
        "value_time": best(value, patience) if value else None,
    }


def with_jax(name, args, wrt, bits, patience):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", bits == 64)
    function = jax_workloads().get(name)
    if function is None:
        return None
    names = list(args)
    static = [k for k, n in enumerate(names) if isinstance(args[n], int)]
    values = [a if isinstance(a, int) else jnp.asarray(a) for a in args.values()]
    where = tuple(names.index(n) for n in wrt)

    def prepare():
        both = jax.jit(jax.value_and_grad(function, argnums=where), static_argnums=static)
        return lambda: jax.block_until_ready(both(*values))

    value = jax.jit(function, static_argnums=static)
    return measured(prepare, lambda: jax.block_until_ready(value(*values)), patience, bits)


def with_torch(name, args, wrt, bits, patience):
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if bits == 64 else torch.float32)
    function = torch_workloads().get(name)
    if function is None:
        return None
    values = {n: a if isinstance(a, int) else torch.as_tensor(a) for n, a in args.items()}

    def gradient():
        inputs = dict(values)
        for n in wrt:
            inputs[n] = values[n].detach().requires_grad_(True)
        result = function(*inputs.values())
        return result.detach(), torch.autograd.grad(result, [inputs[n] for n in wrt])

    def value():
        with torch.no_grad():
            function(*values.values())

    return measured(lambda: gradient, value, patience, bits)


def with_scipy(name, args, wrt, bits, patience):
    function = scipy_workloads().get(name)
    if function is None:
        return None
    return measured(lambda: lambda: function(**args), None, patience, bits)


SYSTEMS = {"jax": with_jax, "torch": with_torch, "scipy": with_scipy}


def systems():
    found = {}
    for name in SYSTEMS:
        try:
            found[name] = __import__(name).__version__
        except ImportError:
            pass
    return found


def main():
    if sys.argv[1:] == ["--systems"]:
        print(json.dumps(systems()))
        return
    name, system, data, bits, patience, wrt = sys.argv[1:]
    real = np.float64 if bits == "64" else np.float32
    order = json.loads(wrt)

    def argument(a):
        if a.dtype.kind == "f":
            return a.astype(real) if a.ndim else real(a)
        return int(a) if a.ndim == 0 else a

    with np.load(data) as file:
        args = {n: argument(file[n]) for n in order["arguments"]}
    result = SYSTEMS[system](name, args, order["wrt"], int(bits), float(patience))
    print(json.dumps(result))


main()
