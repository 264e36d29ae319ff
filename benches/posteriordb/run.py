#!/usr/bin/env python3
"""Samples the models of examples/posteriordb, and compares the draws with the reference draws of posteriordb.

    benches/posteriordb/run.py POSTERIORDB LAMBADA [--all] [--only TEXT] [--skip TEXT] [--draws N] [--seed N] [--json FILE] [-- SAMPLE OPTIONS]

POSTERIORDB is a checkout of https://github.com/stan-dev/posteriordb, LAMBADA the program. For each posterior that has reference draws and a model in
examples/posteriordb: seconds of the processors to compile with an empty cache, and to sample (all chains), the least bulk ESS, divergences, and how far means and standard
deviations are from those of the reference, as z = (ours - theirs) / (error of both). `p` is the probability of a greater sum of the squares of z of the means, if only chance parts us from
the reference: by Satterthwaite's approximation, with the correlations of the reference draws. The target of acceptance and the depth are those of the reference. Parameters that are transformed ones there are left out.

Means and deviations of the reference draws are written to summaries.json beside this file. Needs Python's standard library only.
"""

import argparse
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "examples" / "posteriordb"


def unzip(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read(archive.namelist()[0])


def reference(base, name):
    """Summaries by parameter, and the columns of draws, if these are there."""
    draws_file = base / "reference_posteriors/draws/draws" / f"{name}.json.zip"
    if draws_file.exists():
        chains = json.loads(unzip(draws_file))
        info = json.loads((base / "reference_posteriors/draws/info" / f"{name}.info.json").read_text())["diagnostics"]
        sizes = info["effective_sample_size_bulk"]
        if not isinstance(sizes, list):
            sizes = [sizes]
        names = info["diagnostic_information"]["names"]
        ess = dict(zip(names, sizes))
        columns = {key: [x for chain in chains for x in chain[key]] for key in chains[0]}
        summaries = {}
        for key, xs in columns.items():
            n = len(xs)
            mean = math.fsum(xs) / n
            squares = [(x - mean) ** 2 for x in xs]
            var = math.fsum(squares) / (n - 1)
            fourth = math.fsum(s * s for s in squares) / n
            size = min(ess.get(key, n), n)
            sd = math.sqrt(var)
            summaries[key] = {
                "mean": mean,
                "sd": sd,
                "mcse_mean": sd / math.sqrt(size),
                "mcse_sd": math.sqrt(max(fourth - var * var, 0) / size) / (2 * sd) if sd > 0 else 0.0,
            }
        return summaries, columns
    # Some have no draws in the repository, but means and mean squares.
    folder = base / "reference_posteriors/summary_statistics"
    means = json.loads((folder / "mean_value/mean_value" / f"{name}.json").read_text())
    squares = json.loads((folder / "mean_squared_value/mean_squared_value" / f"{name}.json").read_text())
    square = dict(zip(squares["names"], squares["mean_squared_value"]))
    summaries = {}
    for key, mean, mcse in zip(means["names"], means["mean_value"], means["mcse_mean"]):
        sd = math.sqrt(square[key] - mean * mean)
        summaries[key] = {"mean": mean, "sd": sd, "mcse_mean": mcse, "mcse_sd": mcse * math.sqrt(0.5)}
    return summaries, None


def chi_square_above(x, df):
    """The probability that a chi-square variable of `df` degrees exceeds `x`."""
    a, x = df / 2, x / 2
    if x <= 0:
        return 1.0
    log_scale = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term = total = 1 / a
        k = a
        while term > total * 1e-15:
            k += 1
            term *= x / k
            total += term
        return 1 - total * math.exp(log_scale)
    b = x + 1 - a
    c = 1e300
    h = d = 1 / b
    for i in range(1, 500):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return math.exp(log_scale) * h


def probability(zs, columns):
    """Of a sum of squares as great as that of `zs`, by name, whose correlations are those of the columns."""
    names = list(zs)
    standard = []
    for name in names:
        xs = columns[name][::5]
        mean = math.fsum(xs) / len(xs)
        norm = math.sqrt(math.fsum((x - mean) ** 2 for x in xs))
        standard.append([(x - mean) / norm for x in xs])
    trace = 0.0
    for i, xs in enumerate(standard):
        for ys in standard[:i]:
            trace += 2 * sum(map(lambda x, y: x * y, xs, ys)) ** 2
        trace += 1
    p = len(names)
    scale, df = trace / p, p * p / trace
    return chi_square_above(sum(z * z for z in zs.values()) / scale, df)


def from_zero(name):
    """`beta[1,2]` of Stan is `beta[0, 1]`."""
    return re.sub(r"\[([\d,]+)\]", lambda m: "[" + ", ".join(str(int(k) - 1) for k in m[1].split(",")) + "]", name)


def entry(model):
    """The density is the last definition of a file."""
    return re.findall(r"^def (\w+)", pathlib.Path(model).read_text(), re.M)[-1]


def cpu():
    """Seconds that the processors worked for finished children."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def control(base, name):
    """The options for what the reference set, if not Stan's defaults."""
    info = json.loads((base / "reference_posteriors/draws/info" / f"{name}.info.json").read_text())
    told = info["inference"]["method_arguments"].get("control") or {}
    accept, depth = told.get("adapt_delta", 0.8), told.get("max_treedepth", 10)
    accept, depth = ([x[0] if isinstance(x, list) else x for x in (accept, depth)])
    return ["--target-accept", str(accept), "--max-depth", str(depth)]


def sample(lambada, model, data, options, args):
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, LAMBADA_CACHE=cache)
        command = [lambada, "sample", model, entry(model), "--data", data, "--json", "--seed", str(args.seed), *options, *args.options]
        # First a run that is hardly more than the compiler; then one that finds the program in the cache.
        begun, used = time.monotonic(), cpu()
        done = subprocess.run(command + ["--warmup", "1", "--draws", "4"], env=env, capture_output=True, text=True)
        compile_s, compile_cpu = time.monotonic() - begun, cpu() - used
        if done.returncode == 0:
            begun, used = time.monotonic(), cpu()
            done = subprocess.run(command + ["--draws", str(args.draws)], env=env, capture_output=True, text=True)
    if done.returncode != 0:
        return None, {"error": done.stderr}
    diverged = re.search(r"(\d+) of (\d+) trajector\w+ diverged", done.stderr)
    return json.loads(done.stdout), {
        "compile_s": compile_s,
        "compile_cpu": compile_cpu,
        "sample_s": time.monotonic() - begun,
        "sample_cpu": cpu() - used,
        "divergences": int(diverged[1]) if diverged else 0,
        "told": done.stderr,
    }


def compare(ours, theirs, columns):
    pairs = {name: ours[from_zero(name)] for name in theirs if from_zero(name) in ours and ours[from_zero(name)]["sd"] > 0}
    z_mean, z_sd = {}, {}
    for name, mine in pairs.items():
        ref = theirs[name]
        z_mean[name] = (mine["mean"] - ref["mean"]) / math.hypot(mine["mcse_mean"], ref["mcse_mean"])
        z_sd[name] = (mine["sd"] - ref["sd"]) / math.hypot(mine["mcse_sd"], ref["mcse_sd"])
    return {
        "compared": len(pairs),
        "parameters": len(ours),
        "left_out": [name for name in theirs if name not in pairs],
        "z_mean": z_mean,
        "z_sd": z_sd,
        "p": probability(z_mean, columns) if columns and pairs else math.nan,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("posteriordb", type=pathlib.Path)
    parser.add_argument("lambada")
    parser.add_argument("--only", help="posteriors whose names contain this", default="")
    parser.add_argument("--skip", help="leave out posteriors whose names contain this")
    parser.add_argument("--all", action="store_true", help="also posteriors without reference draws, if they have a model")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path, help="write all numbers to this file")
    parser.add_argument("options", nargs="*", help="options of `lambada sample`, after --")
    args = parser.parse_args()
    base = args.posteriordb / "posterior_database"
    if not base.exists():
        base = args.posteriordb
    summaries_file = HERE / "summaries.json"
    summaries = json.loads(summaries_file.read_text()) if summaries_file.exists() else {}
    results = {}
    print(f"{'posterior':45} {'compile':>8} {'sample':>8} {'ESS':>6} {'ESS/s':>7} {'div':>4} {'R̂':>6}  {'n':>3} {'p':>6} {'max|z|':>6} {'of sd':>6}")
    for file in sorted((base / "posteriors").glob("*.json")):
        posterior = json.loads(file.read_text())
        name, model = posterior["name"], MODELS / (posterior["model_name"] + ".lam")
        ref = posterior.get("reference_posterior_name")
        if not (ref or args.all) or not model.exists() or args.only not in name or (args.skip and args.skip in name):
            continue
        theirs, columns, options = {}, None, []
        if ref:
            theirs, columns = reference(base, ref)
            options = control(base, ref)
            summaries[name] = {key: {k: float(f"{v:.8g}") for k, v in s.items()} for key, s in theirs.items()}
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) / "data.json"
            data.write_bytes(unzip(base / "data/data" / f"{posterior['data_name']}.json.zip"))
            ours, run = sample(args.lambada, str(model), str(data), options, args)
        if ours is None:
            print(f"{name:45} failed\n{run['error']}", flush=True)
            results[name] = run
            continue
        result = run | compare(ours, theirs, columns)
        result["ess"] = min(s["ess_bulk"] for s in ours.values())
        result["rhat"] = max(s["rhat"] for s in ours.values())
        results[name] = result
        result["ess"], result["rhat"] = result["ess"] or math.nan, result["rhat"] or math.nan
        worst = max(map(abs, result["z_mean"].values()), default=math.nan)
        worst_sd = max(map(abs, result["z_sd"].values()), default=math.nan)
        print(
            f"{name:45} {result['compile_cpu']:7.2f}s {result['sample_cpu']:7.2f}s {result['ess']:6.0f} {result['ess'] / result['sample_cpu']:7.0f} {result['divergences']:4d}"
            f" {result['rhat']:6.3f}  {result['compared']:3d} {result['p']:6.3f} {worst:6.2f} {worst_sd:6.2f}{'  !' if max(worst, worst_sd) > 4 else ''}",
            flush=True,
        )
    summaries_file.write_text(json.dumps(summaries, indent=1, sort_keys=True) + "\n")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    zs = sorted(abs(z) for r in results.values() for z in r.get("z_mean", {}).values())
    if zs:
        shares = ", ".join(f"{sum(z > k for z in zs) / len(zs):.3f} above {k}" for k in (1, 2, 3, 4))
        print(f"{len(zs)} means: of |z|, {shares} (normal: 0.317, 0.046, 0.003, 0.000)")
    return 0 if all("error" not in r for r in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
