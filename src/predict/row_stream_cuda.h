/// Streams rows of the host through a CUDA device, block by block, and brings back what is computed for them. CUDA
/// builds only.
#ifndef XGBGPU_PREDICT_ROW_STREAM_CUDA_H_
#define XGBGPU_PREDICT_ROW_STREAM_CUDA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/device.h"
#include "cuda/piece_stream.h"
#include "predict/raw_matrix_cuda.h"
#include "xgbgpu/rows.h"

namespace xgbgpu::cuda {

/// What is computed for each row, on the current device: a number of floats.
class RowJob {
 public:
  /// features: of the rows as they lie on the device. results: floats for each row. threads: of the host.
  RowJob(FeatureIndex features, std::size_t results, int threads)
      : features_{features}, results_{results}, threads_{threads} {}
  virtual ~RowJob() = default;

  FeatureIndex features() const { return features_; }
  std::size_t results() const { return results_; }
  int threads() const { return threads_; }

  /// Bytes that the values of a block take, and those that its results take, at most, unless it has one row.
  virtual std::size_t block_bytes() const { return kPieceBytes; }
  /// Do kernels read dense rows only? Else rows have the form that takes less memory (RowsAreDense).
  virtual bool NeedsDense() const { return true; }
  /// Doubles of device memory that a block of so many rows needs beside its values and results.
  virtual std::size_t Scratch(std::uint64_t) const { return 0; }
  /// True if kernels start from results that the host has: then they were written to `results` [rows, results()] now.
  virtual bool Fill(std::uint64_t /*first_row*/, std::uint64_t /*rows*/, float* /*results*/) const { return false; }
  /// Enqueues the kernels for a block.
  virtual void Enqueue(RawView const& rows, float* results, double* scratch, cudaStream_t stream) const = 0;
  /// Takes a block's results, which are on the host.
  virtual void Take(std::uint64_t first_row, std::uint64_t rows, float const* results) const = 0;

 private:
  FeatureIndex features_;
  std::size_t results_;
  int threads_;
};

/// A job whose results are rows of a row-major array on the host.
class RowMajorJob : public RowJob {
 public:
  /// out: [rows of the source, results]
  RowMajorJob(FeatureIndex features, std::size_t results, float* out, int threads)
      : RowJob{features, results, threads}, out_{out} {}
  void Take(std::uint64_t first_row, std::uint64_t rows, float const* results) const override;

 private:
  float* out_;
};

/// Memory and streams that rows go through. Kept from one job to the next, because pinning memory takes milliseconds.
/// It belongs to the device that is current when it is made. Not thread-safe.
class RowStream {
 public:
  RowStream();
  ~RowStream();

  /// Does the job for all rows of the source's batches, or arrays, by the numbers that these give them. (The source may
  /// pass over rows.) While one block is worked on, the next is on its way and the one after is packed by host threads.
  /// Rows of arrays come in their type, and stay where they are if that is this device. Device memory: three blocks.
  /// Kernels run after `after`, if that is not null. Waits.
  ///
  /// Throws  InvalidArgument (a feature beyond job.features()), OutOfDeviceMemory. The job may then have taken the
  ///         results of some rows and not of others.
  void Run(RowSource const& source, RowJob const& job, Event const* after = nullptr);

 private:
  class Place;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_ROW_STREAM_CUDA_H_
