"""Makes the .npy files of npy_test.cpp (NumPy 2.4)."""
import numpy as np

np.save("u1.npy", np.arange(6, dtype="u1").reshape(2, 3))
np.save("i4.npy", np.array([-1, 2**31 - 1], "i4"))
np.save("i8.npy", np.array(-(2**63), "i8"))
np.save("f4.npy", np.array([[[0.5], [-1e-30]]], "f4"))
np.save("f8.npy", np.array([0.1, np.inf], "f8"))
np.save("fortran.npy", np.asfortranarray(np.zeros((2, 3), "f4")))
np.save("big_endian.npy", np.array([1.0], ">f4"))
np.save("fields.npy", np.zeros(2, [("a", "f4"), ("b", "i4")]))
np.savez("archive.npz", a=np.zeros(2))
with open("version2.npy", "wb") as f:
    np.lib.format.write_array(f, np.array([[1, 2]], "i4"), version=(2, 0))
