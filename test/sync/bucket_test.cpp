#include "convoke/sync/bucket.hpp"

#include "convoke/sync/allreduce.hpp"
#include "support/catch.hpp"

using namespace convoke::sync;

namespace {

/// Writes what is called into a text: "s0" start, "c0" combine, "f0" finish of bucket 0.
class WrittenSum final : public BucketSum {
 public:
  WrittenSum(std::string& text, int number, const bool& over) : text_(text), number_(number), over_(over) {}
  void start() override { text_ += "s" + std::to_string(number_); }
  bool combine(bool wait) override { return write("c", wait); }
  bool finish(bool wait) override { return write("f", wait); }

 private:
  bool write(const char* what, bool wait) {
    if (!over_ && !wait) return false;
    text_ += what + std::to_string(number_);
    return true;
  }

  std::string& text_;
  int number_;
  const bool& over_;
};

std::size_t elements_of(const std::vector<Bucket>& buckets, Number wire) {
  std::size_t elements = 0;
  for (const Bucket& bucket : buckets) elements += bucket.wire == wire ? bucket.size() : 0;
  return elements;
}

}  // namespace

TEST_CASE("buckets follow one another and cover the exchange") {
  for (const int ranks : {2, 16, 17, 1000}) {
    for (const Wire wire : {Wire::kFloat32, Wire::kBfloat16}) {
      const std::vector<Bucket> buckets = cut_buckets({.elements = 10'007, .bf16_elements = 9000},
                                                      {.bucket_bytes = 4000, .wire = wire}, ranks);
      std::size_t end = 0;
      for (const Bucket& bucket : buckets) {
        CHECK(bucket.begin == end);
        CHECK(bucket.size() > 0);
        end = bucket.end;
      }
      CHECK(end == 10'007);
      CHECK(elements_of(buckets, Number::kBfloat16) == (wire == Wire::kBfloat16 ? 9000 : 0));
    }
  }
  CHECK(cut_buckets({.elements = 100}, {}, 1).empty());
  CHECK(cut_buckets({.elements = 0}, {}, 4).empty());
}

TEST_CASE("many ranks leave fp32 and fixed point to the library, but sum bf16 in slices") {
  const auto algorithm = [](int ranks, Wire wire) {
    return cut_buckets({.elements = 100, .bf16_elements = 100}, {.wire = wire}, ranks).front().algorithm;
  };
  CHECK(algorithm(16, Wire::kFloat32) == Algorithm::kSlices);
  CHECK(algorithm(17, Wire::kFloat32) == Algorithm::kLibrary);
  CHECK(algorithm(17, Wire::kBfloat16) == Algorithm::kSlices);
  const std::vector<Bucket> exact =
      cut_buckets({.elements = 100, .fixed = true, .bf16_elements = 100}, {.wire = Wire::kBfloat16}, 17);
  CHECK(exact.front().wire == Number::kFixed64);
  CHECK(exact.front().algorithm == Algorithm::kLibrary);
}

TEST_CASE("a step that does not wait goes on where it has stopped") {
  std::string text;
  bool over = false;
  std::vector<std::unique_ptr<BucketSum>> sums;
  for (int i = 0; i < 2; ++i) sums.push_back(std::make_unique<WrittenSum>(text, i, over));
  AllReduce exchange(std::vector<Bucket>{{0, 10}, {10, 20}}, std::move(sums));
  exchange.begin_step();
  exchange.gradients_ready(10);
  CHECK(text == "s0");
  CHECK(!exchange.finish_gradients(false));
  CHECK(text == "s0s1");
  CHECK(!exchange.finish_gradients(false));
  over = true;
  CHECK(exchange.finish_gradients(false));
  CHECK(text == "s0s1c0c1f0f1");
}
