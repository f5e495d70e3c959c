// Grows trees with the builder of a dataset, and knows which speculative trees are under way.
#include "xgbgpu/trainer.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/host_memory.h"
#include "base/message.h"
#include "training/dataset_storage.h"
#include "xgbgpu/error.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu {

namespace {

/// Trees that were started before they are asked for.
struct SpeculativeTrees {
  TrainParams params;
  ResidentRows const* rows;
  std::vector<RoundTree> trees;
  std::size_t finished;  ///< number of trees that Grow has returned
};

}  // namespace

struct Trainer::Impl {
  std::shared_ptr<Dataset const> data;
  BackendKind backend;
  std::unique_ptr<TreeBuilder> builder;
  std::unique_ptr<SpeculativeTrees> speculative;  ///< null: no trees are started
  std::shared_ptr<TraceFile> trace;

  /// Throws Unsupported if trees grow on the host.
  DeviceRounds& rounds() const {
    DeviceRounds* const rounds = builder->rounds();
    if (rounds == nullptr) Throw<Unsupported>("Rows and trees are kept on a device only, and this trainer has none");
    return *rounds;
  }
};

Trainer::Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads) {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
  Backend const& chosen = BackendOf(*data, backend);
  impl_ = std::make_unique<Impl>(Impl{std::move(data), chosen.kind(), nullptr, nullptr, nullptr});
  WithMemoryFor("rows and nodes of trees", [&] { impl_->builder = MakeBuilder(*impl_->data, chosen, threads); });
}
Trainer::~Trainer() { Abandon(); }

Tree Trainer::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  params.Validate();
  Abandon();
  return impl_->builder->Grow(params, gradients, key);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(std::uint32_t outputs) {
  DeviceRounds* const rounds = impl_->builder->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(outputs);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  DeviceRounds* const rounds = impl_->builder->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(source, outputs);
}

bool Trainer::keeps_rows() const { return impl_->builder->rounds() != nullptr; }

void Trainer::KeepTree(Tree const& tree, std::uint32_t output) { impl_->rounds().KeepTree(tree, output); }
void Trainer::ForgetTrees() { impl_->rounds().ForgetTrees(); }
std::size_t Trainer::kept_trees() const { return impl_->rounds().kept_trees(); }

Tree Trainer::Grow(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key) {
  RoundTree const wanted{output, key};
  bool const started = impl_->speculative != nullptr && impl_->speculative->rows == rows &&
                       impl_->speculative->params == params &&
                       impl_->speculative->trees[impl_->speculative->finished] == wanted;
  if (!started) StartSpeculative(params, rows, {wanted});
  try {
    Tree tree = impl_->rounds().FinishNext();
    if (++impl_->speculative->finished == impl_->speculative->trees.size()) impl_->speculative.reset();
    return tree;
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::StartSpeculative(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> const& trees) {
  if (impl_->speculative != nullptr && impl_->speculative->finished == 0 && impl_->speculative->rows == rows &&
      impl_->speculative->params == params && impl_->speculative->trees == trees) {
    return;
  }
  params.Validate();
  Abandon();
  impl_->speculative = std::make_unique<SpeculativeTrees>(SpeculativeTrees{params, rows, trees, 0});
  try {
    impl_->rounds().Begin(params, rows, trees);
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::Abandon() {
  if (impl_->speculative == nullptr) return;
  impl_->speculative.reset();
  if (DeviceRounds* const rounds = impl_->builder->rounds()) rounds->Abandon();
}

void Trainer::AdaptLeaves(Tree* tree, ResidentRows* rows) { impl_->rounds().AdaptLeaves(tree, rows); }

void Trainer::AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) {
  impl_->rounds().AddLeafValues(node_values, rows, output);
}

void Trainer::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  impl_->builder->LeafPositions(positions, sampled_out);
}

void Trainer::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  impl_->builder->AddLeafValues(node_values, margins, stride);
}

void Trainer::Trace(std::shared_ptr<TraceFile> file) {
  if (file == impl_->trace) return;
  Abandon();
  impl_->trace = file;
  impl_->builder->Trace(std::move(file));
}

MemoryReport Trainer::memory() const { return impl_->builder->memory(); }
std::uint64_t Trainer::memory_version() const { return impl_->builder->memory_version(); }
Dataset const& Trainer::data() const { return *impl_->data; }
BackendKind Trainer::backend() const { return impl_->backend; }
bool Trainer::lost() const { return impl_->builder->lost(); }

}  // namespace xgbgpu
