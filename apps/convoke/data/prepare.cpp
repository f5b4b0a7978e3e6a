#include "commands.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || rest != part.data() + part.size() || value <= 0)
      throw Error(fmt::format("{} {}: is not understood", option, text), "write for example " + example);
    return value;
  };
  const std::int64_t first = number(text.substr(0, at));
  return {first, at == std::string::npos ? first : number(text.substr(at + 1))};
}

void add_picture_options(CLI::App& parser, PrepareOptions& options) {
  data_prep::PictureOptions& picture = options.work.samples.picture;
  parser
      .add_option("--size", options.size,
                  "Height and width of the pictures; by default their own, if all are equal")
      ->type_name("HxW")
      ->group("Pictures");
  parser
      .add_option(
          "--fit", picture.fit,
          "How to fit a picture of another shape: stretch it (area), add bars (letter-box), keep the middle "
          "(crop), or find the eye (fundus)")
      ->type_name("area|letter-box|crop|fundus")
      ->capture_default_str()
      ->group("Pictures");
  parser
      .add_option("--channels", picture.channels,
                  "Color channels, 1 for gray or 3 for RGB; by default those of the first picture")
      ->check(CLI::IsMember({1, 3}).description(""))
      ->type_name("1|3")
      ->group("Pictures");
}

void add_encoding_options(CLI::App& parser, PrepareOptions& options) {
  CLI::Option* const encoded =
      add_choice(
          parser, "--encoded", options.encoded, {"jpeg", "png"},
          "Store pictures encoded; they are decoded when they are used. PNG keeps every pixel, JPEG is "
          "smaller")
          ->group("Pictures");
  parser
      .add_option("--jpeg-quality", options.work.encoding.jpeg_quality,
                  "Quality of the JPEGs; up to 90 colors have half the resolution")
      ->check(in_range(1, 100))
      ->needs(encoded)
      ->capture_default_str()
      ->type_name("N")
      ->group("Pictures");
}

constexpr const char* kColumnGroup = "Columns of a CSV, features of TFRecords";

void add_column_options(CLI::App& parser, data_prep::ColumnOptions& columns) {
  const auto add = [&](const char* name, std::string& to, const char* help) {
    parser.add_option(name, to, help)->type_name("COLUMN")->group(kColumnGroup);
  };
  add("--path-column", columns.path,
      "Column of the picture files; by default filepaths, filename, image, id_code or similar");
  add("--label-column", columns.label,
      "Column of the classes; by default label, class, target or similar; of a table also its last column");
  add("--split-column", columns.split, "Column of the splits; by default \"data set\" or split");
  add("--group", columns.group, "Column whose equal values stay in the same split, such as the patient");
  add("--weight-column", columns.weight, "Column of the weight of each sample in the loss");
  add("--text-column", columns.text, "Column of the texts; by default text, review, sentence or similar");
  parser
      .add_option("--features", columns.features,
                  "Features of a table (its columns) or of I/O traces; by default all that have no other use")
      ->delimiter(',')
      ->type_name("COLUMN,...")
      ->group(kColumnGroup);
  parser
      .add_option("--categories", columns.categories,
                  "Columns whose numbers name categories; each value becomes a feature")
      ->delimiter(',')
      ->type_name("COLUMN,...")
      ->group(kColumnGroup);
  parser.add_option("--images", columns.images_folder, "The folder of the pictures that a CSV names")
      ->type_name("FOLDER")
      ->group(kColumnGroup);
}

// Options for files whose format is guessed wrongly; --dry-run shows the guess.
void add_reading_options(CLI::App& parser, data_prep::ReadingOptions& reading) {
  constexpr const char* kReading = "Reading tables and texts";
  add_choice(parser, "--encoding", reading.encoding, text_encodings(),
             "Encoding of a text without a byte order mark; by default UTF-8, or Windows-1252 if it is not "
             "UTF-8")
      ->group(kReading);
  parser
      .add_option("--separator", reading.separator,
                  "Character between the cells of a table, or the word tab; by default the one that cuts its "
                  "first rows into equally many cells")
      ->type_name("CHARACTER")
      ->group(kReading);
  add_choice(
      parser, "--quoting", reading.quoting, {"csv", "none"},
      "Whether double quotes enclose cells (csv) or are text (none); by default csv, and in a file with "
      "tabs what its cells suggest")
      ->group(kReading);
  add_choice(parser, "--header", reading.header, {"yes", "no"},
             "Whether the first row of a table names its columns")
      ->group(kReading);
  add_choice(parser, "--decimal", reading.decimal, {"point", "comma"},
             "The decimal sign of numbers that can be read in two ways, such as 4,000")
      ->group(kReading);
}

void add_array_options(CLI::App& parser, data_prep::ArrayOptions& arrays) {
  parser
      .add_option("--axes", arrays.axes,
                  "Letters for the axes of an array: N samples, H height, W width, C channels, L length, F "
                  "features; by default NHWC, NHW, NLF, NF or NL, by the numbers that it holds")
      ->type_name("LETTERS")
      ->group("Arrays");
}

void add_text_and_table_options(CLI::App& parser, data_prep::SourceOptions& samples) {
  parser
      .add_option("--length", samples.text.length,
                  "Words of each sample; by default enough for 95 % of the training texts")
      ->check(CLI::PositiveNumber)
      ->type_name("WORDS")
      ->group("Texts and tables");
  parser
      .add_option("--vocabulary", samples.text.vocabulary,
                  "Number of different words: the most frequent, with two for padding and unknown words")
      ->check(CLI::PositiveNumber)
      ->type_name("WORDS")
      ->capture_default_str()
      ->group("Texts and tables");
  for (const auto& [name, to, help] :
       {std::tuple("--padding", &samples.text.padding, "Where to fill a shorter text"),
        std::tuple("--truncating", &samples.text.truncating, "Where to cut a longer text")}) {
    parser.add_option(name, *to, help)
        ->check(CLI::IsMember({"pre", "post"}).description(""))
        ->type_name("pre|post")
        ->capture_default_str()
        ->group("Texts and tables");
  }
  parser.add_option("--stop-words", samples.text.stop_words, "Words to leave out")
      ->type_name("none|english|nltk")
      ->capture_default_str()
      ->group("Texts and tables");
  parser
      .add_option("--scale", samples.table.scale,
                  "How to scale the numbers of a table; standard is mean 0 and standard deviation 1, min-max "
                  "is 0 to 1")
      ->type_name("none|standard|min-max|yeo-johnson")
      ->capture_default_str()
      ->group("Texts and tables");
  parser
      .add_option("--window", samples.traces.window,
                  "Length of a window of a trace of I/O, in requests or in seconds (0.5s)")
      ->type_name("REQUESTS|SECONDS")
      ->capture_default_str()
      ->group("Texts and tables");
}

void add_split_options(CLI::App& parser, PrepareOptions& options) {
  parser
      .add_option("--split", options.split,
                  "Split the samples again, for example train=0.8,validation=0.1,test=0.1")
      ->type_name("NAME=SHARE,...")
      ->group("Splits");
  parser
      .add_option("--fold", options.fold,
                  "Use fold I of K as the test split, and the other folds as the training split")
      ->type_name("I/K")
      ->excludes("--split")
      ->group("Splits");
  parser
      .add_option(
          "--group-by", options.work.splits.group_by,
          "Regular expression on the names of the samples (with --group, on that column): samples for "
          "which the part in parentheses is equal stay in the same split")
      ->type_name("PATTERN")
      ->group("Splits");
  parser
      .add_flag("--no-stratify", options.unstratified, "Do not give each split the same share of every class")
      ->group("Splits");
  parser.add_option("--seed", options.work.splits.seed, "Seed of the splits and of the order")
      ->capture_default_str()
      ->type_name("SEED")
      ->group("Splits");
  parser
      .add_option("--order", options.order,
                  "Order of the samples in a split; auto shuffles samples that are sorted by class")
      ->capture_default_str()
      ->type_name("auto|source|shuffled")
      ->group("Splits");
  parser
      .add_flag("--allow-duplicates", options.work.allow_duplicates, "Accept the same sample in two splits")
      ->group("Splits");
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
  parser.add_option("source", work.source, "The file or folder with the samples")
      ->required()
      ->type_name("SOURCE");
  parser
      .add_option("-o,--output", work.output,
                  "The dataset to write: a file, or a folder with --shards (required without --dry-run)")
      ->type_name("FILE");
  parser
      .add_option("--kind", work.kind,
                  "Kind of the source, if it cannot be detected: " + join(data_prep::source_kinds()))
      ->type_name("KIND");
  parser
      .add_option("--class-names", work.samples.class_names,
                  "Names of the classes, in the order of their labels")
      ->delimiter(',')
      ->type_name("NAME,...");
  parser
      .add_option("--shards", work.shards,
                  "Write a folder of files instead of one file, with N files for the largest split")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  parser.add_flag("--skip-bad", work.skip_bad, "Leave out samples that cannot be read, and list them");
  parser
      .add_option("--stall-timeout", options->stall_timeout,
                  "With several ranks: end with code 87 if a rank gives no sign of life for so long; 0: wait "
                  "for ever")
      ->type_name("TIME")
      ->capture_default_str();
  parser.add_flag("--overwrite", work.overwrite, "Replace the output if it exists");
  parser.add_flag("--dry-run", work.dry_run,
                  "Print what the source is taken for and the sizes of the splits, and write nothing");
  add_picture_options(parser, *options);
  add_encoding_options(parser, *options);
  add_column_options(parser, work.samples.columns);
  add_reading_options(parser, work.samples.reading);
  add_array_options(parser, work.samples.arrays);
  add_text_and_table_options(parser, work.samples);
  add_split_options(parser, *options);
  parser.footer(kPrepareHelp);
  return [options, quality = parser.get_option("--jpeg-quality")] {
    options->has_quality = quality->count() > 0;
    return prepare(*options);
  };
}

}  // namespace convoke::app
