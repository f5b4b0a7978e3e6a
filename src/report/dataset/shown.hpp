#pragma once
#include <span>
#include <string>

#include "convoke/explore/inspection.hpp"
#include "convoke/report/page.hpp"
#include "report/page/sample_view.hpp"

// Samples and names on the page of a dataset, and the sections of the page.

namespace convoke::report {

/// An inspection with the texts and pictures for its page.
struct Shown {
  const explore::Inspection& found;

  bool images() const { return found.kind() == "images"; }
  bool tokens() const { return found.kind() == "tokens"; }
  /// Returns "The 40 classes with most training samples, of 525." or "", for captions.
  std::string of_classes() const;
  std::string class_name(std::int32_t label) const { return found.class_name(label); }
  /// Returns "train 17".
  std::string place(explore::SampleIndex place) const;
  /// Returns "channel 2" or "feature 2"; "red", "green", "blue" for three channels.
  std::string channel_name(std::size_t channel) const;
  /// Returns the word of a token, or "#12".
  std::string word(std::int32_t token) const { return word_of(token, found.names); }
  /// Returns the first words of a text, or the first numbers.
  std::string excerpt(const explore::Sample& sample) const {
    return excerpt_of(sample, tokens(), found.names);
  }

  /// Returns the picture of an image of (h, w, C) stored values: the first channel, or the first three if
  /// there are three or more. Real numbers are scaled from the minimum to the maximum of the training split.
  Picture picture(const Shape& shape, std::span<const double> values) const;
  Picture picture(const explore::Sample& sample) const { return picture(sample.shape, sample.values); }
  /// Returns a picture of any numbers (h, w, C): 0 is gray, the number of largest magnitude is black or
  /// white.
  Picture relief(const Shape& shape, std::span<const double> values) const;
};

void add_classes(Page& page, const Shown& shown);
void add_originals(Page& page, const Shown& shown);
void add_encoded(Page& page, const Shown& shown);
void add_values(Page& page, const Shown& shown);
void add_lengths_and_words(Page& page, const Shown& shown);
void add_samples(Page& page, const Shown& shown);
void add_correlations(Page& page, const Shown& shown);
void add_gradients(Page& page, const Shown& shown);
void add_maps(Page& page, const Shown& shown);
/// Continues the section of the maps.
void add_reconstruction(Page& page, const Shown& shown);
void add_duplicates(Page& page, const Shown& shown);
void add_outliers(Page& page, const Shown& shown);

}  // namespace convoke::report
