#include "cli/plot/canvas.h"

#include <array>
#include <cstdlib>

namespace tsdb::cli {
namespace {

// Bits of the dots of a braille cell, by column and row, and the first character of the block (Unicode, U+2800).
constexpr std::uint8_t kDotBits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
constexpr unsigned kBrailleBlank = 0x2800;

void AppendBraille(std::uint8_t dots, std::string* out) {
  const unsigned code = kBrailleBlank + dots;
  out->push_back(static_cast<char>(0xE0 | (code >> 12)));
  out->push_back(static_cast<char>(0x80 | ((code >> 6) & 0x3F)));
  out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
}

}  // namespace

char LineMark(std::size_t line) {
  constexpr std::array<char, kLineStyles> marks = {'*', '+', 'x', 'o', '#', '@', '%', '='};
  return marks[line % kLineStyles];
}

std::string LineColor(std::size_t line) {
  // Of the sixteen colours that follow the theme of the terminal, those that are readable on dark and on light.
  constexpr std::array<const char*, kLineStyles> codes = {"36", "33", "35", "32", "94", "31", "96", "95"};
  return std::string("\x1b[") + codes[line % kLineStyles] + "m";
}

Canvas::Canvas(std::size_t columns, std::size_t rows, Glyphs glyphs)
    : columns_(columns), rows_(rows), glyphs_(glyphs), cells_(columns * rows) {}

void Canvas::Set(Dot dot, std::size_t line) {
  if (dot.x < 0 || dot.y < 0 || dot.x >= static_cast<std::int64_t>(dots_across()) ||
      dot.y >= static_cast<std::int64_t>(dots_down())) {
    return;
  }
  const auto x = static_cast<std::size_t>(dot.x);
  const auto y = static_cast<std::size_t>(dot.y);
  const bool braille = glyphs_ == Glyphs::kBraille;
  Cell& cell = braille ? cells_[(y / 4) * columns_ + x / 2] : cells_[y * columns_ + x];
  cell.dots = braille ? static_cast<std::uint8_t>(cell.dots | kDotBits[x % 2][y % 4]) : std::uint8_t{1};
  cell.line = static_cast<std::uint32_t>(line);
}

// Bresenham's algorithm (1965), in the form for all directions.
void Canvas::Draw(Dot from, Dot to, std::size_t line) {
  const std::int64_t across = std::abs(to.x - from.x);
  const std::int64_t down = -std::abs(to.y - from.y);
  const std::int64_t step_x = from.x < to.x ? 1 : -1;
  const std::int64_t step_y = from.y < to.y ? 1 : -1;
  std::int64_t error = across + down;
  while (true) {
    Set(from, line);
    if (from == to) {
      return;
    }
    const std::int64_t twice = 2 * error;
    if (twice >= down) {
      error += down;
      from.x += step_x;
    }
    if (twice <= across) {
      error += across;
      from.y += step_y;
    }
  }
}

void Canvas::AppendRow(std::size_t row, bool color, std::string* out) const {
  const Cell* cells = &cells_[row * columns_];
  std::size_t end = columns_;
  while (end > 0 && cells[end - 1].dots == 0) {
    --end;
  }
  bool colored = false;
  for (std::size_t i = 0; i < end; ++i) {
    const bool drawn = cells[i].dots != 0;
    if (color && drawn && (!colored || cells[i].line != cells[i - 1].line)) {
      *out += LineColor(cells[i].line);
    } else if (colored && !drawn) {
      *out += kColorEnd;
    }
    colored = color && drawn;
    if (!drawn) {
      *out += ' ';
    } else if (glyphs_ == Glyphs::kBraille) {
      AppendBraille(cells[i].dots, out);
    } else {
      *out += LineMark(cells[i].line);
    }
  }
  *out += colored ? kColorEnd : "";
}

}  // namespace tsdb::cli
