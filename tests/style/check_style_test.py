"""check_style.py must find what it is there to find, in files with one fault each."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import check_style  # noqa: E402

OPENING = "// A thing: what it is for,\n// and what not.\n// Thread safety: value.\n"
HEADER = OPENING + "#pragma once\n"


class CheckStyle(unittest.TestCase):
    def problems(self, name, text):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            return check_style.check(root)

    def test_good_files_give_no_problem(self):
        self.assertEqual([], self.problems("base/a.h", HEADER + "int F();\n"))
        self.assertEqual([], self.problems("base/a.cc", "int F() { return 1; }\n"))
        self.assertEqual([], self.problems("docs/a.md", "# Title\n"))

    def test_long_files_are_found(self):
        self.assertEqual([], self.problems("a.cc", "int x;\n" * 500))
        self.assertIn("a.cc: 501 lines", self.problems("a.cc", "int x;\n" * 501)[0])

    def test_long_lines_are_found(self):
        self.assertEqual([], self.problems("a.cc", "/" * 120 + "\n"))
        self.assertIn("a.cc:1: 121 columns", self.problems("a.cc", "/" * 121 + "\n")[0])

    def test_columns_are_characters_not_bytes(self):
        self.assertEqual([], self.problems("a.cc", "//" + "→" * 118 + "\n"))

    def test_tabs_and_trailing_blanks_are_found(self):
        self.assertIn("a.cc:1: tab", self.problems("a.cc", "\tint x;\n")[0])
        self.assertIn("a.cc:2: blanks at the end", self.problems("a.cc", "\nint x; \n")[0])

    def test_a_header_without_pragma_once_is_found(self):
        self.assertEqual(["a.h: no #pragma once"], self.problems("a.h", OPENING))

    def test_a_header_without_opening_comment_is_found(self):
        self.assertIn("a.h:1: opens with 0 lines", self.problems("a.h", "#pragma once\n")[0])
        self.assertIn("a.h:1: opens with 31 lines", self.problems("a.h", "// x\n" * 31 + "#pragma once\n")[0])

    def test_using_namespace_in_a_header_is_found(self):
        self.assertIn("a.h:5: using namespace", self.problems("a.h", HEADER + "  using namespace std;\n")[0])
        self.assertEqual([], self.problems("a.cc", "using namespace std;\n"))

    def test_open_ends_are_found(self):
        for word in ("TO" "DO", "FIX" "ME"):
            self.assertIn("open end", self.problems("docs/a.md", f"{word}: later\n")[0])

    def test_paths_of_the_machine_are_found(self):
        for path in ("/ro" "ot/x", "/ho" "me/someone/x", "/wo" "rk/main"):
            self.assertIn("path of a machine", self.problems("scripts/a.sh", f"cd {path}\n")[0])

    def test_build_folders_are_not_read(self):
        self.assertEqual([], self.problems("build/dev/a.cc", "\tint x;\n"))


if __name__ == "__main__":
    unittest.main()
