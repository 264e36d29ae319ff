#!/usr/bin/env python3
"""Measures the models of examples/posteriordb beside Stan, and beside nutpie with JAX.

    benches/posteriordb/beside.py POSTERIORDB LAMBADA DENSITY STAN --work FOLDER [options]

POSTERIORDB is a checkout of https://github.com/stan-dev/posteriordb, LAMBADA the program, DENSITY the program `posterior-density` of the crate `lambada-benches`, STAN the unpacked
wheel of `httpstan`, with Stan's compiler, headers and libraries. Needs NumPy, pandas and ArviZ; jax and nutpie for the columns of these. README.md tells how to install all of that.

--measure chooses among
  gradient   the log density and its gradient: whether they agree with Stan's at random points, and the time of one, at a point of Stan's chain. The programs take turns for `--rounds`
             batches; a time is the least mean of a batch. For Stan that is `stan::math::gradient` of the log density without constants, as its sampler calls it.
  first      the time from the start of the compiler, with an empty cache, to the end of a run with one step of warmup and one draw.
  draws      four chains of 1000 and 1000 draws with default settings, one after the other: seconds, and the least bulk ESS (ArviZ's) of the parameters, with compilation and without.

Every program runs on one core, that of `--core`, and seconds of compilers and chains are those of the processor, which other work on the machine does not change. Stan programs are compiled with the options of CmdStan and `-march=native`: `-std=c++17 -O3 -march=native`, with CmdStan's precompiled
header. With --bridgestan, the sources of BridgeStan, nutpie samples the Stan programs, too. All numbers go to --json, posterior by posterior; posteriors and measures that are there already are left out.
"""

import argparse
import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "examples" / "posteriordb"
FLAGS = ["-std=c++17", "-O3", "-march=native", "-fPIC", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS", "-w"]
NAN = math.nan


class Failed(Exception):
    pass


def cpu():
    """Seconds that the processor worked for finished children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(words, timeout=None, env=None):
    """Seconds of the processor, and what the program wrote, with the seconds of the clock as `wall`."""
    begun, used = time.perf_counter(), cpu()
    try:
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, env=env)
    except subprocess.TimeoutExpired:
        raise Failed(f"over {timeout} s") from None
    done.wall = time.perf_counter() - begun
    took = cpu() - used
    if done.returncode != 0:
        raise Failed((done.stderr or done.stdout or f"exit {done.returncode}").strip()[-400:])
    return took, done


class Server:
    """A program that answers lines."""

    def __init__(self, words, greets=True, env=None):
        self.child = subprocess.Popen([str(w) for w in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        self.greeting = self.read() if greets else ""

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            raise Failed(f"no answer: {self.child.stderr.read()[-400:]}")
        if line.startswith("error"):
            raise Failed(line.strip())
        return line

    def ask(self, command, *parts):
        self.child.stdin.write(" ".join([command, *(repr(float(x)) if isinstance(x, float) else str(x) for part in parts for x in part)]) + "\n")
        self.child.stdin.flush()
        return self.read()

    def numbers(self, command, *parts):
        return np.array([float(word) for word in self.ask(command, *parts).split()])

    def close(self):
        self.child.stdin.close()
        self.child.wait()


# Stan


class Stan:
    """Stan's compiler, and the C++ that does not depend on a program."""

    def __init__(self, args):
        root = args.stan / "httpstan"
        self.stanc, self.include, self.lib = root / "stanc", root / "include", root / "lib"
        self.work = args.work / "stan"
        self.work.mkdir(parents=True, exist_ok=True)
        self.common = ["g++", *FLAGS, "-I", self.work, "-I", self.include]
        self.stanc.chmod(0o755)
        self.bridge = args.bridgestan
        # CmdStan's precompiled header. Quotes find the copy beside the compiled one first.
        header = self.work / "model_header.hpp"
        if not (self.work / "model_header.hpp.gch").exists():
            shutil.copy(self.include / "stan/model/model_header.hpp", header)
            print(f"precompiled header: {run([*self.common, '-x', 'c++-header', header, '-o', str(header) + '.gch'])[0]:.0f} s", flush=True)
        self.main = self.object(HERE / "stan.cpp", "main.o")
        self.bridge_object = self.object(args.bridgestan / "bridgestan.cpp", "bridge.o") if args.bridgestan else None

    def object(self, source, name):
        out = self.work / name
        if not out.exists() or out.stat().st_mtime < source.stat().st_mtime:
            print(f"{name}: {run([*self.common, '-c', source, '-o', out])[0]:.0f} s", flush=True)
        return out

    def libraries(self):
        archives = [self.lib / f"libsundials_{name}.a" for name in ("cvodes", "idas", "kinsol", "nvecserial")]
        return [*archives, f"-L{self.lib}", f"-Wl,-rpath,{self.lib}", "-ltbb", "-lpthread", "-lm"]

    def compiled(self, program):
        """The executable, the object, and the seconds of the two compilers and the linker."""
        base = self.work / program.stem
        out, source, model, facts = (base.with_suffix(end) for end in ("", ".cpp", ".o", ".json"))
        if not facts.exists():
            told = {}
            told["stanc_s"], _ = run([self.stanc, f"--o={source}", program])
            text = source.read_text().replace("#include <stan/model/model_header.hpp>", '#include "model_header.hpp"')
            source.write_text(text)
            told["cc_s"], _ = run([*self.common, "-c", source, "-o", model])
            told["link_s"], _ = run(["g++", "-O3", model, self.main, *self.libraries(), "-o", out])
            facts.write_text(json.dumps(told))
        return out, model, json.loads(facts.read_text())

    def library(self, program):
        """BridgeStan's library."""
        model, out = self.compiled(program)[1], self.work / f"{program.stem}.so"
        if not out.exists():
            run(["g++", "-shared", model, self.bridge_object, *self.libraries(), "-o", out])
        return out


# Names and coordinates


def entry(model):
    return re.findall(r"^def (\w+)", model.read_text(), re.M)[-1]


def elements(variables):
    """`beta:[2,3]` as the names of its numbers."""
    names = []
    for word in variables.split():
        name, dims = word.split(":", 1)
        for index in np.ndindex(*json.loads(dims)):
            names.append(name + (str(list(index)) if index else ""))
    return names


def from_one(name):
    """Stan's `beta.1.2` is `beta[0, 1]`."""
    name, *index = name.split(".")
    return name + (str([int(k) - 1 for k in index]) if index else "")


def root(name):
    return name.split("[")[0]


def matched(stan, ours):
    """Our name for each of Stan's: equal names, then what is left in order if it is as much."""
    pairs = {name: name for name in stan if name in set(ours)}
    left = [name for name in ours if name not in pairs]
    rest = [name for name in stan if name not in pairs]
    bare = lambda name: re.sub(r"_?share_?", "", name)
    for name in list(rest):
        found = [other for other in left if bare(other) == name]
        if len(found) == 1:
            pairs[name] = found[0]
            rest.remove(name)
            left.remove(found[0])
    if len(left) != len(rest):
        raise Failed(f"parameters differ: {rest[:5]} and {left[:5]}")
    pairs.update(zip(rest, left))
    return pairs


def reach(server, count, names):
    """Which values each coordinate moves."""
    base = np.full(count, 0.3)
    before = server.numbers("values", base.tolist())
    moved = []
    for k in range(count):
        at = base.copy()
        at[k] = 0.7
        moved.append(frozenset(names[j] for j in np.flatnonzero(server.numbers("values", at.tolist()) != before)))
    return moved


def order(theirs, ours, stan_names, lam_names, simplexes):
    """For each of our coordinates that of Stan, and the simplexes: (numbers of Stan's coordinates, of ours, names)."""
    count = len(theirs)
    places, blocks = [None] * count, []
    taken = set()
    for name in dict.fromkeys(frozenset(moved) for moved in theirs if moved and root(next(iter(moved))) in simplexes):
        own = [k for k, moved in enumerate(theirs) if moved & name]
        if any(k in taken for k in own):
            continue
        whole = frozenset().union(*(theirs[k] for k in own))
        mine = [k for k, moved in enumerate(ours) if moved & whole]
        blocks.append((own, mine, sorted(whole, key=lam_names.index)))
        taken.update(own)
        for a, b in zip(own, mine):
            places[b] = a
    free = {}
    for k, moved in enumerate(ours):
        if places[k] is None:
            free.setdefault(moved, []).append(k)
    rest = []
    for k, moved in enumerate(theirs):
        if k in taken:
            continue
        if free.get(moved):
            places[free[moved].pop(0)] = k
        else:
            rest.append(k)
    # Bounds that depend on other parameters move more in Stan.
    for k in rest:
        left = [j for j in range(count) if places[j] is None]
        best = max(left, key=lambda j: (len(ours[j] & theirs[k]) / len(ours[j] | theirs[k])))
        places[best] = k
    return np.array(places), blocks


def log_ratio_coordinates(x):
    """Coordinates of a simplex by the isometric log-ratio, as Stan has them from 2.37 on and Lambada has them."""
    z = np.log(x) - np.mean(np.log(x))
    n = len(z) - 1
    y = np.zeros(n)
    y[n - 1] = -z[n] * math.sqrt(n * (n + 1)) / n
    total = 0.0
    for i in range(n - 2, -1, -1):
        m = i + 1
        total += y[i + 1] / math.sqrt((m + 1) * (m + 2))
        y[i] = (total - z[i + 1]) * math.sqrt(m * (m + 1)) / m
    return y


def log_ratio_volume(x):
    return 0.5 * math.log(len(x)) + np.sum(np.log(x))


def stick_volume(x):
    """The logarithm of the Jacobian determinant of Stan's transform until 2.36: sticks broken in turn."""
    stick, total = 1.0, 0.0
    for part in x[:-1]:
        total += math.log(part) + math.log1p(-part / stick)
        stick -= part
    return total


def stick(u):
    x, left = [], 1.0
    for k, v in enumerate(u):
        part = left / (1 + math.exp(-(v - math.log(len(u) - k))))
        x.append(part)
        left -= part
    return np.array([*x, left])


class Pair:
    """Stan's program and ours at the same points."""

    def __init__(self, stan, lam, simplexes):
        self.stan, self.lam = stan, lam
        theirs = [from_one(name) for name in stan.ask("names").split()]
        ours = elements(lam.ask("variables"))
        names = matched(theirs, ours)
        self.names = [names[name] for name in theirs]
        self.ours, self.same_values = ours, {k for k, v in names.items() if k == v}
        self.count = len(stan.ask("coordinates").split())
        dimension = int(lam.greeting.split()[1])
        if dimension != self.count:
            raise Failed(f"{self.count} coordinates in Stan, {dimension} in Lambada")
        if self.count <= 600:
            self.places, self.blocks = order(reach(stan, self.count, self.names), reach(lam, self.count, ours), theirs, ours, simplexes)
        elif len(theirs) == self.count and not simplexes:
            at = {name: k for k, name in enumerate(self.names)}
            self.places, self.blocks = np.array([at[name] for name in ours]), []
        else:
            raise Failed("too many coordinates to find their order")

    def ours_of(self, u):
        v = np.array(u)[self.places]
        for own, mine, _ in self.blocks:
            v[mine] = log_ratio_coordinates(stick(np.array(u)[own]))
        return v

    def volume(self, u):
        """What is in our log density and not in Stan's."""
        total = 0.0
        for own, _, _ in self.blocks:
            x = stick(np.array(u)[own])
            total += log_ratio_volume(x) - stick_volume(x)
        return total

    def back(self, u, gradient):
        """Our gradient by Stan's coordinates, without our volume."""
        out = np.zeros(self.count)
        out[self.places] = gradient
        for own, mine, _ in self.blocks:
            at, h = np.array(u)[own], 1e-5
            jacobian = np.zeros((len(mine), len(own)))
            more = np.zeros(len(own))
            for k in range(len(own)):
                d = np.zeros(len(own))
                d[k] = h
                jacobian[:, k] = (log_ratio_coordinates(stick(at + d)) - log_ratio_coordinates(stick(at - d))) / (2 * h)
                volume = lambda x: log_ratio_volume(x) - stick_volume(x)
                more[k] = (volume(stick(at + d)) - volume(stick(at - d))) / (2 * h)
            out[own] = jacobian.T @ np.array(gradient)[mine] - more
        return out

    def compare(self, points, jax):
        """Greatest relative errors of values, gradients and parameters, and those of JAX."""
        stan, lam, other, gaps = [], [], [], []
        for u in points:
            try:
                theirs = self.stan.numbers("at", u)
                ours = self.lam.numbers("at", self.ours_of(u).tolist())
            except Failed:
                continue
            if not (np.isfinite(theirs).all() and np.isfinite(ours).all()):
                if np.isfinite(theirs).all() != np.isfinite(ours).all():
                    gaps.append({"stan": theirs[0], "lambada": ours[0]})
                continue
            stan.append(theirs)
            lam.append(np.array([ours[0] - self.volume(u), *self.back(u, ours[1:])]))
            if jax:
                other.append(jax.numbers("at", u))
        if len(stan) < 2:
            raise Failed(f"finite at {len(stan)} of {len(points)} points; unlike: {gaps}")
        told = {"points": len(stan), "finite_in_one_only": gaps, **errors(stan, lam)}
        u = points[0]
        theirs = dict(zip(self.names, self.stan.numbers("values", u)))
        ours = dict(zip(self.ours, self.lam.numbers("values", self.ours_of(u).tolist())))
        told["parameters"] = max((abs(theirs[k] - ours[k]) / (1 + abs(theirs[k])) for k in self.same_values), default=NAN)
        told["constant"] = float(lam[0][0] - stan[0][0])
        if jax:
            told["jax"] = errors(stan, other)
        return told


def errors(one, other):
    one, other = np.array(one), np.array(other)
    gap = (other[:, 0] - one[:, 0]) - (other[0, 0] - one[0, 0])
    value = np.abs(gap) / (1 + np.maximum(np.abs(one[:, 0]), np.abs(one[0, 0])))
    scale = np.max(np.abs(one[:, 1:]), axis=1, keepdims=True) + 1e-300
    gradient = np.abs(other[:, 1:] - one[:, 1:]) / scale
    return {"value": float(value.max()), "gradient": float(gradient.max())}


# Measures


def batch(server, at, seconds=0.02):
    """So many gradients take about that long."""
    times = 1
    while True:
        took = server.numbers("time", [times], at)[0]
        if took >= seconds / 2 or times > 10**7:
            return max(1, round(times * seconds / max(took, 1e-9)))
        times = max(times * 2, min(times * 50, round(times * seconds / max(took, 1e-9))))


def gradient(case, args):
    told = {}
    program, _, compile_s = case.stan.compiled(case.program)
    told["stan_compile"] = compile_s
    with contextlib.ExitStack() as stack:
        server = Server([program, case.data, "serve"], greets=False)
        stack.callback(server.close)
        with tempfile.TemporaryDirectory() as cache:
            lam = Server([args.density, case.model, entry(case.model), case.data], env=dict(os.environ, LAMBADA_CACHE=cache))
        stack.callback(lam.close)
        told["lambada_compile_s"] = float(lam.greeting.split()[0])
        jax = None
        if args.jax and case.has_jax:
            jax = Server([args.jax, HERE / "peers.py", "serve", case.model.stem, case.data])
            stack.callback(jax.close)
            told["jax_compile_s"] = float(jax.greeting.split()[0])
        pair = Pair(server, lam, case.simplexes)
        told["dimension"] = pair.count
        rng = random.Random(1)
        points = [[rng.uniform(-width, width) for _ in range(pair.count)] for width in (1, 1, 1, 0.5, 0.5, 0.2)]
        try:
            settled = server.numbers("settle", [args.settle]).tolist()
            points.append(settled)
            told["at"] = "a draw"
        except Failed:
            settled = points[-1]
            told["at"] = "a random point"
        try:
            told["agreement"] = pair.compare(points, jax)
        except Failed as failure:
            told["agreement"] = {"error": str(failure)}
        runs = {"stan": (server, settled), "lambada": (lam, pair.ours_of(settled).tolist())}
        if jax:
            runs["jax"] = (jax, settled)
        sizes = {name: batch(*of) for name, of in runs.items()}
        times = {name: [] for name in runs}
        for _ in range(args.rounds):
            for name, (of, at) in runs.items():
                times[name].append(of.numbers("time", [sizes[name]], at)[0] / sizes[name])
        for name, all_times in times.items():
            told[f"{name}_s"] = min(all_times)
            told[f"{name}_median_s"] = sorted(all_times)[len(all_times) // 2]
    return told


def lambada(args, case, options, cache, timeout):
    env = dict(os.environ, LAMBADA_CACHE=str(cache))
    words = [args.lambada, "sample", case.model, entry(case.model), "--data", case.data, "--json", "--threads", 1, *options]
    return run(words, timeout, env)


def first(case, args):
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        once = ["--chains", 1, "--warmup", 1, "--draws", 1]
        (folder / "cache").mkdir()
        told["lambada_s"], done = lambada(args, case, once, folder / "cache", args.limit)
        told["lambada_wall_s"] = done.wall
        program, _, compile_s = case.stan.compiled(case.program)
        took, _ = run([program, case.data, "sample", folder / "draws", 1, 1, 1, 1], args.limit)
        told["stan_s"] = sum(compile_s.values()) + took
        if args.jax and case.has_jax:
            words = [args.jax, HERE / "peers.py", "jax", case.model.stem, case.data, folder / "out.npz", 1, 1, 1, 1]
            told["nutpie_jax_s"], _ = run(words, args.limit)
    return told


def judged(chains):
    """The least bulk ESS and the greatest R̂ of arrays: chains, draws, numbers."""
    import arviz

    flat = chains.reshape(chains.shape[0], chains.shape[1], -1)
    kept = [k for k in range(flat.shape[2]) if np.ptp(flat[:, :, k]) > 0]
    with np.errstate(all="ignore"):
        ess = [float(arviz.ess(flat[:, :, k], method="bulk")) for k in kept]
        rhat = [float(arviz.rhat(flat[:, :, k], method="rank")) for k in kept]
    return {"ess": min(ess, default=NAN), "rhat": max(rhat, default=NAN), "numbers": len(kept)}


def table(path):
    import pandas

    return pandas.read_csv(path, comment="#")


def draws(case, args):
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        told["lambada"] = guarded(lambda: lambada_draws(case, args, folder))
        told["stan"] = guarded(lambda: stan_draws(case, args, folder))
        if args.jax and case.has_jax:
            told["nutpie_jax"] = guarded(lambda: nutpie_draws(args, folder, "jax", case.model.stem, case.data, []))
        if args.bridgestan and args.jax and args.nutpie_stan and (case.has_jax or args.nutpie_stan == "all"):
            told["nutpie_stan"] = guarded(lambda: nutpie_stan(case, args, folder))
    return told


def guarded(measure):
    try:
        return measure()
    except Failed as failure:
        return {"error": str(failure)}


def lambada_draws(case, args, folder):
    (folder / "cache").mkdir()
    out = folder / "lambada.csv"
    options = ["--seed", args.seed, "--output", out]
    with_compiler, _ = lambada(args, case, options, folder / "cache", args.limit)
    # The second run finds the compiled program.
    without, done = lambada(args, case, options, folder / "cache", args.limit)
    frame = table(out)
    own = [name for name in frame.columns if name not in ("chain", "draw") and not name.endswith("__")]
    chains = int(frame["chain"].max()) + 1
    values = frame[own].to_numpy().reshape(chains, -1, len(own))
    facts = {"leapfrogs": int(frame["n_leapfrog__"].sum()), "divergences": int(frame["divergent__"].sum())}
    return {"s": without, "with_compiler_s": with_compiler, **facts, **judged(values)}


def stan_draws(case, args, folder):
    program, _, compile_s = case.stan.compiled(case.program)
    took, _ = run([program, case.data, "sample", folder / "stan", 4, 1000, 1000, args.seed + 1], args.limit)
    frames = [table(folder / f"stan.{chain}.csv") for chain in (1, 2, 3, 4)]
    server = Server([program, case.data, "serve"], greets=False)
    names = server.ask("names").split()
    server.close()
    values = np.stack([frame[names].to_numpy() for frame in frames])
    facts = {"leapfrogs": int(sum(f["n_leapfrog__"].sum() for f in frames)), "divergences": int(sum(f["divergent__"].sum() for f in frames))}
    return {"s": took, "with_compiler_s": took + sum(compile_s.values()), **facts, **judged(values)}


def nutpie_draws(args, folder, kind, what, data, names):
    out = folder / f"{kind}.npz"
    whole, _ = run([args.jax, HERE / "peers.py", kind, what, data, out, 4, 1000, 1000, args.seed, *names], args.limit)
    with np.load(out) as arrays:
        parts = [arrays[name].reshape(*arrays[name].shape[:2], -1) for name in arrays.files if name not in ("took", "diverging")]
        return {"s": float(arrays["took"]), "whole_s": whole, "divergences": int(arrays["diverging"]), **judged(np.concatenate(parts, axis=2))}


def nutpie_stan(case, args, folder):
    library = case.stan.library(case.program)
    server = Server([case.stan.compiled(case.program)[0], case.data, "serve"], greets=False)
    names = dict.fromkeys(name.split(".")[0] for name in server.ask("names").split())
    server.close()
    return nutpie_draws(args, folder, "stan", library, case.data, [",".join(names)])


class Case:
    """A posterior: its program in both languages, and its data in a file."""

    def __init__(self, base, posterior, stan, args):
        self.name, self.stan = posterior["name"], stan
        self.model = MODELS / (posterior["model_name"] + ".lam")
        self.program = base / "models/stan" / (posterior["model_name"] + ".stan")
        self.data = args.work / "data" / f"{posterior['data_name']}.json"
        self.data.parent.mkdir(parents=True, exist_ok=True)
        if not self.data.exists():
            with zipfile.ZipFile(base / "data/data" / f"{posterior['data_name']}.json.zip") as archive:
                self.data.write_bytes(archive.read(archive.namelist()[0]))
        self.simplexes = set(re.findall(r"(\w+) : (?:\[\w+\])*\(?space\.simplex", self.model.read_text()))
        self.has_jax = f'    "{self.model.stem}": ' in (HERE / "peers.py").read_text()


MEASURES = {"gradient": gradient, "first": first, "draws": draws}


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else None
    return value


def line(name, measure, told):
    if "error" in told:
        return f"{name:48} {measure}: {told['error'][:200]}"
    out = io.StringIO()
    print(f"{name:48} {measure}:", end="", file=out)
    if measure == "gradient":
        agreement = told["agreement"]
        ratio = told["stan_s"] / told["lambada_s"]
        jax = f" jax {told['jax_s'] * 1e6:.2f}" if "jax_s" in told else ""
        print(f" n={told['dimension']} stan {told['stan_s'] * 1e6:.2f} lambada {told['lambada_s'] * 1e6:.2f}{jax} µs, x{ratio:.2f}; errors {agreement}", end="", file=out)
    else:
        print(" " + json.dumps(rounded(told), ensure_ascii=False), end="", file=out)
    return out.getvalue()


# The page


def times(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def spread(name, ratios, bound):
    values = sorted(ratios.values())
    if not values:
        return f"| {name} | – | – | – | – |"
    worst = min(ratios, key=ratios.get)
    middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
    return f"| {name} | {middle:.3g} | {worst} {values[0]:.3g} | {sum(v >= bound for v in values)} of {len(values)} | {sum(v < 1 for v in values)} |"


def rate(told, key="s"):
    good = told and told.get("ess") and told.get(key) and (told.get("rhat") or 9) <= 1.05
    return told["ess"] / told[key] if good else None


def page(results):
    """The tables in Markdown."""
    ratios = {key: {} for key in ("stan", "jax", "ess", "ess_compiled", "nutpie_jax", "nutpie_stan", "first")}
    rows = []
    for name, own in results.items():
        g, f, d = (own.get(key, {}) for key in ("gradient", "first", "draws"))
        cells = [name, str(g.get("dimension", "–"))]
        if "lambada_s" in g:
            ratios["stan"][name] = g["stan_s"] / g["lambada_s"]
            cells += [times(g["lambada_s"]), times(g["stan_s"]), f"{ratios['stan'][name]:.2f}"]
            if "jax_s" in g:
                ratios["jax"][name] = g["jax_s"] / g["lambada_s"]
            cells.append(f"{ratios['jax'][name]:.2f}" if "jax_s" in g else "–")
        else:
            cells += ["–"] * 4
        if "lambada_s" in f:
            ratios["first"][name] = f["stan_s"] / f["lambada_s"]
            cells += [times(f["lambada_s"]), times(f["stan_s"])]
        else:
            cells += ["–"] * 2
        ours, theirs = rate(d.get("lambada")), rate(d.get("stan"))
        cells += [f"{x:.3g}" if x else "–" for x in (ours, theirs)]
        for key, other, by in (("ess", "stan", "s"), ("ess_compiled", "stan", "with_compiler_s"), ("nutpie_jax", "nutpie_jax", "s"), ("nutpie_stan", "nutpie_stan", "s")):
            mine, rival = rate(d.get("lambada"), by), rate(d.get(other), by)
            if mine and rival:
                ratios[key][name] = mine / rival
            if key != "ess_compiled":
                cells.append(f"{mine / rival:.2f}" if mine and rival else "–")
        rows.append("| " + " | ".join(cells) + " |")
    print("| times as fast | median | worst | at least | slower |\n|---|--:|---|--:|--:|")
    print(spread("gradient, of Stan (≥ 3)", ratios["stan"], 3))
    print(spread("gradient, of JAX (≥ 1)", ratios["jax"], 1))
    print(spread("ESS/s, of Stan (≥ 5)", ratios["ess"], 5))
    print(spread("ESS/s with compilers, of Stan (≥ 5)", ratios["ess_compiled"], 5))
    print(spread("ESS/s, of nutpie with JAX (≥ 1)", ratios["nutpie_jax"], 1))
    print(spread("ESS/s, of nutpie with Stan (≥ 1)", ratios["nutpie_stan"], 1))
    print(spread("first draw, of Stan (≥ 1)", ratios["first"], 1))
    print()
    head = "posterior|n|gradient|Stan's|× Stan|× JAX|first draw|Stan's|ESS/s|Stan's|× Stan|× nutpie, JAX|× nutpie, Stan".split("|")
    print("| " + " | ".join(head) + " |\n|---" + "|--:" * (len(head) - 1) + "|")
    print("\n".join(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("posteriordb", type=pathlib.Path)
    parser.add_argument("lambada", type=pathlib.Path)
    parser.add_argument("density", type=pathlib.Path)
    parser.add_argument("stan", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for what is compiled")
    parser.add_argument("--bridgestan", type=pathlib.Path, help="the folder `src` of BridgeStan's sources, of the version that nutpie has")
    parser.add_argument("--jax", help="a Python that has jax and nutpie [default: these are left out]")
    parser.add_argument("--nutpie-stan", choices=["some", "all"], help="sample Stan programs with nutpie: those that have a density in JAX, or all")
    parser.add_argument("--measure", default="gradient,first,draws")
    parser.add_argument("--only", default="", help="posteriors whose names contain this")
    parser.add_argument("--skip", help="leave out posteriors whose names match this regular expression")
    parser.add_argument("--all", action="store_true", help="also posteriors without reference draws")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--settle", type=int, default=150, help="steps of Stan's chain to the point of the gradient")
    parser.add_argument("--limit", type=float, default=300, help="seconds that one run may take")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path, default=HERE / "beside.json")
    parser.add_argument("--table", action="store_true", help="only print the numbers of --json as tables")
    args = parser.parse_args()
    if args.table:
        return page(json.loads(args.json.read_text()))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {args.core})
    args.work = args.work.resolve()
    stan = Stan(args)
    base = args.posteriordb / "posterior_database"
    base = base if base.exists() else args.posteriordb
    results = json.loads(args.json.read_text()) if args.json.exists() else {}
    # A model with several data sets counts once.
    seen = set()
    files = [json.loads(file.read_text()) for file in sorted((base / "posteriors").glob("*.json"))]
    for posterior in sorted(files, key=lambda p: not p.get("reference_posterior_name")):
        name, model = posterior["name"], posterior["model_name"]
        if not (posterior.get("reference_posterior_name") or args.all) or not (MODELS / f"{model}.lam").exists():
            continue
        if model in seen or args.only not in name or (args.skip and re.search(args.skip, name)):
            continue
        seen.add(model)
        case = Case(base, posterior, stan, args)
        for measure in args.measure.split(","):
            own = results.setdefault(name, {})
            if measure in own:
                continue
            try:
                told = MEASURES[measure](case, args)
            except Failed as failure:
                told = {"error": str(failure)}
            own[measure] = rounded(told)
            args.json.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
            print(line(name, measure, told), flush=True)


if __name__ == "__main__":
    sys.exit(main())
