"""Writes the files of this folder: pip install arviz h5py h5netcdf netCDF4."""

import os

import arviz as az
import h5py
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
theta = (np.arange(2 * 50 * 3) / 8 - 7).reshape(2, 50, 3)
diverging = (np.arange(100) % 7 == 0).reshape(2, 50)
depth = (np.arange(100) % 5 - 1).reshape(2, 50)
y = np.array([1.0, 2.5, -3.0])

# Chunked and deflated by default; more variables than a header holds.
posterior = {"theta": theta, "f": theta.astype(np.float32), "i": theta.astype(np.int16)}
posterior |= {f"v{k}": np.full((2, 50), float(k)) for k in range(11)}
data = az.from_dict(
    posterior=posterior,
    sample_stats={"diverging": diverging, "tree_depth": depth},
    observed_data={"y": y},
    attrs={"seed": 17, "extra": "text"} | {f"a{k}": k for k in range(10)},
)
data.posterior.attrs["seed"] = 17
for engine, name in [("netcdf4", "arviz.nc"), ("h5netcdf", "h5netcdf.nc")]:
    data.to_netcdf(os.path.join(here, name), engine=engine, compress=engine == "netcdf4")

# Old groups, from the largest chunks to small ones that do not divide the array; big-endian.
for name, many in [("h5py.nc", 0), ("h5py_many.nc", 200)]:
    with h5py.File(os.path.join(here, name), "w", libver="earliest" if not many else ("v108", "v108"),
                   track_order=bool(many)) as file:
        file.attrs["seed"] = 17
        group = file.create_group("posterior", track_order=bool(many))
        if many:
            group.create_dataset("theta", data=theta, chunks=(1, 7, 2), shuffle=True, fletcher32=True)
        else:
            group.create_dataset("theta", data=theta.astype(">f8"))
        for k in range(many):
            group.create_dataset(f"v{k}", data=np.full((2, 50), k, dtype=np.uint8))
        group = file.create_group("sample_stats")
        group.create_dataset("diverging", data=diverging)
        group.create_dataset("tree_depth", data=depth.astype(">i2"), chunks=(2, 3), compression="gzip")
        file.create_group("observed_data").create_dataset("y", data=y)
