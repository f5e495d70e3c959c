/// The engine's front door: quantise a matrix once, then grow trees on it.
#ifndef XGBGPU_TRAINER_H_
#define XGBGPU_TRAINER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "xgbgpu/cuts.h"
#include "xgbgpu/params.h"
#include "xgbgpu/rows.h"
#include "xgbgpu/span.h"
#include "xgbgpu/tree.h"
#include "xgbgpu/types.h"

namespace xgbgpu {

class QuantisedMatrix;  // src/matrix/matrix.h
class TreeBuilder;      // src/backend/backend.h

/// Rows as bin numbers: built once per training matrix, immutable, shared by any number of trainers and threads.
class Dataset {
 public:
  /// Exact weighted quantiles of every column, then bins.
  ///
  /// In      source   any number of batches; read twice
  ///         weights  [rows] or empty; >= 0, not NaN
  ///         max_bin  2 … kMaxBinLimit
  ///         threads  > 0; any number gives the same bits
  /// Cost    one radix sort per column; peak memory: 8 bytes per stored value of the columns in flight + the bins
  /// Throws  InvalidArgument (max_bin, weights, no rows, no columns, infinite values)
  static std::shared_ptr<Dataset const> Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads);

  /// From a source that holds bins already: every distinct value of a column is the lower end of one of its bins
  /// (XGBoost's QuantileDMatrix read through its public interface).
  static std::shared_ptr<Dataset const> FromBinEdges(RowSource const& source, int threads);

  ~Dataset();
  Dataset(Dataset const&) = delete;
  Dataset& operator=(Dataset const&) = delete;

  std::uint64_t rows() const;
  FeatureIndex features() const;
  std::size_t bytes() const;  ///< memory held
  Cuts const& cuts() const;
  QuantisedMatrix const& matrix() const { return *matrix_; }

 private:
  explicit Dataset(std::unique_ptr<QuantisedMatrix> matrix);
  std::unique_ptr<QuantisedMatrix const> matrix_;
};

/// Which tree of a training this is. With the seed, all that randomness depends on.
struct TreeKey {
  std::uint32_t iteration{0};  ///< boosting round, counted over continuations
  std::uint32_t index{0};      ///< tree inside the round: class × num_parallel_tree + tree
};

/// Grows trees on one dataset. Not thread-safe; independent trainers may run at the same time.
class Trainer {
 public:
  /// Throws Unsupported for a backend this build or machine does not have.
  Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads);
  ~Trainer();
  Trainer(Trainer const&) = delete;
  Trainer& operator=(Trainer const&) = delete;

  /// Grows one tree on `gradients` ([rows], finite).
  /// On an error the trainer is as before, but has no last tree.
  /// Throws InvalidArgument (parameters, wrong size, NaN or infinite gradient: row and value are named)
  Tree Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key);

  /// The leaf of the last tree that every training row falls into, sampled or not.
  /// Out  positions  [rows]; `sampled_out`, if not empty, [rows]: 1 where the row was not in the tree's sample
  void LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const;

  /// margins[i * stride] += node_values[leaf of row i in the last tree]; one float addition per row.
  void AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const;

  Dataset const& data() const { return *data_; }
  BackendKind backend() const { return backend_; }  ///< kHost or kCuda, never kAuto

 private:
  std::shared_ptr<Dataset const> data_;
  BackendKind backend_;
  std::unique_ptr<TreeBuilder> builder_;
};

/// True if this build has the CUDA backend and a usable device is present; `why_not` (optional) gets the reason else.
bool CudaAvailable(std::string* why_not = nullptr);

}  // namespace xgbgpu

#endif  // XGBGPU_TRAINER_H_
