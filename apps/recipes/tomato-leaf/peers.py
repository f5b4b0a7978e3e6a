"""The options of pytorch.py and tensorflow_fit.py, the pictures that both read, and the time that both print."""
import argparse

import h5py


def parser(description):
    """A parser of the options that both scripts have."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("dataset", help="made by convoke prepare")
    options.add_argument("--epochs", type=int, default=100)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--rate", type=float, default=1e-3)
    options.add_argument("--seed", type=int, default=1)
    return options


def pictures(dataset, split):
    """All pictures of a split as bytes (N, H, W, C), and their labels (N)."""
    with h5py.File(dataset) as file:
        return file[split]["samples"][:], file[split]["labels"][:].astype("int64")


def epoch_seconds(ends):
    """The mean time of an epoch, without the first if there are more. `ends`: the beginning, and the end of each epoch."""
    counted = ends[1:] if len(ends) > 2 else ends
    return (counted[-1] - counted[0]) / (len(counted) - 1)
