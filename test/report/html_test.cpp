#include "report/page/html.hpp"

#include "convoke/report/page.hpp"
#include "support/catch.hpp"

using convoke::report::begins_as_page;
using convoke::report::escape;

TEST_CASE("characters that are special in HTML are escaped") {
  CHECK(escape("<b a=\"x\" c='y'>&amp;") == "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
  CHECK(escape("Grüße, 日本, 🐦") == "Grüße, 日本, 🐦");
  CHECK(escape("") == "");
}

TEST_CASE("bytes in any encoding become valid UTF-8") {
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(escape("Stra\xDF"
               "e") == "Stra" + bad + "e");                        // ISO 8859-1
  CHECK(escape("\xC3") == bad);                                    // cut short
  CHECK(escape("\xC0\xAF") == bad + bad);                          // overlong
  CHECK(escape("\xED\xA0\x80") == bad + bad + bad);                // a surrogate
  CHECK(escape("\xF4\x90\x80\x80") == bad + bad + bad + bad);      // beyond U+10FFFF
  CHECK(escape("a\x01\x7F\nb\tc") == "a" + bad + bad + "\nb\tc");  // control characters
}

TEST_CASE("a page is recognized by its beginning") {
  for (const char* page :
       {"<!DOCTYPE html>\n<html lang=en>", "<!doctype HTML PUBLIC", "\xEF\xBB\xBF\n <html>"}) {
    CAPTURE(page);
    CHECK(begins_as_page(page));
  }
  for (const char* other : {"", "\n", "<!DOC", "\x89HDF\r\n", "ranks,seconds\n1,2\n",
                            "<?xml version=\"1.0\"?><svg>", "a line\n<!DOCTYPE html>"}) {
    CAPTURE(other);
    CHECK_FALSE(begins_as_page(other));
  }
}
