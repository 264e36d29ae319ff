"""Reads the files that `DRAWS_OUT=FOLDER cargo test -p lambada-draws` wrote, by other libraries:
pip install arviz h5netcdf netCDF4 pandas pyarrow; python check.py FOLDER."""

import shutil
import sys

import arviz as az
import h5py
import netCDF4
import numpy as np
import pandas as pd
import xarray as xr

folder = sys.argv[1]
name = f"{folder}/d.nc"
data = az.from_netcdf(name)
assert data.groups() == ["posterior", "posterior_predictive", "log_likelihood", "sample_stats", "observed_data"]
assert data.sample_stats.diverging.dtype == bool and data.sample_stats.tree_depth.dtype == np.int64
assert data.posterior.attrs == {"seed": "17", "model": 'y = x,\n"two" \\ lines é'}
az.summary(data, var_names=["theta", "l"])
for engine in ["netcdf4", "h5netcdf"]:
    group = xr.open_dataset(name, group="posterior", engine=engine)
    assert dict(group.sizes) == {"chain": 4, "draw": 250, "theta_dim_0": 3, "l_dim_0": 2, "l_dim_1": 2}
    assert group.l.dims == ("chain", "draw", "l_dim_0", "l_dim_1")
with h5py.File(name) as file:
    assert [dim[0].name for dim in file["posterior/l"].dims] == [
        "/posterior/chain", "/posterior/draw", "/posterior/l_dim_0", "/posterior/l_dim_1"]
    assert len(file["posterior/chain"].attrs["REFERENCE_LIST"]) == 3
parquet = pd.read_parquet(f"{folder}/d.parquet")
csv = pd.read_csv(f"{folder}/d.csv", comment="#")
assert list(parquet.columns) == list(csv.columns)
assert np.array_equal(parquet.values.astype(float), csv.values.astype(float), equal_nan=True)
columns = [column for column in csv.columns if column.startswith("l[")]
assert np.array_equal(data.posterior.l.values.reshape(1000, 4), csv[columns].values)
# The library in C changes a copy.
shutil.copy(name, f"{folder}/changed.nc")
with netCDF4.Dataset(f"{folder}/changed.nc", "a") as file:
    file["posterior"].createVariable("more", "f8", ("chain", "draw"))[:] = 1.0
    file["posterior"]["mu"].units = "m"
assert "more" in xr.open_dataset(f"{folder}/changed.nc", group="posterior").variables
print("all files are read")
