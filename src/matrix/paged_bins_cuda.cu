// Packs bins of a device into pages, and unpacks them.
#include <algorithm>

#include "base/message.h"
#include "cuda/grid.h"
#include "cuda/launch.h"
#include "matrix/paged_bins_cuda.h"

namespace xgbgpu {

namespace {

constexpr int kThreads = 256;
constexpr int kResident = 8;
constexpr std::size_t kAlign = 256;  // alignment of the parts of a sparse page
constexpr char const* kAdding = "moving a page to the host";

std::size_t Aligned(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// Returns the address of a value's symbol in a dense matrix.
__device__ std::uint8_t const* PlaceOf(DeviceMatrixView const& m, std::uint64_t row, std::uint32_t feature) {
  return m.records + (feature / m.tile_columns * m.rows + row) * m.record_bytes() +
         feature % m.tile_columns * m.symbol_bytes;
}

/// Writes word w of the packed page: the bits from 32·w on. Words are little-endian; the first symbol has the lowest
/// bits.
__global__ void __launch_bounds__(kThreads)
    PackKernel(DeviceMatrixView m, std::uint64_t first, std::uint64_t n, std::uint32_t bits, std::uint32_t* words,
               std::uint64_t word_count) {
  std::uint64_t const symbols = n * m.features;
  for (std::uint64_t w = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; w < word_count;
       w += std::uint64_t{gridDim.x} * kThreads) {
    std::uint64_t const begin = 32 * w;
    std::uint64_t s = begin / bits;
    std::uint64_t row = s / m.features;
    auto feature = static_cast<std::uint32_t>(s - row * m.features);
    std::uint64_t word = 0;
    for (std::uint64_t at = s * bits; at < begin + 32 && s < symbols; ++s, at += bits) {
      std::uint8_t const* const place = PlaceOf(m, first + row, feature);
      std::uint64_t const symbol = m.symbol_bytes == 1 ? *place : *reinterpret_cast<std::uint16_t const*>(place);
      word |= at >= begin ? symbol << (at - begin) : symbol >> (begin - at);
      if (++feature == m.features) {
        feature = 0;
        ++row;
      }
    }
    words[w] = static_cast<std::uint32_t>(word);
  }
}

/// Writes the records of a page. A thread has a word of a record. Columns beyond the last feature become 0.
template <int kSymbolBytes>
__global__ void __launch_bounds__(kThreads)
    UnpackKernel(DeviceMatrixView m, std::uint32_t bits, std::uint32_t const* words, std::uint32_t* records) {
  cuda::WaitForKernelBefore();
  constexpr std::uint32_t kInWord = 4 / kSymbolBytes;
  std::uint32_t const record_words = m.tile_columns / kInWord, mask = (1U << bits) - 1;
  std::uint64_t const all = std::uint64_t{m.tiles} * m.rows * record_words;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kThreads + threadIdx.x; i < all;
       i += std::uint64_t{gridDim.x} * kThreads) {
    std::uint64_t const record = i / record_words;
    auto const tile = static_cast<std::uint32_t>(record / m.rows);
    std::uint64_t const row = record - tile * m.rows;
    std::uint32_t const feature =
        tile * m.tile_columns + static_cast<std::uint32_t>(i - record * record_words) * kInWord;
    std::uint32_t word = 0;
    std::uint64_t at = (row * m.features + feature) * bits;
#pragma unroll
    for (std::uint32_t k = 0; k < kInWord; ++k, at += bits) {
      if (feature + k >= m.features) break;
      // A spare word follows the page.
      std::uint32_t const both = __funnelshift_r(words[at / 32], words[at / 32 + 1], static_cast<unsigned>(at % 32));
      word |= (both & mask) << (k * 8 * kSymbolBytes);
    }
    records[i] = word;
  }
}

std::uint32_t BitsFor(std::uint32_t symbols) {
  std::uint32_t bits = 1;
  while (bits < 16 && (1U << bits) < symbols) ++bits;
  return bits;
}

}  // namespace

PagedBins::PagedBins(DeviceMatrixView const& layout, std::vector<DeviceTile> const& tiles, double kept_share,
                     PageStore::Options options)
    : layout_{layout}, kept_share_{kept_share}, store_{std::move(options)} {
  std::uint32_t symbols = 1;
  for (DeviceTile const& tile : tiles) symbols = std::max(symbols, tile.symbols);
  symbol_bits_ = BitsFor(symbols);
}

std::size_t PagedBins::PackedBytes(std::uint64_t rows) const {
  return ((rows * layout_.features * symbol_bits_ + 31) / 32 + 1) * sizeof(std::uint32_t);
}

std::size_t PagedBins::most_unpacked_bytes() const {
  return layout_.dense ? most_rows_ * layout_.tiles * layout_.record_bytes() : 0;
}

void PagedBins::Keep(RowPage const& page, std::size_t bytes) {
  store_.Add({on_its_way_.data(), bytes});
  pages_.push_back(page);
  most_bytes_ = std::max(most_bytes_, bytes);
  all_bytes_ += bytes;
  most_rows_ = std::max(most_rows_, page.view.rows);
}

std::uint8_t* PagedBins::ReserveOnItsWay(std::size_t bytes) {
  if (on_its_way_.size() < bytes) on_its_way_ = PinnedBuffer<std::uint8_t>{bytes};
  return on_its_way_.data();
}

std::size_t PagedBins::BringDense(DeviceMatrixView const& part, std::uint64_t first, std::uint64_t n,
                                  DeviceArena* arena) {
  std::size_t const bytes = PackedBytes(n), words = bytes / sizeof(std::uint32_t);
  std::uint8_t* const to = ReserveOnItsWay(bytes);
  DeviceBuffer<std::uint32_t> packed{arena, "page on its way", words};
  DeviceLimits const limits = CurrentDeviceLimits();
  Stream const stream;
  PackKernel<<<cuda::Blocks(words, kThreads, limits, kResident), kThreads, 0, stream>>>(part, first, n, symbol_bits_,
                                                                                        packed.data(), words);
  cuda::CheckLaunch(kAdding);
  CopyToHost(to, reinterpret_cast<std::uint8_t const*>(packed.data()), bytes, stream, kAdding);
  stream.Wait(kAdding);
  return bytes;
}

/// CSR is one tile.
template <typename Place, typename Cell>
std::size_t PagedBins::BringSparse(DeviceMatrixView const& part, Place const* places, Cell const* cells,
                                   std::uint64_t first, RowPage* page) {
  std::uint64_t const n = page->view.rows;
  Stream const stream;
  std::vector<Place> begins(part.tiles *
                            (n + 1));  // offsets of the rows' cells in each tile, and the end of the last row
  for (std::uint32_t t = 0; t < part.tiles; ++t) {
    CopyToHost(begins.data() + t * (n + 1), places + t * part.rows + first, n + 1, stream, kAdding);
  }
  stream.Wait(kAdding);
  page->stored = 0;
  for (std::uint32_t t = 0; t < part.tiles; ++t) page->stored += begins[t * (n + 1) + n] - begins[t * (n + 1)];
  std::size_t const place_bytes = Aligned((part.tiles * n + 1) * sizeof(Place));
  std::size_t const bytes = place_bytes + Aligned(page->stored * sizeof(Cell) + kAlign);  // lanes read beyond the last
  std::uint8_t* const to = ReserveOnItsWay(bytes);
  std::fill_n(to, bytes, std::uint8_t{0});
  auto* to_place = reinterpret_cast<Place*>(to);
  auto* to_cell = reinterpret_cast<Cell*>(to + place_bytes);
  Place stored = 0;
  for (std::uint32_t t = 0; t < part.tiles; ++t) {
    Place const *const begin = begins.data() + t * (n + 1), *const end = begin + n;
    to_place = std::transform(begin, end, to_place, [&](Place place) { return stored + (place - *begin); });
    CopyToHost(to_cell + stored, cells + *begin, *end - *begin, stream, kAdding);
    stored += *end - *begin;
  }
  *to_place = stored;
  stream.Wait(kAdding);
  return bytes;
}

void PagedBins::Add(DeviceMatrix const& part, std::uint64_t first_row, std::uint64_t first, std::uint64_t n,
                    DeviceArena* arena) {
  RowPage page{first_row + first, part.view, part.stored};
  page.view.rows = n;
  page.view.records = nullptr;
  page.view.row_ptr = nullptr;
  page.view.row_cells = nullptr;
  page.view.tile_ptr = nullptr;
  page.view.tile_cells = nullptr;
  page.view.tile = layout_.tile;
  page.view.cut_ptr = layout_.cut_ptr;
  DeviceMatrixView const& view = part.view;
  std::size_t const bytes = view.dense               ? BringDense(view, first, n, arena)
                            : view.sparse_in_tiles() ? BringSparse(view, view.tile_ptr, view.tile_cells, first, &page)
                                                     : BringSparse(view, view.row_ptr, view.row_cells, first, &page);
  Keep(page, bytes);
}

DeviceMatrixView PagedBins::Unpack(std::size_t page, std::uint8_t const* packed, std::uint8_t* room,
                                   DeviceLimits const& limits, cudaStream_t stream) const {
  DeviceMatrixView view = pages_[page].view;
  if (!view.dense) {
    bool const in_tiles = view.sparse_in_tiles();
    std::size_t const places = in_tiles ? (std::size_t{view.tiles} * view.rows + 1) * sizeof(std::uint32_t)
                                        : (view.rows + 1) * sizeof(std::uint64_t);
    std::uint8_t const* const cells = packed + Aligned(places);
    if (in_tiles) {
      view.tile_ptr = reinterpret_cast<std::uint32_t const*>(packed);
      view.tile_cells = reinterpret_cast<std::uint16_t const*>(cells);
    } else {
      view.row_ptr = reinterpret_cast<std::uint64_t const*>(packed);
      view.row_cells = reinterpret_cast<std::uint32_t const*>(cells);
    }
    return view;
  }
  std::uint64_t const words = std::uint64_t{view.tiles} * view.rows * view.record_bytes() / 4;
  auto* const kernel = view.symbol_bytes == 1 ? UnpackKernel<1> : UnpackKernel<2>;
  cuda::LaunchNext("unpacking a page", kernel, cuda::Blocks(words, kThreads, limits, kResident), kThreads, 0, limits,
                   stream, view, symbol_bits_, reinterpret_cast<std::uint32_t const*>(packed),
                   reinterpret_cast<std::uint32_t*>(room));
  view.records = room;
  return view;
}

}  // namespace xgbgpu
