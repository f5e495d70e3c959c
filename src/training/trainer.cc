// Grows trees with the builder of a dataset.
#include "xgbgpu/trainer.h"

#include <memory>
#include <utility>

#include "base/host_memory.h"
#include "base/message.h"
#include "training/dataset_storage.h"
#include "xgbgpu/error.h"

namespace xgbgpu {

class Trainer::Impl {
 public:
  Impl(std::shared_ptr<Dataset const> the_data, BackendKind wanted, int threads)
      : data{std::move(the_data)}, backend{BackendOf(*data, wanted)} {
    WithMemoryFor("rows and nodes of trees", [&] { builder = MakeBuilder(*data, backend, threads); });
  }
  ~Impl() { Cancel(); }

  void Cancel() {
    if (ResidentRounds* const rounds = builder->rounds()) rounds->Cancel();
  }

  std::shared_ptr<Dataset const> const data;
  Backend const& backend;
  std::unique_ptr<TreeBuilder> builder;
  std::shared_ptr<TraceFile> trace;
};

Trainer::Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads) {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
  impl_ = std::make_unique<Impl>(std::move(data), backend, threads);
}
Trainer::~Trainer() = default;

Tree Trainer::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  params.Validate();
  impl_->Cancel();
  return impl_->builder->Grow(params, gradients, key);
}

VectorTree Trainer::GrowVectors(TrainParams const& params, Span<GradientPair const> gradients, std::uint32_t outputs,
                                TreeKey key) {
  params.Validate();
  impl_->Cancel();
  return impl_->builder->GrowVectors(params, gradients, outputs, key);
}

void Trainer::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  impl_->builder->LeafPositions(positions, sampled_out);
}

void Trainer::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  impl_->builder->AddLeafValues(node_values, margins, stride);
}

void Trainer::Trace(std::shared_ptr<TraceFile> file) {
  if (file == impl_->trace) return;
  impl_->Cancel();
  impl_->trace = file;
  impl_->builder->Trace(std::move(file));
}

MemoryReport Trainer::memory() const { return impl_->builder->memory(); }
std::uint64_t Trainer::memory_version() const { return impl_->builder->memory_version(); }
bool Trainer::lost() const { return impl_->builder->lost(); }
Dataset const& Trainer::data() const { return *impl_->data; }
BackendKind Trainer::backend() const { return impl_->backend.kind(); }
ResidentRounds* Trainer::rounds() const { return impl_->builder->rounds(); }

}  // namespace xgbgpu
