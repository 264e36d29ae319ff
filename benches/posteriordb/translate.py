#!/usr/bin/env python3
"""Translates the Stan models of posteriordb, checks the translations, and compares draws with the reference draws.

    benches/posteriordb/translate.py POSTERIORDB LAMBADA TRANSLATE [--only TEXT] [--to FOLDER] [--sample] [--draws N] [--seed N] [--timeout S]

POSTERIORDB is a checkout of https://github.com/stan-dev/posteriordb, LAMBADA the program, TRANSLATE the example `translate` of the crate `lambada-stan`. A line for each model
tells whether it translates and checks. With `--sample` each posterior with reference draws is sampled from its translation; z is (our mean - theirs) / (error of both), and the results
agree if the greatest |z| is below 4.5. Acceptance and depth are those of the reference. A parameter with bounds that no space has is compared as its unbounded coordinate.

Needs Python's standard library only.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile


def unzip(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read(archive.namelist()[0])


def entry(text):
    """The log density stands before `generated`, or last."""
    names = re.findall(r"^def (\w+)", text, re.M)
    return names[names.index("generated") - 1] if "generated" in names else names[-1]


def from_zero(name):
    """`beta[1,2]` of Stan is `beta[0, 1]`."""
    return re.sub(r"\[([\d,]+)\]", lambda m: "[" + ", ".join(str(int(k) - 1) for k in m[1].split(",")) + "]", name)


def bounds(stan):
    """Bounds of parameters as Python expressions."""
    block = re.search(r"\bparameters\s*\{(.*?)\n\}", stan, re.S)
    found = {}
    for spec, name in re.findall(r"<([^;]*?)>\s*(?:\[[^;]*?\])?\s*(\w+)\s*;", re.sub(r"//.*", "", block[1] if block else "")):
        parts = dict(part.split("=", 1) for part in re.split(r",\s*(?=\w+\s*=)", spec))
        found[name] = {key.strip(): value.strip() for key, value in parts.items()}
    return found


def unbounded(x, low, high):
    if low is not None and high is not None:
        return math.log((x - low) / (high - x))
    return math.log(x - low) if low is not None else math.log(high - x)


def columns(base, name, stan):
    """The reference draws by name, those of bounded parameters as unbounded coordinates too."""
    chains = json.loads(unzip(base / "reference_posteriors/draws/draws" / f"{name}.json.zip"))
    draws = {key: [x for chain in chains for x in chain[key]] for key in chains[0]}
    limits = bounds(stan)
    out = {}
    for key, xs in draws.items():
        out[from_zero(key)] = xs
        root = key.split("[")[0]
        if root not in limits:
            continue
        try:
            raw = []
            for k, x in enumerate(xs):
                here = {one: ys[k] for one, ys in draws.items() if "[" not in one}
                ends = [limits[root].get(side) for side in ("lower", "upper")]
                low, high = (None if end is None else eval(end, {}, here) for end in ends)
                raw.append(unbounded(x, low, high))
            out[from_zero(key.replace(root, root + "_raw", 1))] = raw
        except (NameError, SyntaxError, TypeError, ValueError):
            pass
    return out


def control(base, name):
    """The options for what the reference set, if not Stan's defaults."""
    info = json.loads((base / "reference_posteriors/draws/info" / f"{name}.info.json").read_text())
    told = info["inference"]["method_arguments"].get("control") or {}
    first = lambda x: x[0] if isinstance(x, list) else x
    accept, depth = first(told.get("adapt_delta", 0.8)), first(told.get("max_treedepth", 10))
    return ["--target-accept", str(accept), "--max-depth", str(min(depth, 12))]


def compare(ours, theirs):
    zs = {}
    for key, mine in ours.items():
        xs = theirs.get(key)
        if xs is None or not mine.get("sd"):
            continue
        n = len(xs)
        mean = math.fsum(xs) / n
        sd = math.sqrt(math.fsum((x - mean) ** 2 for x in xs) / (n - 1))
        zs[key] = (mine["mean"] - mean) / math.hypot(mine["mcse_mean"], sd / math.sqrt(n))
    return zs


def run(command, timeout):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"longer than {timeout} s\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("posteriordb", type=pathlib.Path)
    parser.add_argument("lambada")
    parser.add_argument("translate")
    parser.add_argument("--only", default="", help="models whose names contain this")
    parser.add_argument("--to", type=pathlib.Path, help="keep the translations in this folder")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=900)
    args = parser.parse_args()
    base = args.posteriordb / "posterior_database"
    base = base if base.exists() else args.posteriordb
    folder = args.to or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"models": 0, "translated": 0, "checked": 0, "sampled": 0, "agree": 0}
    good = set()
    for file in sorted((base / "models/stan").glob("*.stan")):
        if args.only not in file.stem:
            continue
        counts["models"] += 1
        done = run([args.translate, "--to", str(folder), str(file)], args.timeout)
        if done.returncode != 0:
            print(f"{file.stem:45} refused: {done.stderr.splitlines()[0] if done.stderr else ''}", flush=True)
            continue
        counts["translated"] += 1
        done = run([args.lambada, "check", str(folder / f"{file.stem}.lam")], args.timeout)
        if done.returncode != 0:
            print(f"{file.stem:45} does not check: {done.stderr.splitlines()[0] if done.stderr else ''}", flush=True)
            continue
        counts["checked"] += 1
        good.add(file.stem)
    for file in sorted((base / "posteriors").glob("*.json")) if args.sample else []:
        posterior = json.loads(file.read_text())
        name, model, ref = posterior["name"], posterior["model_name"], posterior.get("reference_posterior_name")
        if model not in good or not ref or not (base / "reference_posteriors/draws/draws" / f"{ref}.json.zip").exists():
            continue
        lam = folder / f"{model}.lam"
        with tempfile.TemporaryDirectory() as temporary:
            data = pathlib.Path(temporary) / "data.json"
            data.write_bytes(unzip(base / "data/data" / f"{posterior['data_name']}.json.zip"))
            words = [args.lambada, "sample", str(lam), entry(lam.read_text()), "--data", str(data), "--json"]
            words += ["--seed", str(args.seed), "--draws", str(args.draws), *control(base, ref)]
            done = run(words, args.timeout)
        if done.returncode != 0:
            error = next((line for line in done.stderr.splitlines() if line.strip()), "")
            print(f"{name:45} failed: {error}", flush=True)
            continue
        counts["sampled"] += 1
        ours = json.loads(done.stdout)
        stan = (base / "models/stan" / f"{model}.stan").read_text()
        zs = compare(ours, columns(base, ref, stan))
        worst = max(zs, key=lambda key: abs(zs[key]), default=None)
        agrees = worst is not None and abs(zs[worst]) < 4.5
        counts["agree"] += agrees
        told = "" if worst is None else f"max|z| {abs(zs[worst]):6.2f} at {worst}"
        rhat = max((s["rhat"] or math.nan) for s in ours.values())
        print(f"{name:45} {len(zs):4d} of {len(ours):4d} means, {told}, R̂ {rhat:.3f}{'' if agrees else '  !'}", flush=True)
    print(", ".join(f"{value} {key}" for key, value in counts.items()))
    return 0 if counts["checked"] == counts["models"] else 1


if __name__ == "__main__":
    sys.exit(main())
