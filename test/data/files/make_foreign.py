"""Makes foreign.h5 (h5py 3.16): a dataset file that follows docs/formats.md, without its optional parts."""
import zlib

import h5py
import numpy as np

with h5py.File("foreign.h5", "w", track_order=True) as f:
    f.attrs["convoke_format"] = "dataset"
    f.attrs["format_version"] = 1
    f.attrs["classes"] = 3
    f.attrs["provenance"] = "h5py"
    crc = 0
    for split, count in ("train", 6), ("test", 3):
        samples = np.arange(count * 2 * 3 * 2, dtype="u1").reshape(count, 2, 3, 2)
        labels = np.arange(count, dtype="i4") % 3
        f[f"{split}/samples"] = samples
        f[f"{split}/labels"] = labels
        crc = zlib.crc32(labels.tobytes(), zlib.crc32(samples.tobytes(), crc))
    f.attrs["content_hash"] = f"crc32:{crc:08x}"
    pixels = f["train/samples"][:].reshape(-1, 2).astype("f8")
    f.attrs["channel_mean"] = pixels.mean(0)
    f.attrs["channel_std"] = pixels.std(0)
