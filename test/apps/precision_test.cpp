// The precision in which a model was trained, and in which evaluate and predict compute.
#include "apps/place.hpp"
#include "convoke/run/model_file.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace {

double loss_in(const std::string& json) { return number_in(json, "\"loss\": ?([0-9.e-]+)"); }

}  // namespace

TEST_CASE(
    "a model stores that it was trained in bf16; it is evaluated in the requested precision, which is "
    "printed") {
  const Place place;
  const Outcome trained =
      place.train("run", "--set train.precision=bf16 --set train.emulate_bf16=true --set train.epochs=1");
  CAPTURE(trained.text);
  if (trained.says("this processor does not multiply bf16")) return;
  REQUIRE(trained.code == 0);
  CHECK(convoke::run::load_models(place / "run").description.precision == convoke::nn::Precision::kBfloat16);
  CHECK(convoke::run::load_models(place / "run/checkpoints/best.h5").description.precision ==
        convoke::nn::Precision::kBfloat16);

  // In bf16 the scores equal the run's to the last digit; in fp32 they differ slightly.
  const double own = loss_in(bytes_of(place / "run/summary.json"));
  const Outcome same = place.run("evaluate run --precision bf16 --json", mpirun(2));
  const Outcome plain = place.run("evaluate run --json");
  CAPTURE(same.text, plain.text);
  CHECK(loss_in(same.text) == own);
  CHECK(same.says(R"("computed_in":"bf16","trained_in":"bf16")"));
  CHECK(plain.says(R"("computed_in":"fp32","trained_in":"bf16")"));
  CHECK(loss_in(plain.text) != own);
  CHECK(loss_in(plain.text) == Approx(own).epsilon(0.02));
  CHECK(place.run("evaluate run").says("(fp32; trained in bf16)"));
  CHECK(place.run("evaluate run --precision bf16").says("(bf16)"));

  place.run("predict run data.h5 --output a.csv", mpirun(2))
      .ends(0)
      .once("note: computing in fp32; trained in bf16");
  place.run("predict run data.h5 --output b.csv --precision bf16").ends(0).never("note:");
  CHECK(bytes_of(place / "a.csv") != bytes_of(place / "b.csv"));
}

TEST_CASE("a model that was trained in fp32 is evaluated in fp32 without a note") {
  const Place place;
  REQUIRE(place.train("run", "--set train.epochs=1").code == 0);
  CHECK(convoke::run::load_models(place / "run").description.precision == convoke::nn::Precision::kFloat32);
  CHECK_THAT(bytes_of(place / "run/model.h5"), !Contains("precision"));
  CHECK(place.run("evaluate run").says("(fp32)"));
  CHECK_FALSE(place.run("predict run data.h5").says("note:"));
  place.run("evaluate run --precision half").ends(2).shows("fp32");
  place.run("evaluate run --json").ends(0).shows("\"trained_in\":\"fp32\"");
  place.run("export run --format onnx --output m.onnx").ends(0);
  place.run("evaluate m.onnx --data data.h5 --json").ends(0).never("trained_in");
}

TEST_CASE("bf16 is refused before the first step if the processor lacks it, and emulated on request") {
  const Place place;
  // oneDNN then sees a processor without AVX512_BF16 and AMX.
  const std::string old = "ONEDNN_MAX_CPU_ISA=AVX2 ", without = "ONEDNN_MAX_CPU_ISA=AVX512_CORE ";
  const std::string training =
      "train recipe.toml --quiet --output run --set train.epochs=1 --set train.precision=bf16";
  for (const std::string& ranks : {std::string(), mpirun(2)}) {
    place.run(training, old + ranks)
        .fails("this processor does not multiply bf16")
        .shows("hint: compute in fp32: leave out train.precision");
    CHECK_FALSE(fs::exists(place / "run"));
  }
  CHECK(place.run(training, without).code == 1);
  const Outcome hopeless = place.run(training + " --set train.emulate_bf16=true", old);
  CHECK(hopeless.code == 1);  // emulation needs AVX-512
  REQUIRE(place.train("plain", "--set train.epochs=1").code == 0);
  place.run("evaluate plain --precision bf16", old)
      .fails("this processor does not multiply bf16")
      .shows("or --precision");

  const Outcome emulated = place.run(training + " --set train.emulate_bf16=true", without);
  CAPTURE(emulated.text);
  if (emulated.says("this processor does not multiply bf16")) return;  // no AVX-512
  CHECK(emulated.code == 0);
}
