#include "prepare.hpp"

#include <fmt/format.h>

#include <charconv>
#include <tuple>
#include <utility>

#include "convoke/core/error.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/sources/source_table.hpp"
#include "convoke/mpi/session.hpp"
#include "prepare_source.hpp"
#include "start.hpp"

namespace convoke::app {
namespace {

constexpr const char* kPrepareExamples = R"(Examples:
  convoke prepare mnist/ --output mnist.h5                  the four MNIST files, plain or .gz
  mpirun -n 4 convoke prepare birds/ --output birds.h5 --size 224x224
                                                            a class in each sub-folder of train/, valid/ and test/
  convoke prepare train.csv --output eyes.h5 --fit fundus --size 256x256 --group patient \
      --split train=0.8,validation=0.1,test=0.1             pictures named in a CSV; a patient's all on one side
  convoke prepare reviews.csv --output reviews.h5 --length 200 --vocabulary 20000
  convoke prepare leaves/ --output leaves.h5 --size 128x128 --fold 2/5

Without --split the source's own splits are kept; a source that has none is divided in train=0.8,test=0.2. A run that
was cut short goes on where it stopped when it is started again in the same way. What was unreadable, twice there or
looks alike is listed in FILE.findings.csv.
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
                  "Height and width of pictures; default: as they are, if all are alike")
      ->type_name("HxW")
      ->group("Pictures");
  parser
      .add_option(
          "--fit", picture.fit,
          "How a picture of another shape gets that size: area (stretched), letter-box (bars), crop (the "
          "middle), fundus (the eye is found)")
      ->type_name("FIT")
      ->capture_default_str()
      ->group("Pictures");
  parser.add_option("--channels", picture.channels, "1: grey, 3: RGB; default: as the first picture")
      ->check(CLI::IsMember({1, 3}))
      ->type_name("1|3")
      ->group("Pictures");
}

void add_column_options(CLI::App& parser, data_prep::ColumnOptions& columns) {
  const auto add = [&](const char* name, std::string& to, const char* help) {
    parser.add_option(name, to, help)->type_name("COLUMN")->group("Columns of a CSV, features of TFRecords");
  };
  add("--path-column", columns.path,
      "Of the pictures' files (default: filepaths, filename, image, id_code, ...)");
  add("--label-column", columns.label,
      "Of the classes (default: labels, label, class, level, diagnosis, ...)");
  add("--split-column", columns.split, "Of the splits (default: \"data set\", split)");
  add("--group", columns.group, "Of what stays on one side of a split, e.g. the patient");
  add("--weight-column", columns.weight, "Of what each sample counts in the loss");
  add("--text-column", columns.text, "Of the texts (default: text, review, sentence, ...)");
  parser
      .add_option("--features", columns.features,
                  "Of a table's features (default: all that have no other use)")
      ->delimiter(',')
      ->type_name("COLUMN,...")
      ->group("Columns of a CSV, features of TFRecords");
  parser.add_option("--images", columns.images_folder, "The folder of the pictures that a CSV names")
      ->type_name("FOLDER")
      ->group("Columns of a CSV, features of TFRecords");
}

void add_text_and_table_options(CLI::App& parser, data_prep::SourceOptions& samples) {
  parser
      .add_option("--length", samples.text.length,
                  "Words of a text; default: what 95 % of the training texts stay within")
      ->check(CLI::PositiveNumber)
      ->type_name("WORDS")
      ->group("Texts and tables");
  parser
      .add_option("--vocabulary", samples.text.vocabulary,
                  "At most so many numbers of words: the most frequent, padding and the unknown word")
      ->check(CLI::PositiveNumber)
      ->type_name("WORDS")
      ->capture_default_str()
      ->group("Texts and tables");
  for (const auto& [name, to, help] :
       {std::tuple("--padding", &samples.text.padding, "Where a shorter text is filled up: pre, post"),
        std::tuple("--truncating", &samples.text.truncating, "Where a longer text is cut: pre, post")}) {
    parser.add_option(name, *to, help)
        ->check(CLI::IsMember({"pre", "post"}))
        ->type_name("SIDE")
        ->capture_default_str()
        ->group("Texts and tables");
  }
  parser.add_option("--stop-words", samples.text.stop_words, "Words that are left out: none, english")
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Texts and tables");
  parser
      .add_option("--scale", samples.table.scale,
                  "Numbers of a table: none, standard (mean 0, deviation 1), min-max (0..1), yeo-johnson")
      ->type_name("HOW")
      ->capture_default_str()
      ->group("Texts and tables");
}

void add_split_options(CLI::App& parser, PrepareOptions& options) {
  parser.add_option("--split", options.split, "Divide anew, e.g. train=0.8,validation=0.1,test=0.1")
      ->type_name("NAME=PART,...")
      ->group("Splits");
  parser
      .add_option("--fold", options.fold, "Fold I of K is the test split, the others are the training split")
      ->type_name("I/K")
      ->excludes("--split")
      ->group("Splits");
  parser.add_flag("--no-stratify", options.unstratified, "Do not spread every class alike")->group("Splits");
  parser.add_option("--seed", options.work.splits.seed, "Seed of the splits and of the order")
      ->capture_default_str()
      ->type_name("SEED")
      ->group("Splits");
  parser
      .add_option(
          "--order", options.order,
          "Of the samples within a split: source, shuffled; auto: shuffled, where they lie class by class")
      ->capture_default_str()
      ->type_name("ORDER")
      ->group("Splits");
  parser
      .add_flag("--allow-duplicates", options.work.allow_duplicates, "The same sample may be in two splits")
      ->group("Splits");
}

}  // namespace

void add_prepare(CLI::App& parser, PrepareOptions& options) {
  data_prep::PrepareOptions& work = options.work;
  parser.add_option("source", work.source, "Where the samples are: a file or a folder")
      ->required()
      ->type_name("SOURCE");
  parser.add_option("-o,--output", work.output, "The dataset to write: a file, or with --shards a folder")
      ->required()
      ->type_name("FILE");
  parser
      .add_option("--kind", work.kind,
                  "Kind of source, if it cannot be told: " + join(data_prep::source_kinds()))
      ->type_name("KIND");
  parser
      .add_option("--class-names", work.samples.class_names,
                  "Names of the classes, in the order of the labels")
      ->delimiter(',')
      ->type_name("NAME,...");
  parser
      .add_option("--shards", work.shards,
                  "Write a folder of files instead of one file, so many for the largest split")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  parser.add_flag("--skip-bad", work.skip_bad, "Leave out what cannot be read, and list it");
  parser.add_flag("--overwrite", work.overwrite, "Replace the output if it exists");
  add_picture_options(parser, options);
  add_column_options(parser, work.samples.columns);
  add_text_and_table_options(parser, work.samples);
  add_split_options(parser, options);
  parser.footer(kPrepareExamples);
}

int prepare(const PrepareOptions& options) {
  // 1. Who decodes.
  mpi::Session session;

  // 2. What is wanted.
  data_prep::PrepareOptions work = options.work;
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

  // 3. Decode: every rank an equal share, into one file.
  settled(session.world(), 1);
  prepare_source(work, session.world());
  return EXIT_SUCCESS;
}

}  // namespace convoke::app
