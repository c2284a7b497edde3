// Canvas: a grid of terminal cells that lines are drawn on.
//
//   braille  a cell is 2 × 4 dots; a cell has the colour of the line that touched it last
//   marks    a cell is one dot, shown as the mark of its line: * + x o # @ % =
//
// Dots count from the top left. Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tsdb::cli {

enum class Glyphs : std::uint8_t { kBraille, kMarks };

/// Where a dot is. Points outside the canvas are not drawn.
struct Dot {
  std::int64_t x = 0;
  std::int64_t y = 0;
  friend bool operator==(const Dot&, const Dot&) = default;
};

class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, Glyphs glyphs);

  std::size_t dots_across() const { return columns_ * (glyphs_ == Glyphs::kBraille ? 2 : 1); }
  std::size_t dots_down() const { return rows_ * (glyphs_ == Glyphs::kBraille ? 4 : 1); }
  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return rows_; }

  /// Draws from `from` to `to`, both included; equal ends are one dot.
  void Draw(Dot from, Dot to, std::size_t line);
  /// Appends the cells of a row, without blanks at its end.
  void AppendRow(std::size_t row, bool color, std::string* out) const;

 private:
  struct Cell {
    std::uint8_t dots = 0;    // braille: a bit per dot; marks: 1
    std::uint32_t line = 0;
  };
  void Set(Dot dot, std::size_t line);

  const std::size_t columns_;
  const std::size_t rows_;
  const Glyphs glyphs_;
  std::vector<Cell> cells_;
};

/// Number of marks and of colours before they repeat.
inline constexpr std::size_t kLineStyles = 8;
/// The character that stands for a line among marks.
char LineMark(std::size_t line);
/// The escape sequence that begins a line's colour. kColorEnd ends it.
std::string LineColor(std::size_t line);
inline constexpr char kColorEnd[] = "\x1b[0m";

}  // namespace tsdb::cli
