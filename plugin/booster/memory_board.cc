// Notes what trainers hold, and writes the notes as JSON.
#include "booster/memory_board.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "call/call_state.h"
#include "errors/notice.h"
#include "xgbgpu/device_rows.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

TrainingFacts FactsOf(Trainer const& trainer) {
  Dataset const& data = trainer.data();
  return {trainer.backend(), data.place().device, data.devices(),  data.rows(),
          data.features(),   data.bytes(),        trainer.memory()};
}

nlohmann::ordered_json Describe(TrainingFacts const& facts) {
  auto parts = nlohmann::ordered_json::object();
  for (auto const& part : facts.memory.parts) parts[part.name] = part.bytes;
  MemoryReport::Pages const& pages = facts.memory.pages;
  auto const of_pages = pages.count == 0 ? nlohmann::ordered_json()
                                         : nlohmann::ordered_json{{"count", pages.count},
                                                                  {"on_device", pages.on_device},
                                                                  {"memory_bytes", pages.memory_bytes},
                                                                  {"file_bytes", pages.file_bytes},
                                                                  {"copied_bytes", pages.copied_bytes}};
  bool const cuda = facts.backend == BackendKind::kCuda;
  return {{"backend", cuda ? "cuda" : "host"},
          {"device", cuda ? nlohmann::ordered_json(facts.device) : nlohmann::ordered_json()},
          {"devices", facts.devices},
          {"rows", facts.rows},
          {"columns", facts.columns},
          {"dataset_bytes", facts.dataset_bytes},
          {"array_bytes", cuda ? DeviceRowsBytes(facts.device) : 0},
          {"training_bytes", facts.memory.bytes},
          {"peak_bytes", facts.memory.peak_bytes},
          {"parts", parts},
          {"pages", of_pages}};
}

/// Tells the user where the bins of a training are that are not in core.
void InformOfPages(Trainer const& trainer) {
  MemoryReport::Pages const pages = trainer.memory().pages;
  if (pages.count == 0) return;
  std::string const where = std::to_string(pages.count) + " pages: " + std::to_string(pages.memory_bytes) +
                            " bytes in host memory, " + std::to_string(pages.file_bytes) + " in a file";
  InformOnce("pages " + where,
             "a training on " + std::to_string(trainer.data().rows()) +
                 " rows would take more memory in core than it may (gpu_memory_limit, or what is free "
                 "on the GPU): its bins are in " +
                 where + ". The model is the same.");
}

}  // namespace

MemoryBoard& MemoryBoard::Instance() {
  static auto* const kBoard = new MemoryBoard;  // never freed: boosters may be at exit
  return *kBoard;
}

MemoryBoard::Note::Note(Trainer const& trainer) : trainer_{trainer}, described_{trainer.memory_version()} {
  TrainingFacts facts = FactsOf(trainer);
  MemoryBoard& board = Instance();
  std::lock_guard<std::mutex> lock{board.mutex_};
  facts_ = board.notes_.insert(board.notes_.end(), std::move(facts));
}

MemoryBoard::Note::~Note() {
  MemoryBoard& board = Instance();
  std::lock_guard<std::mutex> lock{board.mutex_};
  board.notes_.erase(facts_);
}

void MemoryBoard::Note::Refresh() {
  std::uint64_t const version = trainer_.memory_version();
  if (version == described_) return;
  TrainingFacts facts = FactsOf(trainer_);
  described_ = version;
  std::lock_guard<std::mutex> lock{Instance().mutex_};
  std::swap(*facts_, facts);
}

std::string MemoryBoard::Json() {
  auto trainings = nlohmann::ordered_json::array();
  std::lock_guard<std::mutex> lock{mutex_};
  for (TrainingFacts const& facts : notes_) trainings.push_back(Describe(facts));
  return trainings.dump();
}

TrainingPool::MakeWatch WatchMemory() {
  return [](Trainer const& trainer) {
    InformOfPages(trainer);
    return std::make_unique<MemoryBoard::Note>(trainer);
  };
}

}  // namespace xgbgpu::plugin

char const* XGBGPUMemoryReport() {
  std::string& report = xgbgpu::plugin::CallState::OfThisThread().memory_report;
  report = xgbgpu::plugin::MemoryBoard::Instance().Json();
  return report.c_str();  // NOLINT(clang-analyzer-cplusplus.InnerPointer): it outlives the call
}
