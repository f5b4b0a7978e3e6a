#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace convoke::data_prep {

/// Returns the words of a text, in order: the text between blanks, in lower case, without punctuation. As in
/// Keras's "lower_and_strip_punctuation", punctuation is deleted and is not a blank, so that "well-kept"
/// becomes "wellkept". In addition:
/// * `<br>`, `<br/>` and `<br />` are blanks (as in the published systems on IMDb's reviews);
/// * lower case, blanks and punctuation follow Unicode, not only ASCII; symbols such as emoji stay;
/// * combining accents are joined to their letters (NFC);
/// * apostrophes within a word become "'" and stay, so that lists of stop words match: "don't". See
///   without_apostrophes().
/// Bytes that are not UTF-8 are left out.
std::vector<std::string> words_of(std::string_view text);

/// True if all bytes are UTF-8.
bool is_utf8(std::string_view text);

/// Returns "dont" for "don't".
std::string without_apostrophes(std::string word);

}  // namespace convoke::data_prep
