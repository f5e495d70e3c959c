#include "xgbgpu/trainer.h"

#include <utility>

#include "backend/backend.h"
#include "core/message.h"
#include "driver/hist.h"
#include "matrix/matrix.h"
#include "quantile/quantile.h"

namespace xgbgpu {

namespace {

void CheckThreads(int threads) {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
}

}  // namespace

Dataset::Dataset(std::unique_ptr<QuantisedMatrix> matrix) : matrix_{std::move(matrix)} {}
Dataset::~Dataset() = default;

std::shared_ptr<Dataset const> Dataset::Build(RowSource const& source, Span<float const> weights, int max_bin,
                                              int threads) {
  CheckThreads(threads);
  Cuts cuts = host::ComputeCuts(source, weights, max_bin, threads);
  return std::shared_ptr<Dataset const>{new Dataset{host::QuantiseMatrix(source, std::move(cuts), threads)}};
}

std::shared_ptr<Dataset const> Dataset::FromBinEdges(RowSource const& source, int threads) {
  CheckThreads(threads);
  Cuts cuts = host::CutsFromBinEdges(source, threads);
  return std::shared_ptr<Dataset const>{new Dataset{host::QuantiseMatrix(source, std::move(cuts), threads)}};
}

std::uint64_t Dataset::rows() const { return matrix_->rows; }
FeatureIndex Dataset::features() const { return matrix_->features(); }
std::size_t Dataset::bytes() const { return matrix_->bytes(); }
Cuts const& Dataset::cuts() const { return matrix_->cuts; }

Trainer::Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads)
    : data_{std::move(data)}, backend_{ResolveBackend(backend)} {
  CheckThreads(threads);
  builder_ = MakeHostTreeBuilder(data_->matrix(), threads);
}
Trainer::~Trainer() = default;

Tree Trainer::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  params.Validate();
  return GrowHistTree(builder_.get(), params, gradients, key);
}

void Trainer::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  builder_->LeafPositions(positions, sampled_out);
}

void Trainer::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  builder_->AddLeafValues(node_values, margins, stride);
}

}  // namespace xgbgpu
