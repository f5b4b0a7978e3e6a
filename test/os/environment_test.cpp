#include "convoke/os/environment.hpp"

#include "support/catch.hpp"
#include "support/variable.hpp"

namespace os = convoke::os;

TEST_CASE("OpenMP does not see variables that bind threads") {
  std::array<std::string, 6> entries{"OMP_PROC_BIND=true", "PATH=/bin",      "OMP_PROC_BINDING=x",
                                     "OMP_NUM_THREADS=2",  "OMP_PLACES={0}", "GOMP_CPU_AFFINITY=0 0"};
  std::array<char*, 7> environment{};
  for (std::size_t i = 0; i < entries.size(); ++i) environment[i] = entries[i].data();
  os::hide_openmp_binding(environment.data());
  CHECK(entries == std::array<std::string, 6>{"oMP_PROC_BIND=true", "PATH=/bin", "OMP_PROC_BINDING=x",
                                              "OMP_NUM_THREADS=2", "oMP_PLACES={0}",
                                              "gOMP_CPU_AFFINITY=0 0"});
}

TEST_CASE("hidden variables are listed by their own names") {
  CHECK(os::hidden_openmp_binding().empty());
  const Variable hidden("oMP_PLACES", "cores");
  CHECK(os::hidden_openmp_binding() == std::vector<std::string>{"OMP_PLACES=cores"});
}

TEST_CASE("numbers of nodes are read in Slurm's notation") {
  using Numbers = std::vector<std::int64_t>;
  const Variable set("CONVOKE_TEST_VARIABLE", "4(x2),3");
  CHECK(os::repeated_numbers_in("CONVOKE_TEST_VARIABLE") == Numbers{4, 4, 3});
  const Variable none("CONVOKE_TEST_VARIABLE", std::nullopt);
  CHECK(os::repeated_numbers_in("CONVOKE_TEST_VARIABLE").empty());
}

TEST_CASE("an empty variable counts as not set") {
  const Variable set("CONVOKE_TEST_VARIABLE", "12 apples");
  CHECK(os::variable("CONVOKE_TEST_VARIABLE") == "12 apples");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 12);
  os::set_default("CONVOKE_TEST_VARIABLE", "13");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 12);
  const Variable empty("CONVOKE_TEST_VARIABLE", "");
  CHECK_FALSE(os::variable("CONVOKE_TEST_VARIABLE"));
  const Variable words("CONVOKE_TEST_VARIABLE", "apples");
  CHECK_FALSE(os::number_in("CONVOKE_TEST_VARIABLE"));
  const Variable none("CONVOKE_TEST_VARIABLE", std::nullopt);
  CHECK_FALSE(os::variable("CONVOKE_TEST_VARIABLE"));
  os::set_default("CONVOKE_TEST_VARIABLE", "13");
  CHECK(os::number_in("CONVOKE_TEST_VARIABLE") == 13);
  CHECK_FALSE(os::host_name().empty());
}
