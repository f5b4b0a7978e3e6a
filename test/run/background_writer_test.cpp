#include "convoke/run/background_writer.hpp"

#include "convoke/hdf5/file.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using convoke::run::BackgroundWriter;
using namespace std::chrono_literals;

TEST_CASE("work is done in parallel to the caller, one piece after the other", "[threads]") {
  std::vector<int> order;
  std::atomic<bool> may_go = false;
  BackgroundWriter writer;
  CHECK(writer.ready(0ms));
  writer.give([&] {
    while (!may_go) std::this_thread::sleep_for(1ms);
    order.push_back(1);
  });
  CHECK_FALSE(writer.ready(5ms));  // still working
  may_go = true;
  CHECK(writer.ready(10s));
  writer.give([&] { order.push_back(2); });
  writer.give([&] { order.push_back(3); });
  writer.wait();
  CHECK(order == std::vector<int>{1, 2, 3});
  CHECK(writer.longest_seconds() > 0);
}

TEST_CASE("failures are reported, and the next piece is done", "[threads]") {
  BackgroundWriter writer;
  writer.give([] { throw std::runtime_error("no space"); });
  bool done = false;
  writer.give([&] { done = true; });
  writer.wait();
  CHECK(done);
  CHECK(writer.failures() == std::vector<std::string>{"no space"});
  CHECK(writer.failures().empty());
}

TEST_CASE("the given work is finished before the writer ends", "[threads]") {
  bool done = false;
  {
    BackgroundWriter writer;
    writer.give([&] {
      std::this_thread::sleep_for(10ms);
      done = true;
    });
  }
  CHECK(done);
}

TEST_CASE("two threads can write and read HDF5 files at the same time", "[threads]") {
  const TemporaryFolder folder;
  const std::vector<float> values(1000, 1.5F);
  BackgroundWriter writer;
  const auto write = [&](const std::string& name) {
    convoke::hdf5::File file = convoke::hdf5::File::create(folder / name);
    for (int i = 0; i < 50; ++i) file.write("values" + std::to_string(i), values);
    file.close();
  };
  writer.give([&] { write("there.h5"); });
  write("here.h5");
  writer.wait();
  CHECK(writer.failures().empty());
  for (const char* name : {"there.h5", "here.h5"}) {
    CHECK(convoke::hdf5::File::open(folder / name).read<float>("values49") == values);
  }
}
