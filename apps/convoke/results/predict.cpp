#include "cli/options.hpp"
#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cluster/start.hpp"
#include "convoke/core/csv.hpp"
#include "convoke/core/error.hpp"
#include "convoke/core/finite.hpp"
#include "convoke/core/text.hpp"
#include "convoke/data_prep/files/npy.hpp"
#include "convoke/engine/evaluator.hpp"
#include "convoke/mpi/session.hpp"
#include "convoke/mpi/together.hpp"
#include "convoke/nn/losses/outputs.hpp"
#include "convoke/nn/plan/parameters.hpp"
#include "convoke/os/atomic_file.hpp"
#include "convoke/run/machine.hpp"
#include "convoke/vote/rule.hpp"
#include "results/models.hpp"
#include "results/samples_from.hpp"

namespace convoke::app {
namespace {

struct PredictOptions : ModelOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> texts;  ///< to label, after the inputs
  std::string output;              ///< empty: CSV on standard output
  SampleOptions samples;
  std::int64_t batch = 0;  ///< samples that run together; 0: auto
};

constexpr const char* kPredictHelp = R"(Examples:
  convoke predict runs/first seven.png eight.jpg                  labels and probabilities as CSV
  convoke predict ensemble.h5 batch.npy --output labels.csv       an array (N, H, W, C) of 0..255
  convoke predict sentiment.h5 --text "I liked it." --text "Never again."
  convoke predict flowers.h5 rows.csv                             rows of a table, as prepared
  mpirun -n 4 convoke predict model.h5 mnist.h5 --split test --output labels.npy
  convoke predict model.h5 x.npy --raw --output y.npy --layout nchw

Output formats:
  .csv    input,index,label,class and a probability for each class (of an ensemble, the mean);
          of a model that predicts a number, its value instead of probabilities
  .npy    float32 (N, 1 + classes): the label and the probabilities; or (N, 2) with the value
  --raw   float32 (N, ...): the output of the last layer, pictures as (C, H, W); of an ensemble
          (M, N, ...), one part for each member

With --raw, floating-point values of NumPy arrays are used as they are. Integers, pictures and datasets are
normalized as in training.
)";

bool gives_values(const run::ModelDescription& model) {
  return nn::predicts_number(*model.loss, model.graph.output_shape().elements());
}

/// The labels (n) and mean probabilities (n, classes) of some samples; of a model that gives values, the mean
/// outputs (n).
struct Prediction {
  std::vector<std::int32_t> labels;
  std::vector<float> means;
};

void append(Prediction& all, const std::vector<std::int32_t>& labels, const std::vector<double>& means) {
  all.labels.insert(all.labels.end(), labels.begin(), labels.end());
  for (const double mean : means) all.means.push_back(static_cast<float>(mean));
}

// Returns how many samples are held at once: about 64 MiB, at most 4,096, and whole chunks for each thread.
std::int64_t piece_of(const engine::Evaluator& evaluator, int threads) {
  constexpr std::int64_t kValues = 16 << 20, kMost = 4096;
  const std::int64_t samples =
      std::clamp<std::int64_t>(kValues / evaluator.input_shape().elements(), 1, kMost);
  const std::int64_t chunks = threads * evaluator.chunk();
  return (samples + chunks - 1) / chunks * chunks;
}

// Calls action(samples) for samples begin .. end - 1, counted over all sources, in pieces of `piece` samples.
void for_pieces(const std::vector<SampleSource>& sources, std::int64_t begin, std::int64_t end,
                std::int64_t piece, const std::function<void(std::span<const float>)>& action) {
  std::vector<float> samples;
  const auto flush = [&] {
    if (!samples.empty()) action(samples);
    samples.clear();
  };
  std::int64_t start = 0;  // of a source, counted over all
  std::int64_t pending = 0;
  for (const SampleSource& source : sources) {
    const std::int64_t last = std::min(end, start + source.count);
    for (std::int64_t first = std::max(begin, start); first < last;) {
      const std::int64_t n = std::min(last - first, piece - pending);
      std::vector<float> part = source.load(first - start, n);
      if (samples.empty()) {
        samples = std::move(part);
      } else {
        samples.insert(samples.end(), part.begin(), part.end());
      }
      first += n;
      pending += n;
      if (pending == piece) {
        flush();
        pending = 0;
      }
    }
    start += source.count;
  }
  flush();
}

struct Views : engine::TestViews {
  std::shared_ptr<const data::Augmenter> augmenter;  ///< null: one view, the sample as it is
};

// Makes a view of normalized samples (n, C, H, W): converts them to pixels (H, W, C) and augments them.
// `first`: the number of the first sample.
std::vector<float> seen_in(std::int64_t view, const Views& views, std::span<const float> samples,
                           std::int64_t first, const run::ModelDescription& model) {
  const Shape shape = model.graph.input_shape();
  const auto channels = static_cast<std::size_t>(shape[0]),
             area = static_cast<std::size_t>(shape[1] * shape[2]);
  const data::Normalization& normalization = model.normalization;
  std::vector<float> pixels(channels * area), seen(samples.size());
  for (std::size_t start = 0; start < samples.size(); start += pixels.size(), ++first) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const std::size_t c = i % channels;
      const float input = samples[start + normalization.place(c) * area + i / channels],
                  shift = normalization.shift[c], scale = normalization.scale[c];
      pixels[i] = (input - shift) / scale;
      // As stored, up to the rounding of both conversions: some changes of color have a threshold.
      const float rounding =
          4 * std::numeric_limits<float>::epsilon() * (std::abs(input) + std::abs(shift)) / std::abs(scale);
      const float whole = std::nearbyint(pixels[i]);
      if (std::abs(pixels[i] - whole) <= rounding) pixels[i] = whole;
    }
    views.augmenter->picture(pixels.data(), {.seed = views.seed, .epoch = static_cast<std::uint32_t>(view)},
                             static_cast<std::uint64_t>(first), normalization, seen.data() + start);
  }
  return seen;
}

// Throws Error naming the first sample whose outputs, (n, k), are not finite; of `raw` outputs, which may be
// -inf, the first that is NaN. `first`: its place, counted over all sources.
void require_numbers(std::span<const float> outputs, std::span<const float> samples, std::int64_t first,
                     const std::vector<SampleSource>& sources, std::int64_t n, bool raw) {
  const auto bad = std::ranges::find_if(
      outputs, [raw](float value) { return raw ? std::isnan(value) : !std::isfinite(value); });
  if (bad == outputs.end() || n == 0) return;
  const std::size_t i =
      static_cast<std::size_t>(bad - outputs.begin()) / (outputs.size() / static_cast<std::size_t>(n));
  const std::size_t each = samples.size() / static_cast<std::size_t>(n);
  const bool sample_is_bad = !all_finite(samples.subspan(i * each, each));
  std::int64_t place = first + static_cast<std::int64_t>(i);
  std::size_t source = 0;
  while (place >= sources[source].count) place -= sources[source++].count;
  throw Error(fmt::format("{}: the model gives {} for sample {}", sources[source].name,
                          std::isnan(*bad) ? NAN : *bad, place),  // without the sign of a NaN
              sample_is_bad
                  ? "the sample itself has values that are not finite"
                  : "the sample is finite, so the model's weights or this input make its sums overflow");
}

Prediction predict_range(const std::vector<SampleSource>& sources, std::int64_t begin, std::int64_t end,
                         std::int64_t piece, engine::Evaluator& evaluator, const run::ModelSet& models,
                         vote::Rule rule, const Views& views) {
  Prediction result;
  for_pieces(sources, begin, end, piece, [&](std::span<const float> samples) {
    const auto count = static_cast<std::int64_t>(samples.size()) / evaluator.input_shape().elements();
    const bool values = evaluator.predicts_number();
    vote::VoteCounts counts(count, evaluator.classes()), sums(values ? count : 0, 1);
    for (const run::Member& member : models.members) {
      evaluator.load(member.parameters);
      std::vector<float> outputs = views.mean([&](std::int64_t view) {
        if (view == 0) return evaluator.outputs(samples);
        return evaluator.outputs(seen_in(view, views, samples, begin, models.description));
      });
      require_numbers(outputs, samples, begin, sources, count, false);
      if (values) sums.add(outputs);
      counts.add(evaluator.to_probabilities(outputs));
    }
    begin += count;
    append(result, vote::elect(rule, counts), (values ? sums : counts).mean_probabilities());
  });
  return result;
}

// Returns the outputs of the last layer, (n, ...) for each member.
std::vector<std::vector<float>> raw_range(const std::vector<SampleSource>& sources, std::int64_t begin,
                                          std::int64_t end, std::int64_t piece, engine::Evaluator& evaluator,
                                          const run::ModelSet& models) {
  std::vector<std::vector<float>> outputs(models.members.size());
  for_pieces(sources, begin, end, piece, [&](std::span<const float> samples) {
    for (std::size_t m = 0; m < outputs.size(); ++m) {
      evaluator.load(models.members[m].parameters);
      const std::vector<float> rows = evaluator.raw(samples);
      const auto count = static_cast<std::int64_t>(samples.size()) / evaluator.input_shape().elements();
      require_numbers(rows, samples, begin + std::ssize(outputs[m]) / evaluator.output_shape().elements(),
                      sources, count, true);
      outputs[m].insert(outputs[m].end(), rows.begin(), rows.end());
    }
  });
  return outputs;
}

std::string to_csv(const Prediction& prediction, const std::vector<SampleSource>& sources,
                   const run::ModelDescription& model) {
  const bool values = gives_values(model), labeled = !values || model.classes() > 1;
  const std::int64_t classes = model.classes();
  std::string csv = labeled ? "input,index,label,class" : "input,index";
  if (values) csv += ",value";
  for (std::int64_t c = 0; c < classes && !values; ++c)
    csv += "," + csv_cell("p(" + model.class_name(c) + ")");
  csv += "\n";
  std::size_t sample = 0;
  for (const SampleSource& source : sources) {
    for (std::int64_t i = 0; i < source.count; ++i, ++sample) {
      const std::int32_t label = prediction.labels[sample];
      csv += fmt::format("{},{}", csv_cell(source.name), i);
      if (labeled) csv += fmt::format(",{},{}", label, csv_cell(model.class_name(label)));
      if (values) csv += fmt::format(",{:.9g}", prediction.means[sample]);
      for (std::size_t c = 0; c < static_cast<std::size_t>(classes) && !values; ++c) {
        csv += fmt::format(",{:.6f}", prediction.means[sample * static_cast<std::size_t>(classes) + c]);
      }
      csv += "\n";
    }
  }
  return csv;
}

// `means`: those of each sample, its probabilities or its value.
void write_npy(const std::filesystem::path& file, const Prediction& prediction, std::int64_t means) {
  const auto width = static_cast<std::size_t>(means);
  std::vector<float> table;
  for (std::size_t i = 0; i < prediction.labels.size(); ++i) {
    table.push_back(static_cast<float>(prediction.labels[i]));
    const auto row = prediction.means.begin() + static_cast<std::ptrdiff_t>(i * width);
    table.insert(table.end(), row, row + means);
  }
  os::replace_file(file, [&](const std::filesystem::path& temporary) {
    data_prep::write_npy(temporary, Shape{static_cast<std::int64_t>(prediction.labels.size()), 1 + means},
                         table);
  });
}

// Writes the outputs of all ranks: (N, ...) of a model, (M, N, ...) of an ensemble. Collective.
void write_raw(const std::filesystem::path& file, const std::vector<std::vector<float>>& mine,
               std::int64_t count, const Shape& output, bool ensemble, const mpi::Communicator& world) {
  std::vector<float> values;
  for (const std::vector<float>& member : mine) {
    const std::vector<float> all = mpi::gather_values(world, member);
    values.insert(values.end(), all.begin(), all.end());
  }
  if (!world.root()) return;
  std::vector<std::int64_t> extents{count};
  if (ensemble) extents.insert(extents.begin(), static_cast<std::int64_t>(mine.size()));
  extents.insert(extents.end(), output.extents().begin(), output.extents().end());
  os::replace_file(file, [&](const std::filesystem::path& temporary) {
    data_prep::write_npy(temporary, Shape(extents), values);
  });
}

// Labels pictures, texts, rows of a table, a NumPy batch or a dataset with a model or an ensemble; with
// --raw, writes the network's own output.
int predict(const PredictOptions& options) {
  // 1. The models, and the samples to label.
  const std::string extension = lower_case(std::filesystem::path(options.output).extension().string());
  if (!options.output.empty() && extension != ".csv" && extension != ".npy") {
    throw Error(fmt::format("{}: unknown file type", options.output),
                "predictions are written as .csv or .npy");
  }
  if (!options.output.empty()) {  // before the long work
    os::require_replaceable(options.output);
    for (const std::string& input : options.inputs) os::require_other_file(options.output, input);
  }
  if (options.samples.raw && extension != ".npy") {
    throw Error("--raw writes an array, which needs a file", "add --output FILE.npy");
  }
  if (options.inputs.empty() && options.texts.empty()) {
    throw Error("nothing to label", "pass files, or texts with --text \"...\"");
  }
  mpi::Session session;
  const mpi::Communicator& world = session.world();
  const run::Machine machine = bound_machine(world, options.threads);
  ModelsInUse in_use = models_for(options, world);
  run::ModelSet& models = in_use.models;
  const std::optional<recipe::Recipe>& recipe = in_use.recipe;
  const vote::Rule rule = vote::find_rule(in_use.rule);
  if (world.root() && options.precision != models.description.precision.value_or(nn::Precision::kFloat32)) {
    fmt::print(stderr, "note: computing in {}\n", in_use.precision);
  }
  std::vector<SampleSource> sources;
  std::int64_t count = 0;
  for (const std::string& input : options.inputs) {
    sources.push_back(samples_from(input, options.samples, models.description, in_use.file.string(), world));
  }
  for (SampleSource& text : samples_from_texts(options.texts, models.description)) {
    sources.push_back(std::move(text));
  }
  for (const SampleSource& source : sources) count += source.count;

  // 2. Each rank labels a part of the samples.
  const auto how = [&] {
    engine::EvaluatorOptions evaluation =
        evaluator_options(models.description, machine.threads_for(options.threads), options.precision);
    evaluation.chunk = std::min(options.batch, std::max<std::int64_t>(1, count));  // on any number of ranks
    evaluation.folded = options.precision == nn::Precision::kFloat32;
    return evaluation;
  };
  if (!options.samples.raw) {
    const SampleSource& first = sources.front();
    inspect_outputs(models, how(), world, [&](engine::Evaluator& evaluator) {
      return evaluator.raw(first.load(0, std::min(first.count, kFirstOutputs)));
    });
  }
  const engine::EvaluatorOptions evaluation = how();
  engine::Evaluator evaluator(models.description.graph, evaluation);
  const std::int64_t piece = piece_of(evaluator, evaluation.threads);
  const std::int64_t begin = count * world.rank() / world.size();
  const std::int64_t end = count * (world.rank() + 1) / world.size();
  if (options.samples.raw) {
    const auto rows =
        mpi::together(world, [&] { return raw_range(sources, begin, end, piece, evaluator, models); });
    write_raw(options.output, rows, count, evaluator.output_shape(), models.ensemble, world);
    return EXIT_SUCCESS;
  }
  const data::SampleType type =
      models.description.float_images ? data::SampleType::kFloat32 : data::SampleType::kUint8;
  const Views views{{options.views, recipe ? recipe->seed : 0},
                    test_augmenter(options.views, models.description, recipe, type)};
  const Prediction mine = mpi::together(
      world, [&] { return predict_range(sources, begin, end, piece, evaluator, models, rule, views); });
  const Prediction all{mpi::gather_values(world, mine.labels), mpi::gather_values(world, mine.means)};
  if (!world.root()) return EXIT_SUCCESS;

  // 3. Write the labels.
  if (extension == ".npy") {
    write_npy(options.output, all, gives_values(models.description) ? 1 : models.description.classes());
  } else if (extension == ".csv") {
    os::replace_text(options.output, to_csv(all, sources, models.description));
  } else {
    fmt::print("{}", to_csv(all, sources, models.description));
  }
  return EXIT_SUCCESS;
}

}  // namespace

std::function<int()> add_predict(CLI::App& parser) {
  auto options = std::make_shared<PredictOptions>();
  add_model(parser, options->model);
  add_option(parser, "inputs", options->inputs, "INPUT",
             "Pictures; texts or table rows (.csv, .tsv); a text in each line (.txt); arrays (N, ...) "
             "(.npy, .npz, .h5, .mat); datasets (.h5)");
  add_option(parser, "--text", options->texts, "TEXT", "A text to label")->allow_extra_args(false);
  add_option(parser, "--output", options->output, "FILE",
             "The file to write, .csv or .npy; CSV on the terminal by default");
  add_option(parser, "--split", options->samples.split, "NAME",
             "The split to label of datasets, .npz archives and HDF5 files")
      ->capture_default_str();
  CLI::Option* rule = add_option(parser, "--rule", options->rule, "RULE",
                                 "The voting rule of an ensemble; that of the run by default");
  parser.add_flag("--raw", options->samples.raw, "Write the output of the last layer, as .npy")
      ->excludes(rule);
  add_choice(
      parser, "--layout", options->samples.layout,
      {{"nhwc", BatchLayout::kNhwc}, {"nchw", BatchLayout::kNchw}},
      "The order of the axes in arrays of pictures; by default that of `prepare --axes`, or by their shape");
  add_option(parser, "--batch", options->batch, "N",
             "Samples that each thread runs together; by default from the size of the network")
      ->check(in_range(1, 100'000));
  add_model_reading(parser, options->reading);
  add_views(parser, options->views)->excludes("--raw");
  add_precision(parser, options->precision);
  add_threads(parser, options->threads);
  parser.footer(kPredictHelp);
  return [options] { return predict(*options); };
}

}  // namespace convoke::app
