#include "commands.hpp"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <utility>

#include "cli/options.hpp"
#include "cluster/start.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/core/text_encoding.hpp"
#include "convoke/data_prep/prepare.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/run/checkpoint_interval.hpp"
#include "convoke/supervise/watchdog.hpp"
#include "data/dataset_for.hpp"

namespace convoke::app {
namespace {

struct PrepareOptions {
  data_prep::PrepareOptions work;
  std::string size, split, fold;  ///< as written: HxW, train=0.8,..., I/K
  std::string order = "auto";
  std::string encoded;       ///< jpeg, png or empty
  bool has_quality = false;  ///< --jpeg-quality was given
  std::string stall_timeout = "10 min";
  bool unstratified = false;
};

constexpr const char* kPrepareHelp = R"(Examples:
  convoke prepare mnist/ --output mnist.h5                  the four MNIST files, plain or .gz
  mpirun -n 4 convoke prepare birds/ --output birds.h5 --size 224x224
                                                            a folder of pictures for each class, in
                                                            train/, valid/ and test/
  convoke prepare train.csv --output eyes.h5 --fit fundus --size 256x256 --group patient \
      --split train=0.8,validation=0.1,test=0.1             pictures that a CSV names, all of a
                                                            patient in the same split
  convoke prepare reviews.csv --output reviews.h5 --length 200 --vocabulary 20000
  convoke prepare traces/ --output io.h5 --window 256       I/O requests or Darshan logs, in a
                                                            folder for each class
  convoke prepare leaves/ --output leaves.h5 --size 128x128 --fold 2/5
  convoke prepare scans/ --output scans.h5 --size 256x256 --group-by '(patient[0-9]+)'
                                                            ill/patient12-1.png and
                                                            ill/patient12-2.png stay together
  convoke prepare flowers.csv --dry-run                     what the file is taken for
  convoke prepare birds/ --output birds.h5 --size 224x224 --encoded jpeg
                                                            pictures stay compressed in the file

Without --split, a dataset keeps the splits of its source. A source without splits is split into train=0.8 and
test=0.2. These splits keep samples that are equal or look the same together.

If a run is interrupted, start it again with the same options: it continues where it stopped. Unreadable,
duplicate and similar samples are listed in FILE.findings.csv.
)";

// "224x160" is (224, 160), "224" is (224, 224). Throws Error for anything else.
std::pair<std::int64_t, std::int64_t> pair_from(const std::string& option, const std::string& text,
                                                char between, const std::string& example) {
  const std::size_t at = text.find(between);
  const auto number = [&](const std::string& part) {
    const std::int64_t value = parse_number<std::int64_t>(part).value_or(0);
    if (value <= 0)
      throw Error(fmt::format("{} {}: is not understood", option, text), "write for example " + example);
    return value;
  };
  const std::int64_t first = number(text.substr(0, at));
  return {first, at == std::string::npos ? first : number(text.substr(at + 1))};
}

void add_picture_options(CLI::App& parser, PrepareOptions& options) {
  parser.option_defaults()->group("Pictures");
  data_prep::PictureOptions& picture = options.work.samples.picture;
  add_option(parser, "--size", options.size, "HxW",
             "Height and width of the pictures; by default their own, if all are equal");
  add_option(
      parser, "--fit", picture.fit, "area|letter-box|crop|fundus",
      "How to fit a picture of another shape: stretch it (area), add bars (letter-box), keep the middle "
      "(crop), or find the eye (fundus)")
      ->capture_default_str();
  add_option(parser, "--channels", picture.channels, "1|3",
             "Color channels, 1 for gray or 3 for RGB; by default those of the first picture")
      ->check(CLI::IsMember({1, 3}).description(""));
  CLI::Option* const encoded = add_choice(
      parser, "--encoded", options.encoded, {"jpeg", "png"},
      "Store pictures encoded; they are decoded when they are used. PNG keeps every pixel, JPEG is "
      "smaller");
  add_option(parser, "--jpeg-quality", options.work.encoding.jpeg_quality, "N",
             "Quality of the JPEGs; up to 90 colors have half the resolution")
      ->check(in_range(1, 100))
      ->needs(encoded)
      ->capture_default_str();
}

void add_column_options(CLI::App& parser, data_prep::ColumnOptions& columns) {
  parser.option_defaults()->group("Columns of a CSV, features of TFRecords");
  const auto add = [&](const char* name, std::string& to, const char* help) {
    add_option(parser, name, to, "COLUMN", help);
  };
  add("--path-column", columns.path,
      "Column of the picture files; by default filepaths, filename, image, id_code or similar");
  add("--label-column", columns.label,
      "Column of the classes; by default label, class, target or similar; of a table also its last column");
  add("--split-column", columns.split, "Column of the splits; by default \"data set\" or split");
  add("--group", columns.group, "Column whose equal values stay in the same split, such as the patient");
  add("--weight-column", columns.weight, "Column of the weight of each sample in the loss");
  add("--text-column", columns.text, "Column of the texts; by default text, review, sentence or similar");
  add_option(parser, "--features", columns.features, "COLUMN,...",
             "Features of a table (its columns) or of I/O traces; by default all that have no other use")
      ->delimiter(',');
  add_option(parser, "--categories", columns.categories, "COLUMN,...",
             "Columns whose numbers name categories; each value becomes a feature")
      ->delimiter(',');
  add_option(parser, "--images", columns.images_folder, "FOLDER",
             "The folder of the pictures that a CSV names");
}

// Options for files whose format is guessed wrongly; --dry-run shows the guess.
void add_reading_options(CLI::App& parser, data_prep::ReadingOptions& reading) {
  parser.option_defaults()->group("Reading tables and texts");
  add_choice(parser, "--encoding", reading.encoding, text_encodings(),
             "Encoding of a text without a byte order mark; by default UTF-8, or Windows-1252 if it is not "
             "UTF-8");
  add_option(parser, "--separator", reading.separator, "CHARACTER",
             "Character between the cells of a table, or the word tab; by default the one that cuts its "
             "first rows into equally many cells");
  add_choice(
      parser, "--quoting", reading.quoting, {"csv", "none"},
      "Whether double quotes enclose cells (csv) or are text (none); by default csv, and in a file with "
      "tabs what its cells suggest");
  add_choice(parser, "--header", reading.header, {"yes", "no"},
             "Whether the first row of a table names its columns");
  add_choice(parser, "--decimal", reading.decimal, {"point", "comma"},
             "The decimal sign of numbers that can be read in two ways, such as 4,000");
}

void add_array_options(CLI::App& parser, data_prep::ArrayOptions& arrays) {
  parser.option_defaults()->group("Arrays");
  add_option(parser, "--axes", arrays.axes, "LETTERS",
             "Letters for the axes of an array: N samples, H height, W width, C channels, L length, F "
             "features; by default NHWC, NHW, NLF, NF or NL, by the numbers that it holds");
}

void add_text_and_table_options(CLI::App& parser, data_prep::SourceOptions& samples) {
  parser.option_defaults()->group("Texts and tables");
  add_option(parser, "--length", samples.text.length, "WORDS",
             "Words of each sample; by default enough for 95 % of the training texts")
      ->check(positive());
  add_option(parser, "--vocabulary", samples.text.vocabulary, "WORDS",
             "Number of different words: the most frequent, with two for padding and unknown words")
      ->check(positive())
      ->capture_default_str();
  add_choice(parser, "--padding", samples.text.padding, {"pre", "post"}, "Where to fill a shorter text");
  add_choice(parser, "--truncating", samples.text.truncating, {"pre", "post"}, "Where to cut a longer text");
  add_option(parser, "--stop-words", samples.text.stop_words, "none|english|nltk", "Words to leave out")
      ->capture_default_str();
  add_option(parser, "--scale", samples.table.scale, "none|standard|min-max|yeo-johnson",
             "How to scale the numbers of a table; standard is mean 0 and standard deviation 1, min-max "
             "is 0 to 1")
      ->capture_default_str();
  add_option(parser, "--window", samples.traces.window, "REQUESTS|SECONDS",
             "Length of a window of a trace of I/O, in requests or in seconds (0.5s)")
      ->capture_default_str();
}

void add_split_options(CLI::App& parser, PrepareOptions& options) {
  parser.option_defaults()->group("Splits");
  add_option(parser, "--split", options.split, "NAME=SHARE,...",
             "Split the samples again, for example train=0.8,validation=0.1,test=0.1");
  add_option(parser, "--fold", options.fold, "I/K",
             "Use fold I of K as the test split, and the other folds as the training split")
      ->excludes("--split");
  add_option(parser, "--group-by", options.work.splits.group_by, "PATTERN",
             "Regular expression on the names of the samples (with --group, on that column): samples for "
             "which the part in parentheses is equal stay in the same split");
  parser.add_flag("--no-stratify", options.unstratified,
                  "Do not give each split the same share of every class");
  add_option(parser, "--seed", options.work.splits.seed, "SEED", "Seed of the splits and of the order")
      ->capture_default_str();
  add_option(parser, "--order", options.order, "auto|source|shuffled",
             "Order of the samples in a split; auto shuffles samples that are sorted by class")
      ->capture_default_str();
  parser.add_flag("--allow-duplicates", options.work.allow_duplicates,
                  "Accept the same sample in two splits");
}

// Turns a source into a dataset file; the ranks share the decoding.
int prepare(const PrepareOptions& options) {
  // 1. The ranks that decode.
  mpi::Session session;

  // 2. The options of the preparation.
  data_prep::PrepareOptions work = options.work;
  if (work.output.empty() && !work.dry_run) {
    throw Error("--output is missing", "name the dataset to write: --output FILE.h5; or add --dry-run");
  }
  if (!work.output.has_filename()) work.output = work.output.parent_path();  // "shards/" is "shards"
  if (!options.size.empty()) {
    std::tie(work.samples.picture.height, work.samples.picture.width) =
        pair_from("--size", options.size, 'x', "--size 224x224");
  }
  if (!options.split.empty()) work.splits.parts = data_prep::split_parts_from(options.split);
  if (!options.fold.empty()) {
    std::tie(work.splits.fold, work.splits.folds) = pair_from("--fold", options.fold, '/', "--fold 1/5");
    if (work.splits.fold > work.splits.folds || work.splits.folds < 2)
      throw Error(fmt::format("--fold {}: there is no such fold", options.fold),
                  "write for example --fold 1/5");
  }
  work.splits.stratified = !options.unstratified;
  work.order = data_prep::order_from(options.order);
  work.encoding.kind = data_prep::encoding_from(options.encoded);

  if (options.has_quality && options.encoded != "jpeg") {
    throw Error(fmt::format("--jpeg-quality has no effect with --encoded {}", options.encoded),
                "remove it, or add --encoded jpeg");
  }

  // 3. Decode: every rank decodes an equal share into one file.
  if (work.dry_run) {
    prepare_source(work, session.world());
    return EXIT_SUCCESS;
  }
  const auto watchdog = supervise::Watchdog::beside(
      work.output, run::seconds_from(options.stall_timeout),
      "start it again, and it continues; or set --stall-timeout", session.world());
  bound_machine(session.world(), 1);
  prepare_source(work, session.world());
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_prepare(CLI::App& parser) {
  auto options = std::make_shared<PrepareOptions>();
  data_prep::PrepareOptions& work = options->work;
  add_option(parser, "SOURCE", work.source, "SOURCE", "The file or folder with the samples")->required();
  add_option(parser, "-o,--output", work.output, "FILE",
             "The dataset to write: a file, or a folder with --shards (required without --dry-run)");
  add_option(parser, "--kind", work.kind, "KIND",
             "Kind of the source, if it cannot be detected: " + join(data_prep::source_kinds()));
  add_option(parser, "--class-names", work.samples.class_names, "NAME,...",
             "Names of the classes, in the order of their labels")
      ->delimiter(',');
  add_option(parser, "--shards", work.shards, "N",
             "Write a folder of files instead of one file, with N files for the largest split")
      ->check(positive());
  parser.add_flag("--skip-bad", work.skip_bad, "Leave out samples that cannot be read, and list them");
  add_option(parser, "--stall-timeout", options->stall_timeout, "TIME",
             "With several ranks: end with code 87 if a rank gives no sign of life for so long; 0: wait "
             "for ever")
      ->capture_default_str();
  parser.add_flag("--overwrite", work.overwrite, "Replace the output if it exists");
  parser.add_flag("--dry-run", work.dry_run,
                  "Print what the source is taken for and the sizes of the splits, and write nothing");
  add_picture_options(parser, *options);
  add_column_options(parser, work.samples.columns);
  add_reading_options(parser, work.samples.reading);
  add_array_options(parser, work.samples.arrays);
  add_text_and_table_options(parser, work.samples);
  add_split_options(parser, *options);
  parser.footer(kPrepareHelp);
  return [options, &parser, quality = parser.get_option("--jpeg-quality")] {
    options->has_quality = quality->count() > 0;
    for (const CLI::Option* option : parser.get_options()) {
      if (option->count() > 0) options->work.samples.given.push_back(option->get_name());
    }
    return prepare(*options);
  };
}

}  // namespace convoke::app
