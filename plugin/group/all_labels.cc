// Brings labels, weights and groups of a ranking of all workers together.
#include "group/all_labels.h"

#include <cstddef>
#include <vector>

#include "base/message.h"
#include "xgbgpu/error.h"

namespace xgbgpu::plugin {

namespace {

/// What there is beside each row: on all workers with rows, or on none.
constexpr char const* kNames[] = {"weights", "groups of a ranking (group or qid)", "lower bounds of labels",
                                  "upper bounds of labels"};

void Check(xgboost::MetaInfo const& own, std::int64_t columns, std::vector<bool> const& has,
           std::vector<std::int64_t> const& most) {
  std::size_t const rows = own.num_row_, labels = own.labels.Size(), weights = own.weights_.Size();
  if (labels != rows * static_cast<std::size_t>(columns)) {
    Throw<InvalidArgument>("There are ", labels, " labels for ", rows, " rows, and workers with ", columns,
                           " of each row; allowed: the same number on all workers");
  }
  if (weights != 0 && weights != rows && weights + 1 != own.group_ptr_.size()) {
    Throw<InvalidArgument>("There are ", weights, " weights for ", rows,
                           " rows; allowed: one for each row, or for each group of a ranking, or none");
  }
  for (std::size_t i = 0; i < has.size(); ++i) {
    if (!has[i] && most[i] != 0) {
      Throw<InvalidArgument>("Some workers have ", kNames[i], " and some have none; allowed: all or none");
    }
  }
}

}  // namespace

AllLabels LabelsOfAll(ProcessGroup* group, xgboost::MetaInfo const& own) {
  std::vector<bool> const has{!own.weights_.Empty(), !own.group_ptr_.empty(), !own.labels_lower_bound_.Empty(),
                              !own.labels_upper_bound_.Empty()};
  bool const has_rows = own.num_row_ != 0;  // a worker without rows may know nothing of the others' matrices
  std::vector<std::int64_t> most;
  for (bool const one : has) most.push_back(has_rows && one ? 1 : 0);
  most.push_back(has_rows ? static_cast<std::int64_t>(own.labels.Shape(1)) : 0);
  group->Max({most.data(), most.size()});
  std::int64_t const columns = most.back();
  Agree(*group, {}, [&] {
    if (has_rows) Check(own, columns, has, most);
  });

  Shard const place = Shard::Place(group, own.num_row_);
  AllLabels all{std::make_unique<xgboost::MetaInfo>(), place.first_row};
  auto const gather = [&](xgboost::HostDeviceVector<float> const& values) {
    return GatherAll(*group, Span<float const>{values.ConstHostVector()});
  };
  all.info->num_row_ = place.all_rows;
  all.info->labels.Reshape(place.all_rows, static_cast<std::size_t>(columns));
  all.info->labels.Data()->HostVector() = gather(*own.labels.Data());
  all.info->weights_.HostVector() = gather(own.weights_);
  all.info->labels_lower_bound_.HostVector() = gather(own.labels_lower_bound_);
  all.info->labels_upper_bound_.HostVector() = gather(own.labels_upper_bound_);
  std::vector<xgboost::bst_group_t> sizes;
  for (std::size_t i = 1; i < own.group_ptr_.size(); ++i) sizes.push_back(own.group_ptr_[i] - own.group_ptr_[i - 1]);
  if (most[1] != 0) all.info->group_ptr_.push_back(0);
  for (auto const size : GatherAll(*group, Span<xgboost::bst_group_t const>{sizes})) {
    all.info->group_ptr_.push_back(all.info->group_ptr_.back() + size);
  }
  return all;
}

}  // namespace xgbgpu::plugin
