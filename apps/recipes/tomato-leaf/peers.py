"""The options of pytorch.py and tensorflow_fit.py, and the time that both print."""
import argparse


def parser(description):
    """A parser of the options that both scripts have."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder")
    options.add_argument("--epochs", type=int, default=100)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--rate", type=float, default=1e-3)
    options.add_argument("--side", type=int, default=128, help="height and width of the pictures")
    options.add_argument("--seed", type=int, default=1)
    return options


def epoch_seconds(ends):
    """The mean time of an epoch, without the first if there are more. `ends`: the beginning, and the end of each epoch."""
    counted = ends[1:] if len(ends) > 2 else ends
    return (counted[-1] - counted[0]) / (len(counted) - 1)
