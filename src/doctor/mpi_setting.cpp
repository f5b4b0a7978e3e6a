#include "doctor/mpi_setting.hpp"

#include <cstdlib>

#include "convoke/mpi/control_variable.hpp"
#include "convoke/os/variable.hpp"

namespace convoke::doctor {

std::string mpi_setting(const std::string& name, const std::string& otherwise, bool ask) {
  if (const std::optional<std::string> value = os::variable("OMPI_MCA_" + name)) return *value;
  return ask ? mpi::control_variable(name).value_or(otherwise) : otherwise;
}

}  // namespace convoke::doctor
