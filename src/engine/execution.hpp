#pragma once
#include <memory>

#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/step_engine.hpp"

// How engines and evaluators execute their options. Shared by the code that makes them and the code that
// predicts their memory.

namespace convoke::engine {

/// Returns the number of worker threads of a rank, at most its number of micro-batches.
int worker_count(const EngineOptions& options, int rank, int ranks);

/// Returns the number of threads inside the primitives of each of `workers` workers.
int primitive_threads(const EngineOptions& options, int workers);

/// True if a worker that has computed its micro-batches takes some of others (WorkQueue).
bool steals_micro_batches(const EngineOptions& options, const nn::Graph& graph);

/// Returns the options of all plans of an engine, except the micro-batches. They refer to objects that
/// `options` owns.
nn::PlanOptions plan_options(const EngineOptions& options);

/// The layout and options from which an evaluator compiles one plan for each thread. They refer to objects
/// that the evaluator's options own.
struct EvaluatorPlan {
  std::shared_ptr<const nn::ParameterLayout> layout;
  nn::PlanOptions options;
};
EvaluatorPlan evaluator_plan(const nn::Graph& graph, const EvaluatorOptions& options);

}  // namespace convoke::engine
