"""check_layers.py must find what it is there to find, in small trees with one fault each."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
sys.dont_write_bytecode = True
import check_layers  # noqa: E402

CMAKE = """tsdb_layer(base       LIBRARIES Boost::filesystem fmt::fmt)
tsdb_layer(chunk      LAYERS base LIBRARIES tsdb_zstd)
"""


class CheckLayers(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in {"CMakeLists.txt": CMAKE, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_layers.check(root)

    def test_allowed_includes_give_no_problem(self):
        self.assertEqual([], self.problems({
            "include/tsdb/status.h": "#include <string>\n",
            "base/clock.h": '#include "tsdb/status.h"\n',
            "chunk/a.cc": '#include "base/clock.h"\n#include "chunk/a.h"\n',
            "chunk/a.h": "#include <vector>\n",
            "index/i.cc": "#include <rocksdb/db.h>\n",
        }))

    def test_a_lower_folder_including_a_higher_one_is_found(self):
        found = self.problems({"base/clock.h": '#include "chunk/a.h"\n', "chunk/a.h": "\n"})
        self.assertEqual(1, len(found))
        self.assertIn("base/clock.h:1: base/ may not include chunk/a.h", found[0])

    def test_a_program_including_an_inner_header_is_found(self):
        found = self.problems({"cli/main.cc": '\n#include "engine/head.h"\n', "engine/head.h": "\n"})
        self.assertIn("cli/main.cc:2: cli/ may not include engine/head.h", found[0])

    def test_neighbours_may_not_include_each_other(self):
        self.assertTrue(self.problems({"wal/log.h": '#include "chunk/a.h"\n', "chunk/a.h": "\n"}))

    def test_public_headers_may_not_include_inner_ones(self):
        self.assertTrue(self.problems({"include/tsdb/a.h": '#include "base/b.h"\n', "base/b.h": "\n"}))

    def test_rocksdb_outside_index_is_found(self):
        found = self.problems({"engine/e.cc": "#include <rocksdb/db.h>\n"})
        self.assertIn("only index/ may include RocksDB", found[0])

    def test_a_circle_is_found(self):
        found = self.problems({
            "base/a.h": '#include "base/b.h"\n',
            "base/b.h": '#include "base/c.h"\n',
            "base/c.h": '#include "base/a.h"\n',
        })
        self.assertEqual(["circle of includes: base/a.h -> base/b.h -> base/c.h -> base/a.h"], found)

    def test_a_missing_header_is_found(self):
        self.assertIn("there is no file base/gone.h", self.problems({"base/a.cc": '#include "base/gone.h"\n'})[0])
        self.assertIn("there is no file tsdb/gone.h", self.problems({"cli/a.cc": "#include <tsdb/gone.h>\n"})[0])

    def test_a_cmake_layer_that_differs_from_the_table_is_found(self):
        found = self.problems({"CMakeLists.txt": "tsdb_layer(base LAYERS chunk LIBRARIES fmt::fmt)\n"})
        self.assertIn("CMakeLists.txt: layer base names ['chunk'], the table []", found[0])


if __name__ == "__main__":
    unittest.main()
