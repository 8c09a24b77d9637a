#!/usr/bin/env python3
"""Tests scripts/check_docs.py on documents with one error each: run_tests.py"""
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import check_docs  # noqa: E402
from documents.account import Account  # noqa: E402
from documents.marks import names_of  # noqa: E402
from documents.markdown import Document, DocumentError, dead_links  # noqa: E402
from documents.options import Options  # noqa: E402
from documents.numbers import in_prose, written_like  # noqa: E402
from documents.shown import alike  # noqa: E402
from documents.tables import write_table  # noqa: E402
from documents.values import Commands, Values  # noqa: E402

PROGRAM = """#!/bin/sh
case "$*" in
*translate*--help) echo '  --beam K';;
--help) printf '  translate   Translate\\n';;
translate) sed 's/^Hello$/Hallo/';;
"translate --model de-en") sed 's/^Hallo$/Hello/';;
say*) shift; printf '%s\\n' "$@";;
*) echo "attn-demo: cannot $1" >&2; exit 2;;
esac
"""


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.program = self.root / "program"
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        for name, value in {"ROOT": self.root, "COMPARED": True}.items():
            patch = mock.patch.object(check_docs, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def document(self, text):
        (self.root / "a.md").write_text(textwrap.dedent(text), encoding="utf-8")
        return Document(self.root / "a.md", "a.md")

    def faults(self, text, also=frozenset(), update=False):
        return check_docs.check(self.document(text), self.program, set(also), update)

    def test_commands_find_the_files_where_there_is_no_git(self):
        (self.root / "maps.txt").write_text("one\n", encoding="utf-8")
        with mock.patch.object(check_docs.shutil, "which", return_value=None):
            self.assertEqual(self.faults("# A\n```console\n$ cat maps.txt\none\n```\n"), [])

    def test_what_agrees_has_no_fault(self):
        self.assertEqual(self.faults("""\
            # A
            ```sh
            mkdir b && cd b
            x=1
            ```
            ```console
            $ pwd; echo $x
            ~/attn-demo/b
            1
            $ attn-demo say one \\
            >   two three
            …
            three
            ```
            ```python
            assert 1 + 1 == 2
            ```
            <!-- ends: 2 -->
            ```console
            $ attn-demo sing
            attn-demo: cannot sing
            ```
            <!-- shows: translations -->
            | English | German |
            | --- | --- |
            | Hello | Hallo |
            """), [])

    def test_a_command_that_fails_is_named_with_its_line(self):
        self.assertEqual(self.faults("# A\n```sh\ntrue\nattn-demo sing\n```\n"),
                         ["a.md:4: ended in 2: attn-demo sing\n    attn-demo: cannot sing"])

    def test_a_folder_that_is_left_by_cd_fails_later(self):
        found = self.faults("# A\n```sh\nmkdir b && cd b\n```\n\n```sh\nls b\n```\n")
        self.assertRegex(found[0], r"^a\.md:7: ended in 2: ls b\n")

    def test_another_exit_code_than_promised(self):
        self.assertEqual(self.faults("# A\n<!-- ends: 3 -->\n```console\n$ attn-demo sing\n```\n"),
                         ["a.md:4: ended in 2: $ attn-demo sing\n    attn-demo: cannot sing"])

    def test_output_that_differs(self):
        text = "# A\n```console\n$ attn-demo say one 0.53 three\none\n0.55\nthree\n```\n"
        self.assertEqual(self.faults(text), ["a.md:5: shown is\n    0.55\n  and what comes out is\n    0.53"])
        self.assertEqual(len(self.faults(text.replace("0.55", "0.54"))), 1)
        self.assertEqual(self.faults(text.replace("0.55", "0.53")), [])

    def test_output_that_is_missing_or_more(self):
        self.assertEqual(self.faults("# A\n```console\n$ attn-demo say one\none\ntwo\n```\n"),
                         ["a.md:5: shown is\n    two\n  and what comes out is\n    nothing like it"])
        self.assertEqual(self.faults("# A\n```console\n$ attn-demo say one two\none\n```\n"),
                         ["a.md:5: shown is\n    nothing more\n  and what comes out is\n    two"])
        self.assertEqual(self.faults("# A\n```console\n$ attn-demo say one two\n…\ntoo\n```\n"),
                         ["a.md:5: shown is\n    too\n  and what comes out is\n    two"])

    def test_output_in_a_block_of_its_own(self):
        text = "# A\n```python\nprint(1 + 1)\n```\n\n<!-- shows: output -->\n```\n3\n```\n"
        self.assertEqual(self.faults(text), ["a.md:8: shown is\n    3\n  and what comes out is\n    2"])
        self.assertEqual(self.faults(text.replace("3\n```", "2\n```")), [])

    def test_update_writes_what_comes_out(self):
        self.assertEqual(self.faults("# A\n```console\n$ attn-demo say one two three four\none\n…\nthrey\n…\n```\n"
                                     "```console\n$ attn-demo say five\n```\n", update=True), [])
        self.assertEqual((self.root / "a.md").read_text(),
                         "# A\n```console\n$ attn-demo say one two three four\none\n…\nthree\n…\n```\n"
                         "```console\n$ attn-demo say five\nfive\n```\n")

    def test_needs_are_left_out_unless_asked_for(self):
        text = "# A\n<!-- needs: venv, network -->\n```sh\nattn-demo sing\n```\n"
        self.assertEqual(self.faults(text), [])
        self.assertEqual(self.faults(text, {"venv"}), [])
        self.assertEqual(len(self.faults(text, {"venv", "network"})), 1)

    def test_a_translation_that_differs(self):
        self.assertEqual(self.faults("# A\n<!-- shows: translations -->\n| E | G |\n| --- | --- |\n| Hello | Halo |\n"),
                         ["a.md:5: shown is\n    Halo\n  and what comes out is\n    Hallo"])

    def test_another_models_translations(self):
        table = "# A\n<!-- shows: translations de-en -->\n| G | E |\n| --- | --- |\n| Hallo | %s |\n"
        self.assertEqual(self.faults(table % "Hello"), [])
        self.assertEqual(self.faults(table % "Halo"), ["a.md:5: shown is\n    Halo\n  and what comes out is\n    Hello"])

    def test_times_speeds_and_powers_of_ten_may_vary(self):
        self.assertTrue(alike("done in 4.2 s, 31,000 tokens/s, 0:22 left, 4.1e-07",
                                         "done in 11 s, 9,000 tokens/s, 1:02 left, 3.9e-07"))
        self.assertFalse(alike("update 250", "update 251"))
        self.assertFalse(alike("0.53", "0.531"))

    def test_links(self):
        (self.root / "b.md").write_text("# How to *read* `a` map?\n")
        document = self.document("# A\n[b](b.md#how-to-read-a-map) [web](https://c.org) [d](#a)\n"
                                 "`[code](no.md)` ![picture](no.svg)\n[e](#b) [f](b.md#no)\n[g](../x.md)\n")
        other = Document(self.root / "b.md", "b.md")
        self.assertEqual(list(dead_links([document, other], self.root)),
                         ["a.md:3: no.svg leads nowhere: there is no such file",
                          "a.md:4: #b leads nowhere: no heading there is #b",
                          "a.md:4: b.md#no leads nowhere: no heading there is #no",
                          "a.md:5: ../x.md leads out of the project"])

    def test_commands_and_options_in_the_text(self):
        document = self.document("# A\n`attn-demo translate --beam 4 \"…\"`\n`attn-demo translate --bean 4`\n"
                                 "`attn-demo sing`, `--beam K`, `--no-such`\n")
        self.assertEqual(list(Options(self.program, self.root).faults(document)),
                         ["a.md:3: there is no option --bean: `attn-demo translate --bean 4`",
                          "a.md:4: attn-demo has no command sing",
                          "a.md:4: there is no option --no-such: `--no-such`"])

    def test_documents_that_cannot_be_read(self):
        for text, message in {
                "# A\n```sh\nls\n": "a.md:2: this block is never closed",
                "# A\n<!-- needs: time -->\n```sh\nls\n```\n":
                    "a.md:2: nothing needs time; use build, files, hours, network, root, venv",
                "# A\n<!-- needs: venv -->\ntext\n": "a.md:2: nothing to mark follows",
                "# A\n```console\nout\n```\n": "a.md:3: a console block begins with $ and a command",
                "# A\n<!-- skip -->\n": "a.md:2: not a mark that is known: <!-- skip -->; write "
                                        "<!-- needs: venv -->, <!-- ends: 2 -->, <!-- shows: output --> or "
                                        "<!-- shows: translations -->; scripts/documents/marks.py has those of numbers",
                "# A\n<!-- shows: output -->\n```\none\n```\n": "a.md:3: no block before it prints this"}.items():
            with self.assertRaises(DocumentError) as caught:
                self.document(text)
            self.assertEqual(str(caught.exception), message)


RECORD = """{"source": {"tokens": ["▁went", "</s>"]}, "encoder_self": [[[[0.5, 0.5], [0.1, 0.9]]]], "hypotheses":
 [{"tokens": ["▁ging", "</s>"], "decoder_self": [[[[1], [0.5, 0.5]]]], "cross": [[[[0.672, 0.328], [0.1, 0.9]]]]}]}"""


class NumbersTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        record = RECORD.replace("\n", "")
        (self.root / "attn-demo").write_text(f"#!/bin/sh\necho '{record}'\n", encoding="utf-8")
        (self.root / "attn-demo").chmod(0o755)
        (self.root / "limits.h").write_text("constexpr int kMost = 65'536;\n", encoding="utf-8")

    def account(self, text, update=False):
        path = self.root / "a.md"
        path.write_text(text, encoding="utf-8")
        document = Document(path, "a.md")
        values = Values(Commands(self.root / "attn-demo", self.root), self.root, names_of(document), None)
        book = Account(document, values, update, self.root)
        faults = book.check()
        path.write_text("\n".join(document.lines), encoding="utf-8")
        return faults

    def text(self):
        return (self.root / "a.md").read_text(encoding="utf-8")

    def test_a_number_without_a_source(self):
        self.assertEqual(self.account("# A\nThe weight\nis 0.67.\n"), ["a.md:3: unaccounted number 0.67: is 0.67."])

    def test_names_are_no_numbers(self):
        line = ("See section 3.2.2 and [2. Query](#2-query) of Vaswani et al. 2017 (2018), eqs. 5 and 6: `cross:2:2`, "
                "x86-64, int8, Debian 12 and 13, 2026-11-27, counted from 0, `--beam 4`, $x_1$")
        self.assertEqual(in_prose(line, 1), [])
        found = in_prose("`0.67` of 270,314, −0.157 and $e^{-0.157}$ in 14 minutes on Debian 13 and 8 minutes on it", 1)
        self.assertEqual([n.text for n in found], ["0.67", "270,314", "−0.157", "-0.157", "14", "8"])

    def test_a_cell_of_a_map(self):
        text = '# A\n<!-- from: weight("cross:0:0", "ging", "went") -->\n"went" has 0.67.\n'
        self.assertEqual(self.account(text), [])
        self.assertEqual(self.account(text.replace("0.67.", "0.68.")),
                         ['a.md:3: 0.68 is 0.67 by weight("cross:0:0", "ging", "went"); --update writes it'])
        self.assertEqual(self.account(text.replace("0.67.", "0.6."), update=True), [])
        self.assertIn("has 0.7.", self.text())

    def test_a_row_of_the_block_above(self):
        text = "# A\n```console\n$ x\nging 0.67▓ 0.33\n```\n<!-- from: above[\"ging\"]; sum(above[\"ging\"]) -->\n0.67 and 0.33 make 1.\n"
        self.assertEqual(self.account(text), [])
        self.assertEqual(len(self.account(text.replace("and 0.33", "and 0.34"))), 1)
        self.assertRegex(self.account(text.replace(" make 1", ""))[0], r"^a\.md:6: 3 values for 2 numbers: 0\.67, 0\.33$")
        self.assertRegex(self.account(text.replace('above["ging"];', 'above["kam"];'))[0], "no line has numbers after")

    def test_a_constant_of_the_code(self):
        text = '# A\n<!-- from: source("limits.h", r"kMost = ([\\d\']+)") -->\nAt most 65,536.\n'
        self.assertEqual(self.account(text), [])
        self.assertEqual(len(self.account(text.replace("65,536", "65,537"))), 1)
        self.assertRegex(self.account(text.replace("kMost", "kLeast"))[0], "limits.h has nothing like kLeast")

    def test_names_for_expressions(self):
        text = ("# A\n<!-- run: said = echo total 3 -->\n<!-- let: total = said[\"total\"][0] -->\n\n"
                "<!-- from: total * 2 -->\nIt is 6.\n")
        self.assertEqual(self.account(text), [])
        self.assertEqual(len(self.account(text.replace("total 3", "total 4"))), 1)

    def test_a_plain_number_is_no_source(self):
        self.assertEqual(self.account("# A\n<!-- from: 6 -->\nIt is 6.\n"), ["a.md:2: 6 does not say where it comes from"])
        self.assertEqual(self.account("# A\n<!-- claim: 2 * 3 == 6 -->\n<!-- from: 6 -->\nIt is 6.\n"), [])

    def test_claims(self):
        text = '# A\n<!-- claim: cross:0:0 has its largest weight on "went" in row "ging" -->\nIt looks at "went".\n'
        self.assertEqual(self.account(text), [])
        self.assertEqual(self.account(text.replace('"went" in row', '"</s>" in row')),
                         ['a.md:2: no longer true: cross:0:0 has its largest weight on "</s>" in row "ging": '
                          'the largest is on "went", 0.67'])
        self.assertEqual(self.account("# A\n<!-- claim: 1 > 2 -->\nMore.\n"), ["a.md:2: no longer true: 1 > 2: it is false"])

    def test_measured_numbers_may_not_be_edited(self):
        (self.root / "bench").mkdir()
        self.assertRegex(self.account("# A\n<!-- measured: bench/x.py -->\n| 12 | 34 |\n")[0], r"there is no bench/x\.py")
        self.assertRegex(self.account("# A\n<!-- measured: bench -->\n| 12 | 34 |\n")[0], "no day, commit and digest")
        self.assertEqual(self.account("# A\n<!-- measured: bench -->\n| 12 | 34 |\n", update=True), [])
        self.assertRegex(self.text(), r"<!-- measured: bench \d{4}-\d\d-\d\d uncommitted [0-9a-f]{8} -->")
        stamped = self.text()
        self.assertEqual(self.account(stamped), [])
        self.assertRegex(self.account(stamped.replace("34", "35"), update=True)[0], "^a.md:2: numbers measured by bench were edited")
        self.assertEqual(self.account(stamped.replace("| 12", "| now 12")), [])

    def test_a_script_writes_its_table(self):
        (self.root / "bench").mkdir()
        self.account("# A\n<!-- measured: bench/ table 2020-01-01 abcdef0 00000000 -->\n| 1 |\n| 2 |\n\nAfter.\n")
        write_table(self.root / "a.md", "bench/ table", ["| 3 |", "| 4 |", "| 5 |"])
        self.assertRegex(self.text(), r"^# A\n<!-- measured: bench/ table 20.* uncommitted [0-9a-f]{8} -->\n"
                         r"\| 3 \|\n\| 4 \|\n\| 5 \|\n\nAfter\.\n$")
        self.assertEqual(self.account(self.text()), [])
        self.assertRaises(SystemExit, write_table, self.root / "a.md", "bench/ other", [])

    def test_given_numbers_and_sections(self):
        text = "<!-- given: literature -->\n## A\nIt is 7.\n\n### B\nAnd 8.\n\n## C\nBut 9.\n"
        self.assertEqual(self.account(text), ["a.md:9: unaccounted number 9: But 9."])

    def test_blocks_that_are_not_compared(self):
        self.assertEqual(len(self.account("# A\n```\n6 × 256\n```\n")), 2)
        self.assertEqual(len(self.account("# A\n```python\nx = [1, 0.25]\n```\n")), 1)
        self.assertEqual(len(self.account("# A\n<!-- needs: venv -->\n```console\n$ x\n0.25\n```\n")), 1)
        self.assertEqual(len(self.account("# A\n```console\n$ x\ndone in 4.2 s, 0.25\n```\n")), 1)

    def test_values_are_written_as_before(self):
        self.assertEqual([written_like(*v) for v in [(-0.1568, "−0.2"), (12345.6, "1,000"), (12345.6, "1000"), (-0.001, "-0.00")]],
                         ["−0.2", "12,346", "12346", "0.00"])


class ScriptsTest(unittest.TestCase):
    def test_a_missing_package_is_one_line(self):
        for name, packages in {"check_sacrebleu.py": "sacrebleu",
                               "check_transformers.py": "torch transformers sentencepiece safetensors sacremoses "
                                                        "ctranslate2 numpy",
                               "check_families.py": "torch transformers safetensors numpy",
                               "random_checkpoint.py": "torch transformers sentencepiece safetensors sacremoses numpy",
                               "bertviz_page.py": "torch transformers sentencepiece bertviz IPython"}.items():
            done = subprocess.run([sys.executable, "-S", ROOT / "scripts/checks" / name], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, f"{name}: {sys.executable} has no {', '.join(packages.split())}; in a venv: "
                             f"python3 -m venv build/venv && build/venv/bin/pip install {packages}\n")


if __name__ == "__main__":
    unittest.main()
