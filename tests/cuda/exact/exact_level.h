/// A level of exact trees in the layout that kernels read: made from values by plain loops, and copied to a device.
#ifndef XGBGPU_TESTS_CUDA_EXACT_LEVEL_H_
#define XGBGPU_TESTS_CUDA_EXACT_LEVEL_H_

#include <memory>
#include <vector>

#include "cuda/device.h"
#include "exact/device_columns.h"
#include "support/exact_case.h"

namespace xgbgpu::testing {

constexpr std::uint32_t kUntouched = 0xABABABABU;  ///< what memory holds before a stage

/// The contents of ExactLists (exact/exact_cuda.h).
struct LevelLists {
  std::vector<std::uint32_t> entries;  ///< [stored]; kUntouched behind a feature's last node
  std::vector<std::uint64_t> begin;    ///< [features + 1, nodes + 1]

  std::uint64_t Begin(std::size_t feature, std::size_t node, std::size_t nodes) const {
    return begin[feature * (nodes + 1) + node];
  }
};

/// Makes the lists of a level. `nodes` has rows of the matrix, in the order of their numbers in the level.
LevelLists MakeLists(reference::Values const& values, std::vector<std::vector<RowIndex>> const& nodes);

/// Returns the rows of the matrix in the order of their numbers in the level.
std::vector<RowIndex> OriginsOf(std::vector<std::vector<RowIndex>> const& nodes);

/// A way to divide the nodes of a level; gains do not matter.
struct LevelSplits {
  std::vector<cuda::ExactSplit> splits;
  std::vector<std::int32_t> split_of;  ///< [nodes]
  std::uint32_t pieces{0};
};
/// Splits most nodes, each by one of its used features and at any of its entries.
LevelSplits RandomSplits(ExactCase const& c, LevelLists const& lists, Random* random);

/// Returns the rows of the left and the right child of every split, or of the left ones only, in the order of the
/// level. `sides` is indexed by the row's number in the level.
std::vector<std::vector<RowIndex>> ChildrenOf(std::vector<std::vector<RowIndex>> const& nodes,
                                              std::vector<cuda::ExactSplit> const& splits,
                                              std::vector<std::uint8_t> const& sides, bool left_only);

/// Returns, for each 32 rows, a bit for each that goes left, and how many rows before them go left.
std::vector<cuda::RowWord> PackedSides(std::vector<std::uint8_t> const& sides, std::uint64_t rows);

/// Device memory for a test.
class TestMemory {
 public:
  template <typename T>
  DeviceBuffer<T> Put(std::vector<T> const& from) {
    return from.empty() ? DeviceBuffer<T>{} : Upload(&arena_, "test", from.data(), from.size());
  }
  template <typename T>
  DeviceBuffer<T> Filled(std::size_t size, int byte) {
    DeviceBuffer<T> buffer{&arena_, "test", size};
    if (size > 0) FillBytes(buffer.data(), byte, size, stream_, "filling");
    return buffer;
  }
  /// Waits for what was enqueued.
  template <typename T>
  std::vector<T> Read(T const* from, std::size_t size) {
    std::vector<T> to(size);
    if (size > 0) CopyToHost(to.data(), from, size, stream_, "reading");
    stream_.Wait("a test");
    return to;
  }
  template <typename T>
  std::vector<T> Read(DeviceBuffer<T> const& buffer) {
    return Read<T>(buffer.data(), buffer.size());
  }

  DeviceArena* arena() { return &arena_; }
  Stream const& stream() const { return stream_; }
  DeviceLimits const& limits() const { return limits_; }

 private:
  DeviceArena arena_{"The test"};
  Stream stream_;
  DeviceLimits limits_{CurrentDeviceLimits()};
};

/// A case on the device: columns, and lists, rows and gradients of its level.
class DeviceLevel {
 public:
  /// compact: gradients take 8 bytes, which the case's must fit.
  DeviceLevel(ExactCase const& c, bool compact);

  cuda::ExactColumns columns() const { return columns_.View(); }
  cuda::ExactLists lists() const { return {entries_.data(), begin_.data(), nodes_, spans_.data()}; }
  cuda::ExactRows rows() const {
    return {origin_.data(), begin_.data() + columns().features * (std::size_t{nodes_} + 1), nodes_, columns().rows};
  }
  cuda::ExactGradients gradients() const { return {is_compact_ ? compact_.data() : nullptr, wide_.data()}; }
  cuda::TileStates NextStates() { return {states_.data(), ++epoch_}; }
  DeviceBuffer<cuda::TileSpan> const& spans() const { return spans_; }
  TestMemory& memory() { return memory_; }

 private:
  TestMemory memory_;
  cuda::DeviceColumns columns_;
  std::uint32_t nodes_;
  bool is_compact_;
  std::uint32_t epoch_{0};
  DeviceBuffer<std::uint32_t> entries_;
  DeviceBuffer<std::uint64_t> begin_;
  DeviceBuffer<RowIndex> origin_;  ///< empty if the level's rows are the matrix's
  DeviceBuffer<int2> compact_;
  DeviceBuffer<GradientSum> wide_;
  DeviceBuffer<cuda::TileSpan> spans_;
  DeviceBuffer<unsigned long long> states_;
};

}  // namespace xgbgpu::testing

#endif  // XGBGPU_TESTS_CUDA_EXACT_LEVEL_H_
