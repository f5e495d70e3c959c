/// Facts that workers of a process group compare before they compute together.
#ifndef XGBGPU_PLUGIN_BOOSTER_GROUP_FACTS_H_
#define XGBGPU_PLUGIN_BOOSTER_GROUP_FACTS_H_

#include <string>
#include <vector>

#include "group/process_group.h"
#include "xgb/types.h"
#include "xgbgpu/metric.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Returns a text that is different for different bits.
std::string BitsOf(float value);
std::string BitsOf(std::vector<float> const& values);

/// Returns the facts that workers compare about an objective of the engine.
std::vector<Fact> FactsOf(ObjectiveParams const& objective);
/// Returns the facts that workers compare about a metric of the engine.
std::vector<Fact> FactsOf(MetricParams const& metric);
/// Returns the facts that workers compare before an evaluation by the learner with this context. A worker with more
/// metrics or matrices would wait for workers that have gone on, perhaps to a message of XGBoost's own.
std::vector<Fact> FactsOfEvaluation(XgbContext const* ctx);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_GROUP_FACTS_H_
