#include "chunk/chunk_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "chunk/chunk_rows.h"
#include "chunk/value_scan.h"

namespace tsdb::chunk {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Of a counter fewer than one value in so many falls.
constexpr std::size_t kFallsApart = 16;

bool SameBits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

/// Walks the pages of a chunk.
class Computer {
 public:
  /// More than `falls_max` falls are only counted.
  Computer(ChunkStatistics* result, std::size_t falls_max) : result_(result), falls_max_(falls_max) {}

  void AddPage(std::span<const double> values) {
    ValueScan scan = ScanValues(values);
    const std::uint64_t nans = scan.nans;
    std::span<const double> numbers = values;
    if (nans != 0) {
      numbers_.assign(values.begin(), values.end());
      std::erase_if(numbers_, [](double v) { return v != v; });
      numbers = numbers_;
      scan = ScanValues(numbers);
    }
    ValueStatistics page;
    if (!numbers.empty()) {
      SettleZeros(numbers, &scan);
      page.min = scan.min;
      page.max = scan.max;
      page.sum.Add(numbers);
      CountResets(numbers, scan.falls, &page);
      if (!has_numbers_) {
        result_->first_number = numbers.front();
        has_numbers_ = true;
      }
      result_->last_number = numbers.back();
    }
    page.count = static_cast<std::uint32_t>(values.size());
    page.nan_count = static_cast<std::uint32_t>(nans);
    result_->pages.push_back(std::move(page));
  }

  std::size_t falls() const { return falls_; }

 private:
  /// `inside`: how many of the numbers fall below the one before them here.
  void CountResets(std::span<const double> numbers, std::size_t inside, ValueStatistics* page) {
    const bool falls_between = has_numbers_ && numbers.front() < result_->last_number;
    falls_ += inside + (falls_between ? 1 : 0);
    if (falls_between) {
      page->resets->Add(result_->last_number);
    }
    if (inside == 0 || falls_ > falls_max_) {
      return;
    }
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      if (numbers[i] < numbers[i - 1]) {
        page->resets->Add(numbers[i - 1]);
      }
    }
  }

  ChunkStatistics* const result_;
  const std::size_t falls_max_;
  std::vector<double> numbers_;
  std::size_t falls_ = 0;
  bool has_numbers_ = false;
};

bool SameValues(const ValueStatistics& a, const ValueStatistics& b) {
  return a.count == b.count && a.nan_count == b.nan_count && SameBits(a.min, b.min) && SameBits(a.max, b.max) &&
         SameSum(a.sum, b.sum) && SameBits(a.sum.Sum(), b.sum.Sum()) && a.resets.has_value() == b.resets.has_value() &&
         (!a.resets || SameSum(*a.resets, *b.resets));
}

}  // namespace

void ValueStatistics::Merge(const ValueStatistics& later) {
  if (later.has_numbers()) {
    const bool alone = !has_numbers();
    min = alone || later.min < min || (later.min == min && std::signbit(later.min)) ? later.min : min;
    max = alone || later.max > max || (later.max == max && !std::signbit(later.max)) ? later.max : max;
    sum.Add(later.sum);
    if (resets && later.resets) {
      resets->Add(*later.resets);
    }
  }
  if (!later.resets) {
    resets.reset();
  }
  count += later.count;
  nan_count += later.nan_count;
}

ChunkStatistics ComputeStatistics(std::span<const double> values) {
  ChunkStatistics s;
  s.first_number = s.last_number = kNaN;
  const std::size_t falls_max = values.size() / kFallsApart;
  Computer computer(&s, falls_max);
  for (std::size_t i = 0; i < values.size(); i += kPageSamples) {
    computer.AddPage(values.subspan(i, std::min(kPageSamples, values.size() - i)));
  }
  if (computer.falls() > falls_max) {
    for (ValueStatistics& page : s.pages) {
      page.resets.reset();
    }
  }
  for (const ValueStatistics& page : s.pages) {
    s.Merge(page);
  }
  s.first = values.front();
  s.last = values.back();
  if (s.pages.size() == 1) {
    s.pages.clear();
  }
  return s;
}

ChunkStatistics ConstantStatistics(double value, std::uint32_t count) {
  ChunkStatistics s;
  s.first = s.last = value;
  s.first_number = s.last_number = value != value ? kNaN : value;
  for (std::uint32_t begin = 0; begin < count; begin += kPageSamples) {
    ValueStatistics page;
    page.count = std::min<std::uint32_t>(kPageSamples, count - begin);
    if (value != value) {
      page.nan_count = page.count;
    } else {
      page.min = page.max = value;
      // value · count as two doubles, each of them exact: the product of 27 and of 26 bits with a small number.
      const std::uint64_t low_bits = std::bit_cast<std::uint64_t>(value) & ((1u << 26) - 1);
      const double high = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) - low_bits);
      const auto n = static_cast<double>(page.count);
      if (std::isfinite(value) && std::fabs(value) < 1e290) {
        page.sum.Add(high * n);
        if (low_bits != 0) {
          page.sum.Add((value - high) * n);
        }
      } else {
        const std::vector<double> copies(page.count, value);
        page.sum.Add(copies);
      }
    }
    s.Merge(page);
    s.pages.push_back(std::move(page));
  }
  if (s.pages.size() == 1) {
    s.pages.clear();
  }
  return s;
}

void PoolPages(std::size_t step, ChunkStatistics* statistics) {
  const std::size_t share = step / statistics->page_step;
  std::vector<ValueStatistics>& pages = statistics->pages;
  std::vector<ValueStatistics> pooled;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (i % share == 0) {
      pooled.push_back(std::move(pages[i]));
    } else {
      pooled.back().Merge(pages[i]);
    }
  }
  pages = std::move(pooled);
  if (pages.size() == 1) {
    pages.clear();
  }
  statistics->page_step = step;
}

bool SameStatistics(const ChunkStatistics& a, const ChunkStatistics& b) {
  return SameValues(a, b) && SameBits(a.first, b.first) && SameBits(a.last, b.last) &&
         SameBits(a.first_number, b.first_number) && SameBits(a.last_number, b.last_number) &&
         std::ranges::equal(a.pages, b.pages, SameValues);
}

}  // namespace tsdb::chunk
