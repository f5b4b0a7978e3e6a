"""Makes foreign.h5 (h5py 3.14) with contents that other programs write and Convoke does not."""
import h5py
import numpy as np

with h5py.File("foreign.h5", "w", userblock_size=512) as f:
    f.attrs["fixed"] = np.bytes_("conv2d")                      # text of fixed length
    f.attrs["names"] = np.array([b"kernel:0", b"bias:0"])       # a list of it, as Keras writes
    f.attrs["variable"] = "größer"
    f.attrs["none"] = h5py.Empty("S1")
    f.attrs["half"] = np.float16(0.5)
    f.attrs["count"] = np.int32(3)
    f.create_dataset("big_endian", data=np.array([1, 2, -3], ">i4"))
    f.create_dataset("little_endian", data=np.array([1, 2, -3], "<i4"))
    f.create_dataset("int16", data=np.array([[1, -2], [300, 4]], "i2"))
    f.create_dataset("gzip", data=np.arange(24, dtype="u1").reshape(2, 3, 4), chunks=(1, 3, 4), compression="gzip")
    f.create_dataset("lzf", data=np.arange(24, dtype="u1"), compression="lzf")   # HDF5 itself does not know it
    f.create_dataset("compact_text", data="text")
    f.create_dataset("group/z", data=np.float64(2.5))
    f.create_dataset("group/a", data=np.zeros((0, 3), "f4"))
    f["dangling"] = h5py.SoftLink("/nowhere")
