// Compares names of categories of batches.
#include "booster/batch_names.h"

#include <exception>
#include <utility>

#include "base/message.h"
#include "matrix/coded_matrices.h"

namespace xgbgpu::plugin {

namespace {

std::string ReferencesDiffer(bool has_reference, std::uint64_t batch) {
  return Message("The categories have ", has_reference ? "a" : "no",
                 " reference (feature_types=booster.get_categories()) in batch ", batch, " and ",
                 has_reference ? "none" : "one", " in batch 0; allowed: the same reference in every batch, or none");
}

}  // namespace

BatchNames* BatchNames::Of(DMatrixHandle proxy) {
  BatchNames* const innermost = CallState::OfThisThread().batch_names;
  return innermost != nullptr && innermost->proxy_ == proxy ? innermost : nullptr;
}

void BatchNames::Add(char const* columns) {
  std::uint64_t const batch = batches_++;
  if (!why_mixed_.empty()) return;
  bool const has_reference = HaveReference(columns);
  CategoryNames names;  // none with a reference, whose names count whatever the frame lists
  try {
    if (!has_reference) names = CategoryNames::OfColumns(columns);
  } catch (std::exception const& error) {  // XGBoost takes the batch, and a round must not
    why_mixed_ = Message("The names of categories in batch ", batch, " cannot be compared: ", error.what(),
                         "; allowed: arrays of text or of whole numbers, without a mask");
    return;
  }
  if (batch == 0) {
    first_ = std::move(names);
    first_has_reference_ = has_reference;
  } else if (has_reference != first_has_reference_) {
    why_mixed_ = ReferencesDiffer(has_reference, batch);
  } else if (auto difference = names.Unlike(first_, Message("in batch ", batch), "in batch 0"); !difference.empty()) {
    why_mixed_ = difference +
                 "; allowed: the categories of batch 0 in their order in every batch, as column.cat.set_categories(…) "
                 "lists them";
  }
}

void BatchNames::NoteIn(xgboost::DMatrix const& made) const {
  if (first_has_reference_) NoteCoded(made);
  if (!why_mixed_.empty()) NoteMixed(made, why_mixed_);
}

}  // namespace xgbgpu::plugin
