#include "memory_board.h"

#include <utility>
#include <vector>

#include "json_text.h"
#include "xgboost_gpu.h"

namespace xgbgpu::plugin {

namespace {

std::string Describe(Trainer const& trainer) {
  Dataset const& data = trainer.data();
  bool const cuda = trainer.backend() == BackendKind::kCuda;
  MemoryReport const memory = trainer.memory();
  std::vector<std::pair<std::string, std::string>> parts;
  for (auto const& part : memory.parts) parts.emplace_back(part.name, std::to_string(part.bytes));
  return Object({{"backend", Quote(cuda ? "cuda" : "host")},
                 {"device", cuda ? std::to_string(data.place().device) : "null"},
                 {"rows", std::to_string(data.rows())},
                 {"columns", std::to_string(data.features())},
                 {"dataset_bytes", std::to_string(data.bytes())},
                 {"training_bytes", std::to_string(memory.bytes)},
                 {"peak_bytes", std::to_string(memory.peak_bytes)},
                 {"parts", Object(parts)}});
}

}  // namespace

MemoryBoard& MemoryBoard::Instance() {
  static auto* const kBoard = new MemoryBoard;  // never freed: boosters may be at exit
  return *kBoard;
}

MemoryBoard::Note::Note(Trainer const& trainer) : trainer_{trainer}, described_{trainer.memory_version()} {
  std::string text = Describe(trainer);
  MemoryBoard& board = Instance();
  std::lock_guard<std::mutex> lock{board.mutex_};
  text_ = board.notes_.insert(board.notes_.end(), std::move(text));
}

MemoryBoard::Note::~Note() {
  MemoryBoard& board = Instance();
  std::lock_guard<std::mutex> lock{board.mutex_};
  board.notes_.erase(text_);
}

void MemoryBoard::Note::Refresh() {
  std::uint64_t const version = trainer_.memory_version();
  if (version == described_) return;
  std::string text = Describe(trainer_);
  described_ = version;
  std::lock_guard<std::mutex> lock{Instance().mutex_};
  text_->swap(text);
}

std::string MemoryBoard::Json() {
  std::lock_guard<std::mutex> lock{mutex_};
  return Array({notes_.begin(), notes_.end()});
}

}  // namespace xgbgpu::plugin

char const* XGBGPUMemoryReport() {
  thread_local std::string report;
  report = xgbgpu::plugin::MemoryBoard::Instance().Json();
  return report.c_str();  // NOLINT(clang-analyzer-cplusplus.InnerPointer): it outlives the call
}
