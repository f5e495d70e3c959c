/// Checks before a round that no other part of the plugin makes.
#ifndef XGBGPU_PLUGIN_BOOSTER_TRAINING_CHECKS_H_
#define XGBGPU_PLUGIN_BOOSTER_TRAINING_CHECKS_H_

#include <xgboost/data.h>
#include <xgboost/objective.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "booster/learner_view.h"
#include "params/plugin_params.h"
#include "xgbgpu/boosting_round.h"
#include "xgbgpu/objective.h"

namespace xgbgpu::plugin {

/// Throws Unsupported for parameters that do not train in a group of `workers` processes: gpu_exact (`exact`), several
/// devices of one worker, and updaters (`sequence`, separated by commas) beside ours.
void CheckTrainsInGroup(DeviceParam const& param, bool exact, std::string const& sequence, int workers);

/// Throws Unsupported if exact trees (`exact`) are to grow on several devices or in less memory than they take.
void CheckDevices(DeviceParam const& param, bool exact);

/// Throws InvalidArgument if the user wants existing trees updated (`updates`). XGBoost's own message names the
/// updater, which the user has not chosen.
void CheckGrows(bool updates, char const* tree_method);

/// Throws Unsupported for a model of trees of vectors (multi_strategy=multi_output_tree) that cannot get a round:
/// because this XGBoost has no such trees for us, or another method or strategy is to grow the next ones.
void CheckVectorLeaves(LearnerView const& learner, bool exact);

/// Throws Unsupported if a round needs trees of vectors with a feature that this series of XGBoost lacks: leaves that
/// the objective sets (`changes_leaves`), categories.
void CheckVectorRound(xgboost::MetaInfo const& info, bool changes_leaves);

/// Throws Unsupported if leaves that are medians would not add up to a prediction: in a dart, or with several trees for
/// each output in one round.
void CheckMediansAddUp(bool is_dart, std::int64_t trees_per_output);

/// Warns once that leaves which are medians do not depend on eta, unless eta is 1.
void WarnIfEtaIsIgnored(float eta);

/// Warns once that leaves which are medians or quantiles do not keep to monotone constraints, if there are any.
void WarnIfConstraintsMayBreak(std::vector<int> const& monotone_constraints);

/// Throws InvalidArgument unless each row has a label, each row and output a margin, and all rows have weights or none.
/// Stock code reads all three when `objective` sets leaves, and does not count them. `margins`: the number of margins.
void CheckStockSetsLeaves(xgboost::ObjFunction const& objective, xgboost::MetaInfo const& info, std::size_t margins);

/// Throws InvalidArgument unless rows have margins of their own or `margins` are finite. The objective has made
/// `margins` of `base_score`; kPoisson and kAft allow infinite ones, of base_score 0. XGBoost checks base_score for
/// logistic objectives only. Other objectives may take its logarithm.
void CheckBaseScore(Objective objective, xgboost::MetaInfo const& info, std::vector<float> const& margins,
                    std::string const& base_score);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_BOOSTER_TRAINING_CHECKS_H_
