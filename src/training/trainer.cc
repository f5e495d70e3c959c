// Grows trees with the builder of a dataset, and knows which speculative trees are under way.
#include "xgbgpu/trainer.h"

#include <utility>
#include <vector>

#include "base/host_memory.h"
#include "base/message.h"
#include "training/dataset_storage.h"
#include "xgbgpu/error.h"
#include "xgbgpu/resident_rows.h"

namespace xgbgpu {

Trainer::Trainer(std::shared_ptr<Dataset const> data, BackendKind backend, int threads) : data_{std::move(data)} {
  if (threads < 1) Throw<InvalidArgument>("The number of threads is ", threads, "; allowed: 1 or more");
  Backend const& chosen = BackendOf(*data_, backend);
  backend_ = chosen.kind();
  WithMemoryFor("rows and nodes of trees", [&] { builder_ = MakeBuilder(*data_, chosen, threads); });
}
Trainer::~Trainer() { Abandon(); }

Tree Trainer::Grow(TrainParams const& params, Span<GradientPair const> gradients, TreeKey key) {
  params.Validate();
  Abandon();
  return builder_->Grow(params, gradients, key);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(std::uint32_t outputs) {
  DeviceRounds* const rounds = builder_->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(outputs);
}

std::unique_ptr<ResidentRows> Trainer::MakeResidentRows(RowSource const& source, std::uint32_t outputs) {
  DeviceRounds* const rounds = builder_->rounds();
  return rounds == nullptr ? nullptr : rounds->MakeResidentRows(source, outputs);
}

bool Trainer::keeps_rows() const { return builder_->rounds() != nullptr; }

DeviceRounds& Trainer::Rounds() const {
  DeviceRounds* const rounds = builder_->rounds();
  if (rounds == nullptr) Throw<Unsupported>("Rows and trees are kept on a device only, and this trainer has none");
  return *rounds;
}

void Trainer::KeepTree(Tree const& tree, std::uint32_t output) { Rounds().KeepTree(tree, output); }
void Trainer::ForgetTrees() { Rounds().ForgetTrees(); }
std::size_t Trainer::kept_trees() const { return Rounds().kept_trees(); }

Tree Trainer::Grow(TrainParams const& params, ResidentRows* rows, std::uint32_t output, TreeKey key) {
  RoundTree const wanted{output, key};
  bool const started = speculative_ != nullptr && speculative_->rows == rows && speculative_->params == params &&
                       speculative_->trees[speculative_->finished] == wanted;
  if (!started) StartSpeculative(params, rows, {wanted});
  try {
    Tree tree = Rounds().FinishNext();
    if (++speculative_->finished == speculative_->trees.size()) speculative_.reset();
    return tree;
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::StartSpeculative(TrainParams const& params, ResidentRows* rows, std::vector<RoundTree> const& trees) {
  if (speculative_ != nullptr && speculative_->finished == 0 && speculative_->rows == rows &&
      speculative_->params == params && speculative_->trees == trees) {
    return;
  }
  params.Validate();
  Abandon();
  speculative_ = std::make_unique<SpeculativeTrees>(SpeculativeTrees{params, rows, trees, 0});
  try {
    Rounds().Begin(params, rows, trees);
  } catch (...) {
    Abandon();
    throw;
  }
}

void Trainer::Abandon() {
  if (speculative_ == nullptr) return;
  speculative_.reset();
  if (DeviceRounds* const rounds = builder_->rounds()) rounds->Abandon();
}

void Trainer::AdaptLeaves(Tree* tree, ResidentRows* rows) { Rounds().AdaptLeaves(tree, rows); }

void Trainer::AddLeafValues(Span<float const> node_values, ResidentRows* rows, std::uint32_t output) {
  Rounds().AddLeafValues(node_values, rows, output);
}

void Trainer::LeafPositions(Span<NodeIndex> positions, Span<std::uint8_t> sampled_out) const {
  builder_->LeafPositions(positions, sampled_out);
}

void Trainer::AddLeafValues(Span<float const> node_values, float* margins, std::size_t stride) const {
  builder_->AddLeafValues(node_values, margins, stride);
}

void Trainer::Trace(std::shared_ptr<TraceFile> file) {
  if (file == trace_) return;
  Abandon();
  trace_ = file;
  builder_->Trace(std::move(file));
}

MemoryReport Trainer::memory() const { return builder_->memory(); }
std::uint64_t Trainer::memory_version() const { return builder_->memory_version(); }
bool Trainer::lost() const { return builder_->lost(); }

}  // namespace xgbgpu
