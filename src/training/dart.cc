// Remembers the weights of a dart's trees, and completes the leaf columns that its margins are made of.
#include "xgbgpu/dart.h"

#include <utility>

#include "xgbgpu/error.h"

namespace xgbgpu {

std::vector<float> const& DartWeights::all() {
  if (!knows_all_) {
    if (dart_->rounds() > 0) {
      dart_->AskWeights(0, 0, &all_);
    } else {
      all_.clear();
    }
    knows_all_ = true;
  }
  return all_;
}

void DartWeights::Draw() {
  is_drawn_ = drew_none_ = false;
  drawn_ = dart_->Draw([this]() -> std::vector<float> const& { return all(); });
  is_drawn_ = true;
  drew_none_ = knows_all_ && drawn_ == all_;
}

void DartWeights::RoundIsOver(std::uint32_t rounds) {
  is_drawn_ = false;
  knows_all_ = knows_all_ && drew_none_;
  if (knows_all_) dart_->AskWeights(rounds - 1, rounds, &all_);
}

void DartWeights::Forget() {
  all_.clear();
  knows_all_ = is_drawn_ = drew_none_ = false;
}

bool CompleteColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                     RecordColumns const& record, Training* training, KeptRows* rows) {
  if (rows->no_room) return false;
  LeafColumns& columns = *rows->columns();
  auto const of_rounds = std::exchange(rows->rounds, std::nullopt);
  bool const anew = !columns.has_columns() || !of_rounds || *of_rounds > model.rounds ||
                    columns.columns() != *of_rounds * model.per_round() || !rows->base.IsOf(base, epoch);
  try {
    if (!anew && *of_rounds != model.rounds) {
      rows->rounds = of_rounds;
      training->AddKept(rows, model.rounds);
      rows->rounds.reset();
    }
    bool complete = !anew && columns.columns() == model.trees;
    if (!complete && model.IsEven()) complete = record(anew ? 0 : *of_rounds, &columns);
    if (complete) {
      if (anew) rows->base.Set(base, epoch);
      rows->rounds = model.rounds;
      return true;
    }
  } catch (OutOfDeviceMemory const&) {
    // The device is out of memory: this counts as no room.
  }
  rows->no_room = true;
  columns.EndColumns();
  return false;
}

bool CompleteOwnColumns(DartShape const& model, BaseMargins const& base, DataEpoch const& epoch,
                        RecordColumns const& record, Training* training) {
  KeptRows& own = training->own;
  if (own.no_room) return false;
  try {
    training->MakeOwnRows(model.outputs);
    return CompleteColumns(model, base, epoch, record, training, &own);
  } catch (OutOfDeviceMemory const&) {
    own.no_room = true;
    return false;
  }
}

std::optional<std::uint32_t> ReserveRound(Training* training, std::uint32_t rounds) {
  KeptRows& own = training->own;
  LeafColumns& columns = *own.columns();
  std::size_t const trees = rounds == 0 ? columns.outputs() : columns.columns() / rounds;
  if (columns.ReserveColumns(trees)) return own.rounds;
  own.no_room = true;
  columns.EndColumns();
  return {};
}

}  // namespace xgbgpu
