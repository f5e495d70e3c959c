/// Who makes a prediction: sizes from which the engine, and a device, are faster than stock code. Results are the same.
#ifndef XGBGPU_DRIVER_PREDICTION_POLICY_H_
#define XGBGPU_DRIVER_PREDICTION_POLICY_H_

#include <cstdint>

namespace xgbgpu {

/// Every first call pays for reading the model, through its JSON form; every call on a device for packing rows.
struct PredictionPolicy {
  /// Margins and leaves: rows × rounds × outputs from which a device is worth the way, if the process uses one and it
  /// has the model. Of depth 8, 16 threads of the host take 3 ns for each; a device a quarter of a millisecond for the
  /// call.
  std::uint64_t device_work{std::uint64_t{1} << 18};
  /// What each round and output of a model counts that the device does not have yet: 23 µs. What was not worth it adds
  /// up, so that a model is read when as much has been predicted on the host.
  std::uint64_t read_tree{std::uint64_t{1} << 13};
  /// What the process's first use of a device counts: the driver takes some 0.3 s, once, and whoever predicts only may
  /// fork.
  std::uint64_t first_use{std::uint64_t{1} << 24};
  /// A QuantileDMatrix without missing values: rounds for each column from which a device is worth the time that its
  /// values take. One thread makes them, in 7 ns each, where stock code's threads share 32 ns a value, and 50 ns a row
  /// and tree of depth 6: with 16 threads that is even at 1.5 rounds a column, with 64 at 8, with 4 at none.
  std::uint64_t binned_rounds{4};
  /// Contributions: rows from which the engine is.
  std::uint64_t explained_rows{256};
  /// Contributions: rows × rounds from which a device is.
  std::uint64_t device_explanations{std::uint64_t{1} << 20};
  /// Interactions, for which stock code computes contributions twice for each column: rows × columns from which the
  /// engine is worth the way. (Reading a model takes about as long as stock contributions of ten rows.)
  std::uint64_t interaction_columns{16};
  /// Interactions: rows × rounds × columns from which a device is.
  std::uint64_t device_interactions{std::uint64_t{1} << 22};

  /// Are margins or leaves for a device? work: rows × rounds × outputs. to_read: rounds × outputs that the device does
  /// not have. turned_away: work of the same model that was not. in_use: does the process use a device?
  constexpr bool IsForDevice(std::uint64_t work, std::uint64_t to_read, std::uint64_t turned_away, bool in_use) const {
    std::uint64_t const wanted = in_use ? device_work : first_use;
    return work >= wanted && work + turned_away >= wanted + to_read * read_tree;
  }
};

constexpr PredictionPolicy kPredictionPolicy{};

}  // namespace xgbgpu

#endif  // XGBGPU_DRIVER_PREDICTION_POLICY_H_
