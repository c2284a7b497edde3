"""What the README shows must be what is there: its C++ stands in examples/embed.cc, its links lead somewhere."""

import pathlib
import re
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Readme(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_the_program_is_the_example(self):
        shown = re.search(r"```cpp\n(.*?)```", self.text, re.S).group(1)
        source = (ROOT / "examples/embed.cc").read_text(encoding="utf-8")
        example = re.search(r"// README begin\n(.*?) *// README end", source, re.S).group(1)
        self.assertEqual(textwrap.dedent(example), shown)

    def test_links_of_all_documents_lead_somewhere(self):
        documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
        for document in documents:
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
                if "://" not in target:
                    self.assertTrue((document.parent / target).exists(), f"{document.name}: {target}")

    def test_commands_name_scripts_that_exist(self):
        for name in set(re.findall(r"scripts/[\w.]+", self.text)):
            self.assertTrue((ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
