#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace convoke::app {

/// A subcommand: `add` declares its options on a parser and returns what to do once they are read.
struct Command {
  const char* name;
  const char* description;
  std::function<std::function<int()>(CLI::App&)> add;
};

/// The command made of an options struct, a function that declares the options and one that runs with them
/// and returns the exit code.
template <class Options>
Command command(const char* name, const char* description, void (*add)(CLI::App&, Options&),
                int (*run)(const Options&)) {
  return {name, description, [add, run](CLI::App& parser) -> std::function<int()> {
            auto options = std::make_shared<Options>();
            add(parser, *options);
            return [options, run] { return run(*options); };
          }};
}

}  // namespace convoke::app
