"""Draws of posteriors, optima, and definitions for each draw."""

import json
import pickle
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import lambada

EFFECTS = [28, 8, -3, 7, -1, 1, 18, 12]
ERRORS = [15, 10, 16, 11, 9, 11, 10, 18]
SCHOOLS = {"y": EFFECTS, "sigma": ERRORS, "J": 8, "note": "members without a parameter are ignored"}

PROGRAM = """
import "std/dist"
import "std/random"
import "std/space"

def schools [j] (mu : real) (tau : space.positive) (z : [j]real) (y : [j]real) (sigma : [j]real) : real =
  dist.normal_lpdf mu 0 5 + dist.cauchy_lpdf tau 0 5
    + sum (for i < j => dist.normal_lpdf z[i] 0 1 + dist.normal_lpdf y[i] (mu + tau * z[i]) sigma[i])

def replicated [j] (key : random.key) (mu : real) (tau : real) (z : [j]real) (sigma : [j]real) : {y : [j]real} =
  let noise = random.normal key j
  in {y = for i < j => mu + tau * z[i] + sigma[i] * noise[i]}

def log_lik [j] (mu : real) (tau : real) (z : [j]real) (y : [j]real) (sigma : [j]real) : [j]real =
  for i < j => dist.normal_lpdf y[i] (mu + tau * z[i]) sigma[i]

def theta [j] (mu : real) (tau : real) (z : [j]real) : [j]real = mu + tau * z

def shares [k] (p : space.simplex [k]) (count : [k]int) : real =
  sum (for i < k => (1 + real count[i]) * log p[i])

def line [n] (p : {slope : real, scale : space.positive}) (x : [n]real) (y : [n]real) : real =
  dist.normal_lpdf p.slope 0 10 + dist.exponential_lpdf p.scale 1
    + sum (for i < n => dist.normal_lpdf y[i] (p.slope * x[i]) p.scale)

def indexed [n] [m] (a : [m]real) (group : [n]space.one_based) (y : [n]real) : real =
  sum (for i < m => dist.normal_lpdf a[i] 0 1) + sum (for k < n => dist.normal_lpdf y[k] a[group[k]] 1)

def normal [n] (mu : real) (sigma : space.positive) (y : [n]real) : real =
  sum (for i < n => dist.normal_lpdf y[i] mu sigma)

def outside (x : real) : real = log (-1 - x * x)

def slow [n] (x : [n]real) (work : int) : real =
  let folded = fold (\\s k -> s + sin (s + x[0] + real k)) 0.0 (iota work)
  in -0.5 * dot x x + 1e-9 * folded * x[0]

def vector [n] (x : [n]real) : [n]real = x
"""


@pytest.fixture(scope="module")
def m():
    return lambada.compile(PROGRAM, name="models.lam")


@pytest.fixture(scope="module")
def schools(m):
    return lambada.draws(m.schools, SCHOOLS, seed=1, target_accept=0.95)


@pytest.fixture(scope="module")
def az():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("arviz")


class TestDraws:
    def test_eight_schools(self, schools):
        assert list(schools) == ["mu", "tau", "z"] and schools["z"].shape == (4, 1000, 8)
        found = schools.summary().to_dict()
        # posteriordb, eight_schools_noncentered.
        for name, mean in {"mu": 4.4, "tau": 3.6}.items():
            assert abs(found[name]["mean"] - mean) < 5 * found[name]["mcse_mean"] + 0.05, found[name]
            assert found[name]["rhat"] < 1.01 and found[name]["ess_bulk"] > 400
        assert schools.statistics["diverging"].dtype == bool
        assert set(schools.statistics) == {
            "lp", "diverging", "tree_depth", "n_steps", "energy", "step_size", "acceptance_rate",
        }  # fmt: skip
        np.testing.assert_array_equal(schools.observed["y"], EFFECTS)

    def test_a_mapping_of_arrays_that_nobody_writes_to(self, schools):
        mu = schools["mu"]
        assert mu is schools["mu"] and not mu.flags.writeable and mu.flags.c_contiguous
        with pytest.raises(ValueError):
            mu[0, 0] = 1.0
        with pytest.raises(KeyError):
            schools["nu"]
        assert repr(schools) == "<lambada.Draws, 4 chains of 1000 draws: mu, tau, z[8]>"
        assert "nu" not in schools and len(schools) == 3

    def test_the_table(self, schools):
        text = str(schools.summary())
        assert "ESS bulk" in text and len(text.splitlines()) == 11 and "z[7]" in text
        page = schools.summary()._repr_html_()
        assert page.count("<tr>") == 11 and page.count("<th>") == 10 and "<td>z[7]</td>" in page

    def test_threads_do_not_change_draws(self, m):
        how = dict(seed=3, chains=3, warmup=200, draws=100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lambada.SamplingWarning)
            one, two = (lambada.draws(m.schools, SCHOOLS, threads=threads, **how) for threads in (1, 2))
            other = lambada.draws(m.schools, SCHOOLS, **{**how, "seed": 4})
        for name in one:
            np.testing.assert_array_equal(one[name], two[name])
        assert not np.array_equal(one["mu"], other["mu"])

    def test_findings_are_warnings(self, m):
        with pytest.warns(lambada.SamplingWarning, match="\n  - ") as told:
            draws = lambada.draws(m.schools, SCHOOLS, draws=20, warmup=20)
        assert [str(w.message) for w in told] == [str(finding) for finding in draws.warnings]
        assert told[0].filename == __file__
        finding = draws.warnings[0]
        assert finding.kind and finding.title and finding.meaning and finding.advice
        assert str(draws.warnings).startswith(finding.title)
        assert "`--" not in str(draws.warnings) and "`draws" in str(draws.warnings)

    def test_pickles(self, schools):
        again = pickle.loads(pickle.dumps(schools))
        np.testing.assert_array_equal(again["z"], schools["z"])
        np.testing.assert_array_equal(again.statistics["energy"], schools.statistics["energy"])


class TestSpaces:
    def test_a_simplex(self, m):
        count = np.array([3, 0, 6])
        draws = lambada.draws(m.shares, count=count, seed=1)
        p = draws["p"]
        assert p.shape == (4, 1000, 3) and np.all(p >= 0)
        np.testing.assert_allclose(p.sum(axis=-1), 1.0, rtol=1e-12)
        # A Dirichlet distribution of count + 2.
        np.testing.assert_allclose(p.mean(axis=(0, 1)), (count + 2) / (count + 2).sum(), atol=0.02)

    def test_a_record(self, m):
        x = np.linspace(-1, 1, 50)
        y = 2 * x + 0.1 * np.cos(50 * x)
        draws = lambada.draws(m.line, {"x": x, "y": y}, seed=1)
        assert set(draws) == {"p.slope", "p.scale"} and np.all(draws["p.scale"] > 0)
        assert abs(draws["p.slope"].mean() - 2) < 0.05
        begun = lambada.draws(
            m.line, x=x, y=y, init={"p": {"slope": 2.0, "scale": 0.1}}, seed=1, metric="dense"
        )
        assert abs(begun["p.slope"].mean() - 2) < 0.05

    def test_indices_count_from_one(self, m):
        y = [1.0, 3.0, -2.0]
        draws = lambada.draws(m.indexed, {"group": [1, 1, 2], "y": y}, sizes={"m": 2}, seed=1)
        np.testing.assert_allclose(draws["a"].mean(axis=(0, 1)), [4 / 3, -1], atol=0.08)


class TestData:
    def test_forms_of_data(self, m):
        def means(data=None, **more):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", lambada.SamplingWarning)
                return lambada.draws(m.schools, data, draws=50, warmup=100, chains=2, **more)["z"]

        first = means(SCHOOLS)
        y, sigma = np.array(EFFECTS), np.array(ERRORS, dtype=np.float32)
        for other in (
            means({"y": y, "sigma": sigma}),
            means({"y": tuple(EFFECTS), "sigma": [np.float64(x) for x in ERRORS]}),
            means(json.loads(json.dumps(SCHOOLS))),
            means(y=y, sigma=ERRORS),
            means({"y": y}, sigma=sigma),
        ):
            np.testing.assert_array_equal(first, other)
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"y": EFFECTS, "sigma": ERRORS, "school": list("ABCDEFGH")})
        np.testing.assert_array_equal(first, means(frame))
        np.testing.assert_array_equal(first, means({"y": frame["y"], "sigma": frame["sigma"]}))
        polars = pytest.importorskip("polars")
        np.testing.assert_array_equal(first, means(polars.DataFrame({"y": EFFECTS, "sigma": ERRORS})))

    def test_what_is_wrong_is_told(self, m):
        with pytest.raises(TypeError, match="`schools` has no parameter `sigmas`; did you mean `sigma`?"):
            lambada.draws(m.schools, SCHOOLS, sigmas=[1.0])
        with pytest.raises(TypeError, match="has no parameter `nu`"):
            lambada.draws(m.schools, SCHOOLS, init={"nu": 1.0})
        with pytest.raises(lambada.Error, match="twice"):
            lambada.draws(m.schools, SCHOOLS, y=[1.0])
        with pytest.raises(lambada.Error, match=r'the size `n`.*\n(.*\n)*.*`sizes=\{"n": 8\}`'):
            lambada.draws(m.slow, work=1)
        with pytest.raises(lambada.Error, match="n = |where"):
            lambada.draws(m.schools, y=[1.0, 2.0], sigma=[1.0])
        with pytest.raises(lambada.Error, match="`work : int`.*\n(.*\n)*.*the keyword `work=VALUE`"):
            lambada.draws(m.slow, sizes={"n": 3})
        with pytest.raises(lambada.Error, match="no log density"):
            lambada.draws(m.vector, sizes={"n": 3})
        with pytest.raises(lambada.Error, match="give all parameters"):
            lambada.draws(m.outside, x=1.0)
        with pytest.raises(lambada.RuntimeError, match="the log density of `outside` is NaN at 100 random points"):
            lambada.draws(m.outside)
        with pytest.raises(TypeError, match="`y` should be made of numbers"):
            lambada.draws(m.schools, y=object(), sigma=ERRORS)
        with pytest.raises(TypeError, match="a mapping"):
            lambada.draws(m.schools, [1.0])
        with pytest.raises(TypeError, match="a lambada.Function"):
            lambada.draws(lambda x: x)

    @pytest.mark.parametrize(
        "how",
        [
            {"chains": 0},
            {"draws": -1},
            {"seed": -1},
            {"target_accept": 1.0},
            {"max_depth": 21},
            {"metric": "low"},
            {"threads": 0},
            {"sizes": {"j": -8}},
        ],
    )
    def test_settings_are_checked(self, m, how):
        with pytest.raises(ValueError):
            lambada.draws(m.schools, SCHOOLS, **how)


class TestMinimize:
    y = np.array([1.0, 2.0, 4.0, 5.0, 8.0])

    def test_the_mode_and_its_errors(self, m):
        found = lambada.minimize(m.normal, {"y": self.y}, maximize=True, errors=True)
        n, sigma = len(self.y), self.y.std()
        assert found.converged and found.gradient_norm < 1e-4
        np.testing.assert_allclose([found.x["mu"], found.x["sigma"]], [self.y.mean(), sigma], rtol=1e-6)
        np.testing.assert_allclose(
            [found.errors["mu"], found.errors["sigma"]], [sigma / n**0.5, sigma / (2 * n) ** 0.5], rtol=1e-5
        )
        np.testing.assert_allclose(found.fun, -n / 2 * (1 + np.log(2 * np.pi * sigma**2)), rtol=1e-9)
        assert repr(found).splitlines()[1:] == ["mu = 4", "   ± 1.09545", "sigma = 2.44949", "      ± 0.774597"]

    def test_records_and_arrays(self, m):
        x = np.linspace(-1, 1, 20)
        found = lambada.minimize(m.line, x=x, y=2 * x + 0.1 * np.cos(9 * x), maximize=True)
        assert isinstance(found.x["p"], lambada.Record) and abs(found.x["p"].slope - 2) < 0.1
        assert found.errors is None
        count = np.array([3, 0, 6])
        found = lambada.minimize(m.shares, count=count, maximize=True)
        np.testing.assert_allclose(found.x["p"], (count + 1) / (count + 1).sum(), rtol=1e-6)

    def test_no_optimum(self, m):
        with pytest.warns(lambada.SamplingWarning, match="did not converge.*maximize=True"):
            found = lambada.minimize(m.outside)
        assert not found.converged and "not converged" in repr(found)


class TestPredict:
    def test_draws(self, m, schools):
        theta = lambada.predict(m.theta, schools)
        expected = schools["mu"][..., None] + schools["tau"][..., None] * schools["z"]
        np.testing.assert_allclose(theta["theta"], expected, rtol=1e-12, atol=1e-13)
        one, again, other = (lambada.predict(m.replicated, schools, SCHOOLS, seed=seed) for seed in (1, 1, 2))
        assert list(one) == ["y"] and one["y"].shape == (4, 1000, 8)
        np.testing.assert_array_equal(one["y"], again["y"])
        assert not np.array_equal(one["y"], other["y"])
        scaled = (one["y"] - expected) / np.array(ERRORS)
        assert abs(scaled.mean()) < 0.03 and abs(scaled.std() - 1) < 0.03
        both = schools.with_results(one).with_results(lambada.predict(m.log_lik, schools, SCHOOLS))
        assert list(both.predictive) == ["y"] and list(both.log_likelihood) == ["log_lik"]
        assert list(schools.predictive) == []

    def test_what_is_wrong_is_told(self, m, schools):
        with pytest.raises(lambada.Error, match="neither the data nor the draws have the parameter `sigma"):
            lambada.predict(m.log_lik, schools, y=EFFECTS)
        with pytest.raises(TypeError, match="Draws or an InferenceData"):
            lambada.predict(m.theta, {"mu": 1.0})
        with pytest.raises(TypeError, match="with_results"):
            lambada.predict(m.theta, schools, group="predictions")


class TestFiles:
    @pytest.mark.parametrize("name", ["draws.nc", "draws.parquet", "draws.csv"])
    def test_saved_and_loaded(self, schools, tmp_path, name):
        schools.save(tmp_path / name)
        again = lambada.Draws.load(tmp_path / name)
        for variable in schools:
            np.testing.assert_array_equal(again[variable], schools[variable])
        np.testing.assert_array_equal(again.statistics["diverging"], schools.statistics["diverging"])

    def test_what_is_wrong_is_told(self, schools, tmp_path):
        with pytest.raises(ValueError, match="should end in `.nc`, `.parquet`, `.csv`"):
            schools.save(tmp_path / "draws.txt")
        with pytest.raises(OSError):
            schools.save(tmp_path / "none" / "draws.nc")
        (tmp_path / "broken.nc").write_bytes(b"no file")
        with pytest.raises(ValueError, match="broken.nc"):
            lambada.Draws.load(tmp_path / "broken.nc")
        with pytest.raises(FileNotFoundError):
            lambada.Draws.load(tmp_path / "none.nc")


class TestArviz:
    def test_inference_data(self, az, m):
        data = lambada.sample(m.schools, SCHOOLS, seed=1, target_accept=0.95, progress=False)
        assert data.posterior["z"].dims[:2] == ("chain", "draw") and data.posterior["z"].shape == (4, 1000, 8)
        assert data.sample_stats["diverging"].dtype == bool
        np.testing.assert_array_equal(data.observed_data["sigma"], ERRORS)
        assert data.posterior.attrs["seed"] == "1"
        summary = az.summary(data, var_names=["mu"], round_to="none")
        own = lambada.draws(m.schools, SCHOOLS, seed=1, target_accept=0.95).summary().to_dict()["mu"]
        np.testing.assert_allclose(
            [float(summary["mean"].iloc[0]), float(summary["ess_bulk"].iloc[0])], [own["mean"], own["ess_bulk"]], rtol=1e-3
        )
        same = lambada.predict(m.log_lik, data, SCHOOLS)
        assert same is data and data.log_likelihood["log_lik"].shape == (4, 1000, 8)
        loo = az.loo(data)
        assert -35 < float(getattr(loo, "elpd_loo", getattr(loo, "elpd", np.nan))) < -28
        lambada.predict(m.replicated, data, SCHOOLS)
        lambada.predict(m.theta, data)
        assert set(data.posterior_predictive.data_vars) == {"y", "theta"}
        lambada.predict(m.theta, data, group="generated")
        assert set(data["generated"].data_vars) == {"theta"}

    def test_results_are_groups(self, az, m, schools):
        both = schools.with_results(lambada.predict(m.log_lik, schools, SCHOOLS))
        data = both.with_results(lambada.predict(m.replicated, schools, SCHOOLS)).to_arviz()
        assert data.log_likelihood["log_lik"].shape == data.posterior_predictive["y"].shape == (4, 1000, 8)

    def test_a_saved_file_opens(self, az, m, schools, tmp_path):
        path = tmp_path / "draws.nc"
        schools.with_results(lambada.predict(m.replicated, schools, SCHOOLS)).save(path)
        data = az.from_netcdf(path)
        np.testing.assert_array_equal(data.posterior["z"].values, schools["z"])
        assert data.posterior_predictive["y"].shape == (4, 1000, 8)
        np.testing.assert_array_equal(data.observed_data["y"].values, EFFECTS)

    def test_a_missing_package_is_told_first(self, m, monkeypatch):
        monkeypatch.setitem(sys.modules, "arviz", None)
        with pytest.raises(ImportError, match="pip install arviz"):
            lambada.sample(m.schools, {"no": "data"})


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals")
class TestInterruption:
    def interrupted(self, after):
        main = threading.main_thread().ident
        timer = threading.Timer(after, lambda: signal.pthread_kill(main, signal.SIGINT))
        timer.start()
        return timer

    def test_the_draws_made_so_far_are_kept(self, m):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lambada.SamplingWarning)
            lambada.draws(m.slow, work=2, sizes={"n": 2}, draws=5, warmup=5)
        timer = self.interrupted(2.0)
        begun = time.monotonic()
        with pytest.warns(lambada.SamplingWarning) as told:
            draws = lambada.draws(m.slow, work=2000, sizes={"n": 2}, draws=1_000_000, warmup=50, threads=2, chains=2)
        timer.join()
        assert time.monotonic() - begun < 10
        assert str(told[0].message) == f"interrupted: each chain has {draws.draws} of 1000000 draws"
        assert draws.draws < 1_000_000 and draws["x"].shape == (2, draws.draws, 2)

    def test_without_draws(self, m):
        timer = self.interrupted(2.0)
        with pytest.raises(KeyboardInterrupt):
            lambada.draws(m.slow, work=2000, sizes={"n": 2}, warmup=10_000_000, chains=2)
        timer.join()


class TestProgress:
    def test_a_line_on_a_terminal(self, m, capfd):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lambada.SamplingWarning)
            lambada.draws(m.schools, SCHOOLS, draws=50, warmup=50, progress=True)
            shown = capfd.readouterr().err
            assert "\rsampling ━" in shown and "100 %" in shown and shown.endswith("\r\x1b[K")
            lambada.draws(m.schools, SCHOOLS, draws=50, warmup=50)
            lambada.draws(m.schools, SCHOOLS, draws=50, warmup=50, progress=False)
        assert capfd.readouterr().err == ""


class TestBeforeSampling:
    def test_findings(self):
        f = lambada.compile("def flat [n] (a : real) (b : real) (y : [n]real) : real = -sum (for y in y => (y - a) ** 2)").flat
        with pytest.warns(lambada.SamplingWarning) as told:
            lambada.draws(f, {"y": [1.0, 2.0]}, draws=50, warmup=50, chains=1)
        found = [w for w in told if "`b` does not occur" in str(w.message)]
        assert len(found) == 1 and found[0].filename == __file__

    def test_lists_of_any_lengths(self):
        text = """
type ragged = {values : []real, starts : []int}
def model (mu : real) (groups : ragged) : real =
  -0.5 * (mu * mu + sum (for y in groups.values => (y - mu) ** 2)) - 0 * real (length groups.starts)
"""
        f = lambada.compile(text).model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lambada.SamplingWarning)
            draws = lambada.draws(f, {"groups": [[1.0, 2.0], [], (3,)]}, draws=200, warmup=200, chains=1)
            pairs = lambada.draws(f, {"groups": {"values": [1.0, 2.0, 3.0], "starts": [0, 2, 2, 3]}}, draws=200, warmup=200, chains=1)
        np.testing.assert_array_equal(draws["mu"], pairs["mu"])
