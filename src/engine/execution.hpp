#pragma once
#include <memory>

#include "convoke/engine/evaluator.hpp"
#include "convoke/engine/lane_engine.hpp"

// How engines and evaluators carry out what their options say, for those who make them and those who predict
// what they take.

namespace convoke::engine {

/// Worker threads of a rank, as many as it has lanes at most.
int worker_count(const EngineOptions& options, int rank, int ranks);

/// Threads inside the primitives of each of `workers` workers.
int primitive_threads(const EngineOptions& options, int workers);

/// What all plans of an engine are compiled for, but for lanes. Of what the options own.
nn::PlanOptions plan_options(const EngineOptions& options);

/// What an evaluator compiles, once for each thread. Of what the options own.
struct EvaluatorPlan {
  std::shared_ptr<const nn::ParameterLayout> layout;
  nn::PlanOptions options;
};
EvaluatorPlan evaluator_plan(const nn::Graph& graph, const EvaluatorOptions& options);

}  // namespace convoke::engine
