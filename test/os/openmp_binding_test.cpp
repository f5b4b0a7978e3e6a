#include "convoke/os/openmp_binding.hpp"

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
