"""Makes the HDF5 files of sources/hdf5_test.cpp: python make_hdf5.py containers

Files of h5py, and files as MATLAB's save(..., '-v7.3') writes them: a user block of 512 bytes, reversed axes, and the
attributes MATLAB_class and MATLAB_int_decode. Value i of an array is i * 37 % 251, as in make_arrays.py.
"""
import pathlib
import sys

import h5py
import numpy as np

here = pathlib.Path(sys.argv[1])


def values(shape, dtype, start=0, divisor=1):
    count = int(np.prod(shape))
    return ((np.arange(start, start + count) * 37 % 251) / divisor).reshape(shape).astype(dtype)


def h5(name, arrays, **options):
    with h5py.File(here / name, "w", libver="earliest") as f:
        for key, value in arrays.items():
            chunked = options if getattr(value, "ndim", 0) > 1 else {}
            f.create_dataset(key, data=value, track_times=False, **chunked)


def matlab(name, arrays):
    """arrays: in MATLAB's shapes; lists of texts become cell arrays."""
    path = here / name
    with h5py.File(path, "w", userblock_size=512, libver="earliest") as f:
        for key, value in arrays.items():
            if isinstance(value, list):
                cells = []
                refs = f.require_group("#refs#")
                for text in value:
                    cell = refs.create_dataset(f"c{len(refs)}", data=np.frombuffer(text.encode("utf-16-le"), "<u2")[:, None])
                    cell.attrs["MATLAB_class"] = np.bytes_("char")
                    cell.attrs["MATLAB_int_decode"] = np.int32(2)
                    cells.append(cell.ref)
                stored = f.create_dataset(key, (1, len(cells)), dtype=h5py.ref_dtype)
                for i, ref in enumerate(cells):
                    stored[0, i] = ref
                stored.attrs["MATLAB_class"] = np.bytes_("cell")
                continue
            logical = value.dtype == bool
            stored = f.create_dataset(key, data=(value.astype("u1") if logical else value).T, chunks=True, compression=3)
            kind = {"f8": "double", "f4": "single", "u1": "uint8", "b1": "logical", "u2": "char", "i2": "int16"}[value.dtype.str[1:]]
            stored.attrs["MATLAB_class"] = np.bytes_(kind)
            if kind == "logical":
                stored.attrs["MATLAB_int_decode"] = np.int32(1)
            if kind == "char":
                stored.attrs["MATLAB_int_decode"] = np.int32(2)
    with open(path, "r+b") as f:
        head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, made by make_hdf5.py"
        f.write(head.ljust(116) + bytes(8) + b"\x00\x02IM")


ten, six = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]), np.array([0, 2, 1, 1, 0, 2])
# h5py: images in splits, chunked and compressed; groups as splits; other widths; texts as labels.
h5("images.h5", {"x_train": values((10, 5, 4, 3), "u1"), "y_train": ten.astype("i8"),
                 "x_test": values((6, 5, 4, 3), "u1", 600), "y_test": six.astype("u1")},
   chunks=(3, 5, 2, 3), compression="gzip", shuffle=True)
h5("groups.hdf5", {"leaves/train/data": values((10, 4), "f8", 0, 8), "leaves/train/target": ten.astype("u2"),
                   "leaves/test/data": values((6, 4), "f8", 40, 8), "leaves/test/target": six.astype("i2"),
                   "readme": np.bytes_("none")})
h5("widths.h5", {"X": values((6, 4), "f2", 0, 8), "y": six == 1})
h5("texts.h5", {"images": values((6, 5, 4), "u1"),
                "labels": np.array(["tabby", "pug", "tabby", "pug", "pug", "tabby"], dtype=h5py.string_dtype())})
h5("fixed_texts.h5", {"images": values((6, 5, 4), "u1"), "labels": np.array([b"b", b"a", b"b", b"a", b"a", b"b"])})
h5("channels_first.h5", {"data": values((6, 3, 5, 8), "f4", 0, 8), "label": six.astype("f4")})
h5("other_names.h5", {"pixels": values((6, 5, 4), "u1"), "ans": six})
with h5py.File(here / "cycle.h5", "w", libver="earliest") as f:  # groups that hold themselves
    for name in "abcd":
        f[name] = f["/"]
# MATLAB: H x W x C x N with labels from 1, N x F with logical labels, N x F with a cell array, XTrain.
matlab("matlab_images.mat", {"X": values((5, 4, 3, 6), "u1"), "y": (six + 1).astype("f8")[:, None]})
matlab("matlab_features.mat", {"X": values((6, 4), "f8", 0, 8), "Y": (six == 1)[:, None]})
matlab("matlab_cells.mat", {"XTrain": values((6, 4), "f4", 0, 8), "YTrain": ["gr\u00fcn", "rot", "rot", "gr\u00fcn", "rot", "\U0001f426"]})
matlab("matlab_characters.mat", {"data": values((4, 6), "f8", 0, 8), "labels": np.array([list(map(ord, t)) for t in ["ab", "b ", "ab", "b ", "b ", "ab"]], "u2")})
