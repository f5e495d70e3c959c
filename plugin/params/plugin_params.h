/// Parameters as users write them: names, aliases, ranges and defaults. docs/parameters.md explains them.
#ifndef XGBGPU_PLUGIN_PARAMS_PLUGIN_PARAMS_H_
#define XGBGPU_PLUGIN_PARAMS_PLUGIN_PARAMS_H_

#include <xgboost/parameter.h>

#include <cstdint>
#include <map>
#include <string>

#include "xgbgpu/params.h"
#include "xgbgpu/trainer.h"

namespace xgbgpu::plugin {

/// Values by name, as the user set them; aliases are replaced by the name they stand for.
using ParamValues = std::map<std::string, std::string>;

/// The tree parameters of XGBoost 1.7. Their JSON form is a valid `train_param` for a stock reader. Parameters that the
/// histogram method does not use are therefore read, kept and written, too.
struct TreeParam : public xgboost::XGBoostParameter<TreeParam> {
  float learning_rate;
  float min_split_loss;
  int max_depth;
  int max_leaves;
  int max_bin;
  std::string grow_policy;
  std::uint32_t max_cat_to_onehot;
  int max_cat_threshold;
  float min_child_weight;
  float reg_lambda;
  float reg_alpha;
  float max_delta_step;
  float subsample;
  std::string sampling_method;
  float colsample_bynode;
  float colsample_bylevel;
  float colsample_bytree;
  float sketch_ratio;
  bool cache_opt;
  bool refresh_leaf;
  std::string monotone_constraints;
  std::string interaction_constraints;
  double sparse_threshold;

  DMLC_DECLARE_PARAMETER(TreeParam) {
    DMLC_DECLARE_FIELD(learning_rate).set_default(0.3f).set_lower_bound(0.0f).describe("Shrinkage of a new tree.");
    DMLC_DECLARE_FIELD(min_split_loss).set_default(0.0f).set_lower_bound(0.0f).describe("Least gain of a split.");
    DMLC_DECLARE_FIELD(max_depth).set_default(6).set_lower_bound(0).describe("Levels below the root; 0: no limit.");
    DMLC_DECLARE_FIELD(max_leaves).set_default(0).set_lower_bound(0).describe("Leaves of a tree; 0: no limit.");
    DMLC_DECLARE_FIELD(max_bin).set_default(256).set_range(2, kMaxBinLimit).describe("Bins of a column.");
    DMLC_DECLARE_FIELD(grow_policy).set_default("depthwise").describe("depthwise, lossguide or symmetric.");
    DMLC_DECLARE_FIELD(max_cat_to_onehot).set_default(4).set_lower_bound(1).describe("Categories split one by one.");
    DMLC_DECLARE_FIELD(max_cat_threshold).set_default(64).set_lower_bound(1).describe("Categories tried in a split.");
    DMLC_DECLARE_FIELD(min_child_weight).set_default(1.0f).set_lower_bound(0.0f).describe("Least hessian of a child.");
    DMLC_DECLARE_FIELD(reg_lambda).set_default(1.0f).set_lower_bound(0.0f).describe("L2 penalty on leaf weights.");
    DMLC_DECLARE_FIELD(reg_alpha).set_default(0.0f).set_lower_bound(0.0f).describe("L1 penalty on leaf weights.");
    DMLC_DECLARE_FIELD(max_delta_step).set_default(0.0f).set_lower_bound(0.0f).describe("Bound of weights; 0: none.");
    DMLC_DECLARE_FIELD(subsample).set_default(1.0f).set_range(0.0f, 1.0f).describe("Share of rows in a tree.");
    DMLC_DECLARE_FIELD(sampling_method).set_default("uniform").describe("How rows are sampled.");
    DMLC_DECLARE_FIELD(colsample_bynode).set_default(1.0f).set_range(0.0f, 1.0f).describe("Columns tried at a node.");
    DMLC_DECLARE_FIELD(colsample_bylevel).set_default(1.0f).set_range(0.0f, 1.0f).describe("Columns tried at a level.");
    DMLC_DECLARE_FIELD(colsample_bytree).set_default(1.0f).set_range(0.0f, 1.0f).describe("Columns tried in a tree.");
    DMLC_DECLARE_FIELD(sketch_ratio).set_default(2.0f).set_lower_bound(0.0f).describe("Kept for stock readers.");
    DMLC_DECLARE_FIELD(cache_opt).set_default(true).describe("Kept for stock readers.");
    DMLC_DECLARE_FIELD(refresh_leaf).set_default(true).describe("Kept for the updater refresh.");
    DMLC_DECLARE_FIELD(monotone_constraints).set_default("()").describe("Sign of each column's effect.");
    DMLC_DECLARE_FIELD(interaction_constraints).set_default("").describe("Columns that may meet in a branch.");
    DMLC_DECLARE_FIELD(sparse_threshold).set_default(0.2).set_range(0.0, 1.0).describe("Kept for stock readers.");
    DMLC_DECLARE_ALIAS(learning_rate, eta);
    DMLC_DECLARE_ALIAS(min_split_loss, gamma);
    DMLC_DECLARE_ALIAS(reg_lambda, lambda);
    DMLC_DECLARE_ALIAS(reg_alpha, alpha);
  }
};

/// Parameters that XGBoost does not have: where to train, and the rates of sampling_method=goss.
struct DeviceParam : public xgboost::XGBoostParameter<DeviceParam> {
  std::string gpu_backend;
  int n_gpus;
  int gpu_id;
  std::string gpu_device;
  std::string gpu_takes;
  std::string gpu_memory_limit;
  std::string gpu_host_memory_limit;
  std::string gpu_cache_folder;
  std::string gpu_trace;
  float top_rate;
  float other_rate;

  DMLC_DECLARE_PARAMETER(DeviceParam) {
    DMLC_DECLARE_FIELD(gpu_backend).set_default("auto").describe("auto, cuda or host.");
    DMLC_DECLARE_FIELD(n_gpus).set_default(1).describe("Devices to use.");
    DMLC_DECLARE_FIELD(gpu_id).set_default(-1).set_lower_bound(-1).describe("The first device; -1: any.");
    DMLC_DECLARE_FIELD(gpu_device).set_default("").describe("The user's `device`: device_words.h.");
    DMLC_DECLARE_FIELD(gpu_takes).set_default("").describe("The user's `tree_method`: device_words.h.");
    DMLC_DECLARE_FIELD(gpu_memory_limit).set_default("0").describe("Memory of a training; 0: what is free.");
    DMLC_DECLARE_FIELD(gpu_host_memory_limit).set_default("0").describe("Host memory of pages; 0: half of it.");
    DMLC_DECLARE_FIELD(gpu_cache_folder).set_default("").describe("Folder of pages on disk; empty: $TMPDIR.");
    DMLC_DECLARE_FIELD(gpu_trace).set_default("").describe("File for a timeline.");
    DMLC_DECLARE_FIELD(top_rate).set_default(0.2f).describe("goss: rows of large gradients.");
    DMLC_DECLARE_FIELD(other_rate).set_default(0.1f).describe("goss: share of other rows.");
    DMLC_DECLARE_ALIAS(gpu_id, gpu_ordinal);
  }
};

/// The name that `name` is an alias of, or `name`.
std::string CanonicalName(std::string const& name);
bool IsTreeParam(std::string const& name);
bool IsDeviceParam(std::string const& name);

/// Reads and checks values. Throws dmlc::Error or InvalidArgument with name, value and what is allowed; with
/// `exact` (gpu_exact) less is allowed.
TreeParam ParseTreeParam(ParamValues const& values, bool exact);
DeviceParam ParseDeviceParam(ParamValues const& values);

/// Throws InvalidArgument for a value that stock code accepts without a check, although no training can use it: NaN,
/// infinities, num_parallel_tree below 1, more than 4096 threads, and other values out of range.
void CheckStockParam(std::string const& name, std::string const& value);

/// Returns `param` for the engine, without parameters that depend on the matrix. Throws Unsupported for values that
/// gpu_hist or gpu_exact does not support, InvalidArgument for values that no method takes or that contradict each
/// other.
TrainParams ToTrainParams(TreeParam const& param, DeviceParam const& device, std::uint64_t seed, bool exact);

/// Returns the memory limits of a training and the folder of its pages. They hold for each of several devices.
MemoryLimits ToMemoryLimits(DeviceParam const& param);

/// Where to train: never kAuto. A gpu_id beyond the devices means one of them, with a warning, as in XGBoost.
/// `must_exist`: the user wants an error for a gpu_id that is not there (fail_on_invalid_gpu_id).
/// Throws Unsupported if this machine or this version cannot serve `param`, InvalidArgument (gpu_id).
Place ToPlace(DeviceParam const& param, bool must_exist);

/// Returns the place and number of devices for work that any place can do. Returns the host without a warning if there
/// is no device. May start the CUDA driver.
Place PlaceIfThere(DeviceParam const& param);

}  // namespace xgbgpu::plugin

#endif  // XGBGPU_PLUGIN_PARAMS_PLUGIN_PARAMS_H_
