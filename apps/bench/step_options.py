"""What torch_step.py and keras_step.py share: their options, and how a rate is taken. Standard library only."""
import argparse
import resource


def parse(description, *flags):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--shape", type=lambda text: tuple(map(int, text.split(","))), required=True,
                        help="of a sample, channels first: 3,224,224; or its number of tokens")
    parser.add_argument("--classes", type=int, required=True)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3, help="how long to measure (default: %(default)s)")
    parser.add_argument("--bf16", action="store_true")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def rate(run, options):
    """Samples per second of `run(steps)`, which returns its seconds; at least two steps, after one to warm up."""
    steps = max(2, round(options.seconds / run(1)))
    return options.batch * steps / run(steps)


def peak_rss_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
