#include "convoke/supervise/launch_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include "convoke/core/error.hpp"
#include "convoke/core/table.hpp"
#include "convoke/core/text.hpp"

namespace convoke::supervise {
namespace {

using Words = std::vector<std::string>;

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> kRanks{"-n", "-np", "--np", "-c"};
constexpr std::array<std::string_view, 2> kSrunRanks{"--ntasks", "-n"};  // its -c is --cpus-per-task
constexpr std::array<std::string_view, 2> kSrunNodes{"--nodes", "-N"}, kSrunNodeList{"--nodelist", "-w"};
constexpr std::array<std::string_view, 3> kHostList{"--host", "-host", "-H"};
constexpr std::array<std::string_view, 4> kHostFile{"--hostfile", "-hostfile", "--machinefile",
                                                    "-machinefile"};
constexpr std::array<std::string_view, 4> kWorkFolder{"--wdir", "--wd", "-wdir", "-wd"};
constexpr std::array<std::string_view, 2> kSrunWorkFolder{"--chdir", "-D"};
constexpr std::array<std::string_view, 1> kOutput{"--output"}, kResume{"--resume"};
// With the names of Debian and MPICH.
constexpr std::array<std::string_view, 9> kMpiruns{"mpirun",        "mpirun.openmpi",  "mpirun.mpich",
                                                   "mpiexec",       "mpiexec.openmpi", "mpiexec.mpich",
                                                   "mpiexec.hydra", "orterun",         "prterun"};

/// An option among words: its value is the word `value` from the character `from` on.
struct Place {
  std::size_t option, value, from;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Finds "--name VALUE", "--name=VALUE" or "-n4" in words[begin, end).
std::optional<Place> find_option(const Words& words, std::size_t begin, std::size_t end, Names names) {
  for (std::size_t i = begin; i < end; ++i) {
    for (const std::string_view name : names) {
      if (words[i] == name && i + 1 < end) return Place{i, i + 1, 0};
      if (words[i].starts_with(name) && words[i].size() > name.size() && words[i][name.size()] == '=')
        return Place{i, i, name.size() + 1};
      if (name.size() == 2 && words[i].starts_with(name) && words[i].size() > 2 && is_digit(words[i][2]))
        return Place{i, i, 2};
    }
  }
  return std::nullopt;
}

std::string value_at(const Words& words, const Place& place) { return words[place.value].substr(place.from); }

void set_value(Words& words, const Place& place, const std::string& value) {
  words[place.value] = words[place.value].substr(0, place.from) + value;
}

std::string name_of(const std::string& word) { return std::filesystem::path(word).filename().string(); }

bool is_launcher(const std::string& word) { return is_mpirun(word) || name_of(word) == "srun"; }

// Returns 0 if the text is not a whole number.
int number(std::string_view text) { return parse_number<int>(text).value_or(0); }

std::string to_list(const std::vector<LaunchHost>& hosts) {
  std::string list;
  for (const LaunchHost& host : hosts) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.name,
                        host.slots > 0 ? fmt::to_string(host.slots) : "*");
  }
  return list;
}

// Returns the hosts of a list such as "a:2,b,b", as in `mpirun --host`: b has two slots.
std::vector<LaunchHost> hosts_in_list(const std::string& list) {
  std::vector<LaunchHost> hosts;
  std::istringstream in(list);
  for (std::string entry; std::getline(in, entry, ',');) {
    const std::size_t colon = entry.rfind(':');
    const std::string name = entry.substr(0, colon);
    if (name.empty()) continue;
    const int slots = colon == std::string::npos ? 1 : number(std::string_view(entry).substr(colon + 1));
    const auto before = std::ranges::find(hosts, name, &LaunchHost::name);
    if (before == hosts.end()) {
      hosts.push_back({name, slots});
    } else {
      before->slots += slots;
    }
  }
  return hosts;
}

// Returns the index of the first word after the options of srun, which begin at `begin`: another program may
// stand between them and convoke, with options of its own.
std::size_t end_of_options(const Words& words, std::size_t begin, std::size_t end) {
  bool may_be_value = false;
  for (; begin < end; ++begin) {
    const bool option = words[begin].starts_with('-');
    if (!option && !may_be_value) break;
    may_be_value = option && words[begin].find('=') == std::string::npos;
  }
  return begin;
}

int slots_of(const std::vector<LaunchHost>& hosts) {
  int slots = 0;
  for (const LaunchHost& host : hosts) slots += std::max(1, host.slots);
  return slots;
}

int ranks_on(int slots, int ranks, int slots_before) {
  if (ranks <= slots_before) return std::min(ranks, slots);
  return std::max(1, static_cast<int>(std::int64_t{ranks} * slots / slots_before));
}

// Returns the run folder from the program's arguments. The word `--resume` takes a folder if one follows;
// "auto" stands for the folder of --output.
std::filesystem::path run_of(const Words& words, std::size_t program) {
  if (const auto output = find_option(words, program, words.size(), kOutput)) return value_at(words, *output);
  const auto resume = find_option(words, program, words.size(), kResume);
  const std::string run = resume ? value_at(words, *resume) : "";
  if (!run.empty() && run != "auto" && !run.starts_with("--")) return run;
  throw Error("the command names no run folder, so a restart would not find its checkpoints",
              "add --output FOLDER after convoke train RECIPE");
}

}  // namespace

bool is_mpirun(const std::string& word) {
  return std::find(kMpiruns.begin(), kMpiruns.end(), name_of(word)) != kMpiruns.end();
}

std::vector<LaunchHost> hosts_in_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(fmt::format("{}: this hostfile cannot be read", file.string()), "correct --hostfile");
  std::vector<LaunchHost> hosts;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    LaunchHost host;
    if (!(words >> host.name)) continue;
    for (std::string word; words >> word;) {
      if (word.starts_with("slots=")) host.slots = number(std::string_view(word).substr(6));
    }
    hosts.push_back(host);
  }
  return hosts;
}

LaunchCommand::LaunchCommand(Words words) : words_(std::move(words)) {
  for (program_ = 0; program_ + 1 < words_.size(); ++program_) {
    if (words_[program_ + 1] == "train" && name_of(words_[program_]) == "convoke") break;
  }
  if (program_ + 1 >= words_.size()) {
    throw Error("the command contains no `convoke train`, and only training continues from checkpoints",
                "for example: convoke supervise -- mpirun -n 4 convoke train RECIPE --output RUN");
  }
  const auto program = words_.begin() + static_cast<std::ptrdiff_t>(program_);
  const auto launcher = std::find_if(words_.begin(), program, is_launcher);
  options_begin_ = options_end_ = program_;
  if (launcher != program) {
    options_begin_ = static_cast<std::size_t>(launcher - words_.begin()) + 1;
    launcher_ = name_of(*launcher) == "srun" ? Launcher::kSrun : Launcher::kMpirun;
  }
  if (by_srun()) options_end_ = end_of_options(words_, options_begin_, program_);
  const auto folder = find_option(words_, options_begin_, options_end_,
                                  by_srun() ? Names(kSrunWorkFolder) : Names(kWorkFolder));
  run_ = std::filesystem::path(folder ? value_at(words_, *folder) : "") / run_of(words_, program_);
}

std::span<const std::string_view> LaunchCommand::rank_names() const {
  return launcher_ == Launcher::kSrun ? Names(kSrunRanks) : Names(kRanks);
}

int LaunchCommand::ranks() const {
  const auto place = find_option(words_, options_begin_, options_end_, rank_names());
  return place ? number(value_at(words_, *place)) : 0;
}

std::vector<LaunchHost> LaunchCommand::hosts() const {
  if (launcher_ != Launcher::kMpirun) return {};
  if (const auto list = find_option(words_, options_begin_, program_, kHostList))
    return hosts_in_list(value_at(words_, *list));
  if (const auto file = find_option(words_, options_begin_, program_, kHostFile))
    return hosts_in_file(value_at(words_, *file));
  return {};
}

std::string LaunchCommand::agent() const {
  for (std::size_t i = options_begin_; i + 2 < program_; ++i) {
    const bool sets = words_[i] == "--mca" || words_[i] == "-mca";
    if (sets && words_[i + 1] == "plm_rsh_agent") return words_[i + 2];
  }
  return {};
}

LaunchCommand LaunchCommand::again(const std::vector<LaunchHost>& all,
                                   const std::vector<LaunchHost>& left) const {
  Words words = words_;
  if (!find_option(words, program_, words.size(), kResume) && words.back() != "--resume")
    words.emplace_back("--resume");
  if (left == all || left.empty()) return LaunchCommand(words);

  const auto ranks = find_option(words, options_begin_, options_end_, rank_names());
  if (ranks && number(value_at(words, *ranks)) > 0) {
    const int before = number(value_at(words, *ranks));
    set_value(words, *ranks, fmt::to_string(ranks_on(slots_of(left), before, slots_of(all))));
  }
  const auto options = words.begin() + static_cast<std::ptrdiff_t>(options_begin_);
  if (launcher_ == Launcher::kSrun) {
    Words missing;
    const auto set = [&](Names names, const std::string& value) {
      if (const auto place = find_option(words, options_begin_, options_end_, names)) {
        set_value(words, *place, value);
      } else {
        missing.push_back(fmt::format("{}={}", names.front(), value));
      }
    };
    set(kSrunNodes, fmt::to_string(left.size()));
    set(kSrunNodeList, join(names_in(left), ","));
    words.insert(options, missing.begin(), missing.end());
    return LaunchCommand(words);
  }
  const auto list = find_option(words, options_begin_, program_, kHostList);
  const auto file = find_option(words, options_begin_, program_, kHostFile);
  if (list) {
    set_value(words, *list, to_list(left));
  } else if (file) {
    set_value(words, *file, to_list(left));
    const bool joined = file->from > 0;
    words[file->option] = joined ? "--host=" + words[file->value].substr(file->from) : "--host";
  } else {  // the launcher has its hosts from Slurm
    const Words more{"--host", to_list(left)};
    words.insert(options, more.begin(), more.end());
  }
  return LaunchCommand(words);
}

}  // namespace convoke::supervise
