#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace convoke::data_prep {

/// The words of a text, in order: what stands between blanks, in lower case, without punctuation. As Keras'
/// "lower_and_strip_punctuation": punctuation is left out rather than taken for a blank, so that "well-kept"
/// is "wellkept". Beyond it:
/// * `<br>`, `<br/>` and `<br />` are blanks (as the published systems on IMDb's reviews have it);
/// * lower case, blanks and punctuation are Unicode's, not ASCII's alone; symbols such as emoji stay;
/// * accents that are characters of their own are joined to their letters (NFC);
/// * apostrophes within a word stay, as "'", for lists of stop words to know it: "don't". See
///   without_apostrophes().
/// Bytes that are no UTF-8 are left out.
std::vector<std::string> words_of(std::string_view text);

/// True if all bytes are UTF-8.
bool is_utf8(std::string_view text);

/// "don't" -> "dont".
std::string without_apostrophes(std::string word);

}  // namespace convoke::data_prep
