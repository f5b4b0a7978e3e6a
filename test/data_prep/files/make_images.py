"""Makes the images of image_test.cpp (Pillow 13) and prints the values it expects."""
import numpy as np
from PIL import Image

y, x = np.mgrid[0:6, 0:8]
rgb = np.stack([20 * x + 10 * y, 255 - 20 * x, (x * y * 7) % 256], axis=-1).astype("u1")
Image.fromarray(rgb).save("rgb.png")
Image.fromarray(rgb).save("rgb.bmp")
alpha = np.dstack([rgb, np.full((6, 8), 100, "u1")])
Image.fromarray(alpha).save("alpha.png")
smooth = np.stack([8 * x[:, :], 255 - 8 * x, 20 * y], axis=-1).astype("u1")
Image.fromarray(smooth).resize((64, 48), Image.BILINEAR).save("smooth.jpg", quality=95, subsampling=0)
print("smooth", np.asarray(Image.open("smooth.jpg"))[24, ::9].reshape(-1).tolist())
for size in ((3, 4), (13, 9), (8, 2), (1, 1)):
    print(size, np.asarray(Image.fromarray(rgb).resize(size, Image.BILINEAR)).reshape(-1).tolist())
