// A program outside Convoke's tree that uses the other two components, each by a function that needs its
// library.
#include <convoke/data_prep/files/numbers.hpp>
#include <convoke/slurm/partition.hpp>
#include <iostream>

int main() {
  std::cout << "seconds " << convoke::slurm::parse_time("1:30:00") << ", number "
            << convoke::data_prep::number_in(" 2.5 ").value_or(0) << "\n";
}
