/// XGBoost's registries of parts: what is decorated, and what is added.
#ifndef XGBGPU_PLUGIN_XGB_REGISTRY_H_
#define XGBGPU_PLUGIN_XGB_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "xgb/booster.h"
#include "xgb/metric.h"
#include "xgb/objective.h"
#include "xgb/types.h"
#include "xgb/updater.h"

namespace xgbgpu::plugin {

/// Who made an objective or a metric.
enum class Maker : std::uint8_t {
  kKnown,     ///< registered before this library was loaded: the engine computes it if it has the name
  kStranger,  ///< registered later, maybe under a name of the engine: always computes itself, from filled host vectors
};

using DecorateBooster = XgbBooster* (*)(std::unique_ptr<xgboost::GradientBooster>, xgboost::LearnerModelParam const*,
                                        XgbContext const*);
using DecorateObjective = XgbObjective* (*)(std::unique_ptr<xgboost::ObjFunction>, Maker);
using DecorateMetric = XgbMetric* (*)(std::unique_ptr<xgboost::Metric>, Maker);

/// From now on the booster `name` is what it was before, decorated. Without one (since 3.3 a dart is a gbtree) it does
/// nothing.
void DecorateBoosters(char const* name, DecorateBooster decorate);
/// From now on every objective is what it was before, decorated.
void DecorateObjectives(DecorateObjective decorate);
/// From now on every metric is what it was before, decorated.
void DecorateMetrics(DecorateMetric decorate);
/// From now on a TreeWatch answers what stock code asks the predictor of the CPU (predictor.h).
void DecoratePredictor();
/// Adds a tree updater.
void AddUpdater(char const* name, char const* description, XgbUpdater* (*make)(XgbContext const*));

/// Return true if XGBoost has an objective, a metric, or a tree updater of this name.
bool IsObjective(std::string const& name);
bool IsMetric(std::string const& name);
bool IsUpdater(std::string const& name);

/// Decorates objectives and metrics that another library registered since DecorateObjectives and DecorateMetrics were
/// called. Objects made of them from now on see filled host vectors.
///
/// XGBoost makes the metrics of a learner after it has configured the booster, or while it evaluates. A call at both
/// places finds every entry before a metric is made of it. An objective may be made earlier. So a Booster leaves no
/// predictions on a device before the learner's objective has shown that it is decorated.
void DecorateNewcomers();

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_XGB_REGISTRY_H_
