"""Makes texts.json: texts, and what Keras' TextVectorization makes of them. `<br />` is taken for a blank before, as in
Keras' example of text classification. Needs TensorFlow; made with Keras 3 of TensorFlow 2.21."""
import json
import re

import keras

TEXTS = [
    "One of the best films I have seen: it's well-kept, well acted and well shot.<br /><br />See it!",
    "The worst film of the year. The plot is dull, the acting is dull & the end is (too) long...",
    "I don't know; 2 hours of my life are gone. Dull, dull, DULL!",
    "A film about a film -- and about the people who see films.",
    "See the film, see the book, see both\tor\n none of them.",
    "good good good bad good bad bad good bad good bad good",
    "",
    "#@$%^&*()_+|~=`{}[]:\";<>?,./\\",
]


def vectorize(limit, length):
    layer = keras.layers.TextVectorization(
        max_tokens=limit, standardize="lower_and_strip_punctuation", output_sequence_length=length)
    texts = [re.sub("<br />", " ", text) for text in TEXTS]
    layer.adapt(texts)
    return {"limit": limit, "length": length, "vocabulary": layer.get_vocabulary(),
            "tokens": layer(texts).numpy().tolist()}


with open("texts.json", "w") as out:
    json.dump({"texts": TEXTS, "cases": [vectorize(20, 8), vectorize(1000, 24)]}, out)
    out.write("\n")
