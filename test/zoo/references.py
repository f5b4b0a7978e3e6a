"""The networks of compare.py, from the framework that this Python has: torchvision or Keras Applications."""
import importlib.util

if importlib.util.find_spec("torchvision"):
    from torch_reference import evaluate, names, title
elif importlib.util.find_spec("keras"):
    from keras_reference import evaluate, names, title
else:
    raise SystemExit("error: this Python has neither torchvision nor keras\n"
                     "  hint: python3 -m venv torch && torch/bin/pip install torch torchvision h5py")

__all__ = ["evaluate", "names", "title"]
