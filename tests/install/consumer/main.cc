// Grows one tree with the installed engine: eight rows, one column 0 … 7, gradient +1 for the first four and -1 for the
// others. The tree must split between 3 and 4, and its leaves are -sum(grad)/sum(hess), -1 and +1. Then asks for something
// that is not allowed: the engine's exception must arrive as what it is.

#include <cstdio>
#include <memory>
#include <vector>

#include "xgbgpu/error.h"
#include "xgbgpu/trainer.h"

namespace {

class Column : public xgbgpu::RowSource {
 public:
  Column() {
    for (int i = 0; i < 8; ++i) {
      offsets_.push_back(static_cast<std::uint64_t>(i));
      entries_.push_back({0, static_cast<float>(i)});
    }
    offsets_.push_back(8);
  }
  std::uint64_t rows() const override { return 8; }
  xgbgpu::FeatureIndex features() const override { return 1; }
  void ForEachBatch(std::function<void(xgbgpu::RowBatch const&)> const& visit) const override {
    visit({0, offsets_, entries_});
  }

 private:
  std::vector<std::uint64_t> offsets_;
  std::vector<xgbgpu::Entry> entries_;
};

}  // namespace

int main() {
  auto const data = xgbgpu::Dataset::Build(Column{}, {}, 256, 2);
  xgbgpu::Trainer trainer(data, xgbgpu::BackendKind::kHost, 2);

  std::vector<xgbgpu::GradientPair> gradients;
  for (int i = 0; i < 8; ++i) {
    gradients.push_back({i < 4 ? 1.0f : -1.0f, 1.0f});
  }
  xgbgpu::TrainParams params;
  params.max_depth = 1;
  params.reg_lambda = 0.0f;
  params.learning_rate = 1.0f;
  xgbgpu::Tree const tree = trainer.Grow(params, gradients, {});

  bool const right = tree.size() == 3 && tree.threshold[0] > 3.0f && tree.threshold[0] <= 4.0f &&
                     tree.leaf_value[1] == -1.0f && tree.leaf_value[2] == 1.0f;
  if (!right) {
    std::fprintf(stderr, "unexpected tree of %zu nodes\n", tree.size());
    return 1;
  }

  try {
    xgbgpu::Dataset::Build(Column{}, {}, 1, 2);
  } catch (xgbgpu::InvalidArgument const&) {
    return 0;
  }
  std::fprintf(stderr, "a max_bin of 1 was taken\n");
  return 1;
}
