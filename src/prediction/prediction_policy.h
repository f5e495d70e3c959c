/// The choice of predictor: sizes from which the engine, or a device, is faster than stock code. Margins and leaves
/// have the same bits either way; contributions and interactions differ by rounding.
#ifndef XGBGPU_PREDICTION_PREDICTION_POLICY_H_
#define XGBGPU_PREDICTION_PREDICTION_POLICY_H_

#include <algorithm>
#include <cstdint>

namespace xgbgpu {

/// The first call for a model pays for reading its JSON form. Every call on a device pays for packing rows.
struct PredictionPolicy {
  /// Margins and leaves: rows × rounds × outputs from which a device is faster, if the process uses one and it has
  /// the model. 16 threads of the host take 3 ns for a row and a tree of depth 8; a device takes a quarter of a
  /// millisecond for the call.
  std::uint64_t device_work{std::uint64_t{1} << 18};
  /// The cost of reading one tree of the model to the device, 23 µs, in the unit of device_work. The host's work for a
  /// model is added up: a model is read after the host has done enough.
  std::uint64_t read_tree{std::uint64_t{1} << 13};
  /// Work from which a process that uses no device begins to use a device. The driver takes about 0.3 s, once. A
  /// process that only predicts may fork, but not after it has used CUDA.
  std::uint64_t first_use{std::uint64_t{1} << 24};
  /// Margins and leaves: least work of each of several devices. With 100 trees and 28 columns a device takes 3 ms for
  /// this work, mostly to transfer rows. Each call starts the host threads of several devices in some tenths of a
  /// millisecond. The first call also reads the model for devices without it, 23 µs a tree, and pins the memory for
  /// rows, some milliseconds; later calls soon make up for this. The number is an estimate from one device.
  std::uint64_t dealt_work{std::uint64_t{1} << 25};
  /// A QuantileDMatrix without missing values: rounds for each column from which a device is worth the time to make
  /// values from bins. One thread makes them in 7 ns each. Stock code's threads share 32 ns a value, and 50 ns a row
  /// and tree of depth 6. Both are equal at 1.5 rounds a column with 16 threads, and at 8 with 64. With 4 threads the
  /// device is always faster.
  std::uint64_t binned_rounds{4};
  /// Contributions: rows from which the engine is faster.
  std::uint64_t explained_rows{256};
  /// Contributions: rows × rounds from which a device is faster.
  std::uint64_t device_explanations{std::uint64_t{1} << 20};
  /// Interactions: rows × columns from which the engine is faster. Stock code computes contributions twice for each
  /// column, and reading a model takes about as long as stock contributions of ten rows.
  std::uint64_t interaction_columns{16};
  /// Interactions: rows × rounds × columns from which a device is faster.
  std::uint64_t device_interactions{std::uint64_t{1} << 22};

  /// Contributions and interactions: least work of each of several devices, in the unit of the two numbers above. Every
  /// call brings the model to each device and pins memory, in some 10 ms. A device takes at most 40 ms for this work.
  /// The number is an estimate from one device.
  std::uint64_t dealt_explanations{std::uint64_t{1} << 23};

  /// Symmetric trees on the host: rows from which the engine is faster, if it has read the model.
  std::uint64_t symmetric_rows{32};
  /// Rows for each thread, in one call or several, from which a model is read if its first rounds are symmetric. Stock
  /// code takes 10 to 50 ns for a row and a tree, and reading one takes 15 to 29 us.
  std::uint64_t read_rows{1 << 10};
  /// Rows for each thread from which a model is read for the first time. A reading in vain happens once, and takes at
  /// most a third of this work.
  std::uint64_t look_rows{1 << 12};

  /// Returns true if a device should predict margins or leaves. work: rows × rounds × outputs. to_read: rounds ×
  /// outputs that the device does not have. turned_away: work that the host did for this model. in_use: the process
  /// uses a device.
  constexpr bool IsForDevice(std::uint64_t work, std::uint64_t to_read, std::uint64_t turned_away, bool in_use) const {
    std::uint64_t const wanted = in_use ? device_work : first_use;
    return work >= wanted && work + turned_away >= wanted + to_read * read_tree;
  }
  /// Returns how many of `allowed` devices (1 or more) are worthwhile if each needs work of `least`.
  static constexpr int Devices(int allowed, std::uint64_t work, std::uint64_t least) {
    return static_cast<int>(std::clamp<std::uint64_t>(work / least, 1, static_cast<std::uint64_t>(allowed)));
  }
};

constexpr PredictionPolicy kPredictionPolicy{};

}  // namespace xgbgpu

#endif  // XGBGPU_PREDICTION_PREDICTION_POLICY_H_
