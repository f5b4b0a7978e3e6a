#include "convoke/data_prep/sources/text_source.hpp"

#include <optional>

#include "convoke/core/error.hpp"
#include "convoke/data_prep/preparation.hpp"
#include "convoke/data_prep/text/text_preparation.hpp"

namespace convoke::data_prep {
namespace {

class TextSource final : public Source {
 public:
  TextSource(Catalog catalog, const TextOptions& options, const ReadingOptions& reading, std::string column,
             std::function<std::string(std::size_t)> read_text)
      : options_(options), reading_(reading), column_(std::move(column)), read_text_(std::move(read_text)) {
    catalog_ = std::move(catalog);
    TextPreparation::check(options_);
  }

  void fit(std::span<const std::size_t> training) override {
    auto next = training.begin();
    bool found = false;  // a text that can be read
    preparation_ = TextPreparation::fit(options_, column_, [&](std::string& text) {
      while (next != training.end()) {
        try {
          text = read_text_(*next++);
          return found = true;
        } catch (const Error&) {  // read() throws it, too, so the text is listed as bad
          if (!found && next == training.end()) throw;
        }
      }
      return false;
    });
  }

  SampleFormat format() const override {
    ensure(preparation_.has_value(), "the source was fitted");
    return {.shape = Shape{preparation_->length()},
            .type = data::SampleType::kInt32,
            .vocabulary = preparation_->vocabulary().size(),
            .preparation = with_reading(preparation_->to_json(), reading_)};
  }

  Original read(std::size_t item, std::span<std::byte> sample) override {
    ensure(preparation_.has_value(), "the source was fitted");
    const std::string text = read_text_(item);
    const std::span tokens(reinterpret_cast<std::int32_t*>(sample.data()),
                           sample.size() / sizeof(std::int32_t));
    return {.height = static_cast<std::int32_t>(preparation_->encode(text, tokens)), .bytes = text.size()};
  }

 private:
  TextOptions options_;
  ReadingOptions reading_;
  std::string column_;
  std::function<std::string(std::size_t)> read_text_;
  std::optional<TextPreparation> preparation_;  // after fit()
};

}  // namespace

std::unique_ptr<Source> make_text_source(Catalog catalog, const TextOptions& options,
                                         const ReadingOptions& reading, std::string column,
                                         std::function<std::string(std::size_t item)> read_text) {
  return std::make_unique<TextSource>(std::move(catalog), options, reading, std::move(column),
                                      std::move(read_text));
}

}  // namespace convoke::data_prep
