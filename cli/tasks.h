/// The tasks of the program: train, predict, dump.
#ifndef XGBGPU_CLI_TASKS_H_
#define XGBGPU_CLI_TASKS_H_

#include "options.h"
#include "xgboost_c.h"

namespace xgbgpu::cli {

/// Trains `num_round` rounds on `data`, from `model_in` if given, printing metrics and saving models on the way.
void Train(Options const& options, Communicator const& communicator);
/// Predicts `test:data` with `model_in` and writes one number a line to `name_pred`.
void Predict(Options const& options);
/// Writes `model_in` in readable form to `name_dump`.
void Dump(Options const& options);

}  // namespace xgbgpu::cli

#endif  // XGBGPU_CLI_TASKS_H_
