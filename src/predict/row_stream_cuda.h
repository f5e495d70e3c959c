/// Streams rows of the host through a CUDA device, block by block, and copies the results back. CUDA builds only.
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

/// A computation of some floats for each row, on the current device.
class RowJob {
 public:
  /// features: of the rows on the device. results: floats for each row. threads: of the host.
  RowJob(FeatureIndex features, std::size_t results, int threads)
      : features_{features}, results_{results}, threads_{threads} {}
  virtual ~RowJob() = default;

  FeatureIndex features() const { return features_; }
  std::size_t results() const { return results_; }
  int threads() const { return threads_; }

  /// Returns the most bytes of a block's values, and of its results, unless the block has one row.
  virtual std::size_t block_bytes() const { return kPieceBytes; }
  /// Returns true if kernels read dense rows only. Otherwise rows have the form that takes less memory (RowsAreDense).
  virtual bool NeedsDense() const { return true; }
  /// Returns the doubles of device memory of a block, beside its values and results.
  virtual std::size_t Scratch(std::uint64_t) const { return 0; }
  /// Returns true if kernels start from results on the host, after it has written them to `results` [rows, results()].
  virtual bool Fill(std::uint64_t /*first_row*/, std::uint64_t /*rows*/, float* /*results*/) const { return false; }
  /// Enqueues the kernels for a block.
  virtual void Enqueue(RawView const& rows, float* results, double* scratch, cudaStream_t stream) const = 0;
  /// Takes a block's results, on the host.
  virtual void Take(std::uint64_t first_row, std::uint64_t rows, float const* results) const = 0;

 private:
  FeatureIndex features_;
  std::size_t results_;
  int threads_;
};

/// A job with rows of a row-major host array as results.
class RowMajorJob : public RowJob {
 public:
  /// out: [rows of the source, results]
  RowMajorJob(FeatureIndex features, std::size_t results, float* out, int threads)
      : RowJob{features, results, threads}, out_{out} {}
  void Take(std::uint64_t first_row, std::uint64_t rows, float const* results) const override;

 private:
  float* out_;
};

/// The memory and streams of rows on their way. It is reused by later jobs, because pinning memory takes milliseconds.
/// It belongs to the device that is current at construction. Not thread-safe.
class RowStream {
 public:
  RowStream();
  ~RowStream();

  /// Runs the job for all rows of the source's batches, or arrays, with the source's numbers of rows. (The source may
  /// skip rows.) During the work on one block the next is being copied, and host threads pack the one after it. Rows of
  /// arrays keep their type, and stay in place if they are on this device. Device memory: three blocks. Kernels run
  /// after `after`, if that is not null. Waits.
  ///
  /// Throws  InvalidArgument (a feature beyond job.features()), OutOfDeviceMemory. The job may then have taken the
  ///         results of some rows only.
  void Run(RowSource const& source, RowJob const& job, Event const* after = nullptr);

 private:
  class Place;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace xgbgpu::cuda

#endif  // XGBGPU_PREDICT_ROW_STREAM_CUDA_H_
