"""Tests the results of `cmake --install` and `cpack`: the program from any folder, manual pages, completion,
a library that another project finds, and a package with its dependencies."""

import argparse
import base64
import gzip
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

HERE = pathlib.Path(__file__).parent
OPTIONS = None
PREFIX = None
MODULE = HERE.parents[1] / "build/web/attn-demo.wasm"  # made by scripts/build_web.sh
SENTENCE = "The group went home"
GERMAN = "Die Gruppe ging nach Hause\n"


def run(*command, **keywords):
    """Returns a command's output; a failure shows it."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **keywords)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def setUpModule():
    global PREFIX
    PREFIX = pathlib.Path(tempfile.mkdtemp(prefix="attn-demo-install-"))
    run(OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", PREFIX / "usr")


def tearDownModule():
    shutil.rmtree(PREFIX)


class Program(unittest.TestCase):
    def test_it_runs_from_any_folder_with_its_own_data(self):
        program = PREFIX / "usr/bin/attn-demo"
        self.assertEqual(run(program, "translate", SENTENCE, "--show", "none", cwd="/"), GERMAN)
        said = run(program, "--version")
        self.assertRegex(said, r"^attn-demo \d+\.\d+\.\d+ \([a-z0-9_]+, (GCC|Clang) [0-9.]+; matrix multiplication for "
                               r"(avx512|avx2|neon|portable)\)\n$")

    @unittest.skipUnless(MODULE.exists(), "scripts/build_web.sh has not run")
    def test_the_page_that_translates_alone_holds_what_is_installed(self):
        """Not what the sources have, which the program finds too: here another script is installed."""
        page, script = PREFIX / "try.html", PREFIX / "usr/share/attn-demo/web/attn-demo.js"
        whole = script.read_text(encoding="utf-8")
        script.write_text(whole + "// as it is installed\n", encoding="utf-8")
        try:
            run(PREFIX / "usr/bin/attn-demo", "page", "--alone", page, cwd="/")
        finally:
            script.write_text(whole, encoding="utf-8")
        packed = [gzip.decompress(base64.b64decode(text)) for text in
                  re.findall(r'<script type="text/plain" id="attn-packed-\d+">([^<]+)', page.read_text(encoding="utf-8"))]
        self.assertIn(MODULE.read_bytes(), packed)
        self.assertIn((whole + "// as it is installed\n").encode(), packed)

    def test_manual_pages_are_the_help(self):
        pages = PREFIX / "usr/share/man/man1"
        program = PREFIX / "usr/bin/attn-demo"
        commands = re.findall(r"^  ([a-z]+)  ", run(program, "help"), re.M)
        self.assertIn("translate", commands)
        self.assertEqual({path.name for path in pages.iterdir()},
                         {"attn-demo.1", *(f"attn-demo-{name}.1" for name in commands)})
        for name in commands:
            page = (pages / f"attn-demo-{name}.1").read_text(encoding="utf-8")
            plain = page.replace("\\-", "-").replace("\\e", "\\")
            words = re.sub(r"\s+", " ", plain)
            for option in re.findall(r"^  (--[a-z-]+)", run(program, "help", name), re.M):
                self.assertIn(f".B {option}", re.sub(r"-[a-z],", "", plain), name)
            self.assertIn(f".TH ATTN-DEMO-{name.upper()} 1", plain)
            self.assertIn("Show this help and exit", words)
            self.assertEqual(re.findall(r"(?i)^(?:\.SH )?examples?:?$", plain, re.M), [".SH EXAMPLES"], name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not here")
    def test_manual_pages_have_no_faults(self):
        for page in (PREFIX / "usr/share/man/man1").iterdir():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-k", page], text=True,
                                  capture_output=True)
            self.assertEqual(done.stderr, "", page.name)
            self.assertIn("SYNOPSIS", re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout))

    def completed(self, *words):
        """Returns bash's completions of the last word."""
        script = ("source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _attn_demo; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", script, "-", PREFIX / "usr/share/bash-completion/completions/attn-demo",
                   "attn-demo", *words, cwd=PREFIX).split()

    def test_bash_completes(self):
        self.assertEqual(self.completed("tra"), ["translate", "train"])
        self.assertEqual(self.completed("translate", "--len"), ["--length-penalty"])
        self.assertEqual(self.completed("translate", "--early-stopping", ""), ["true", "false", "never"])
        for typed, offered in ((("translate", "--precision"), ["float32", "bfloat16", "int8"]),
                               (("convert", "--dtype"), ["float16", "bfloat16", "float32", "int8"]),
                               (("explain", "--kind"), ["encoder", "decoder", "cross"]),
                               (("tokenizer", "--type"), ["unigram", "bpe", "word"]),
                               (("inspect", "--color"), ["auto", "always", "never"])):
            self.assertEqual(self.completed(*typed, ""), offered)
        self.assertEqual(self.completed("translate", "--model", "us"), ["usr"])
        self.assertEqual(self.completed("translate", "--beam", ""), [])
        self.assertEqual(self.completed("help", "ins"), ["inspect"])

    def test_zsh_and_fish_know_the_options(self):
        zsh = (PREFIX / "usr/share/zsh/site-functions/_attn-demo").read_text(encoding="utf-8")
        fish = (PREFIX / "usr/share/fish/vendor_completions.d/attn-demo.fish").read_text(encoding="utf-8")
        self.assertIn("'*--beam[Beam size; 1 is greedy search]:K:'", zsh)
        self.assertIn("'*--early-stopping[When beam search ends\\: true (there are enough translations), false (better ones are unlikely) or never (better ones are impossible)]:"
                      "true|false|never:(true false never)'", zsh)
        self.assertIn("complete -c attn-demo -n '__fish_seen_subcommand_from translate' -l beam "
                      "-d 'Beam size; 1 is greedy search' -x\n", fish)
        if shutil.which("zsh"):
            run("zsh", "-n", PREFIX / "usr/share/zsh/site-functions/_attn-demo")
        if shutil.which("fish"):
            run("fish", "-n", PREFIX / "usr/share/fish/vendor_completions.d/attn-demo.fish")


class Versions(unittest.TestCase):
    def test_it_is_one(self):
        source = HERE.parents[1]
        said = run(PREFIX / "usr/bin/attn-demo", "--version").split()[1]
        self.assertEqual(tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"], said)
        self.assertIn(f"\nversion: {said}\n", (source / "CITATION.cff").read_text())


class Removal(unittest.TestCase):
    def test_uninstalling_leaves_what_is_not_its_own(self):
        prefix = PREFIX / "to leave"
        own = prefix / "share/attn-demo/mine.txt"
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", prefix)
        own.write_text("mine")
        for _ in range(2):  # a second run must not fail on files that are already gone
            run(HERE.parents[1] / "scripts/uninstall.sh", prefix, OPTIONS.build)
            self.assertEqual([path for path in prefix.rglob("*") if not path.is_dir()], [own])
            self.assertEqual([path for path in prefix.rglob("*") if path.is_dir()], [own.parent.parent, own.parent])


class Cache(unittest.TestCase):
    """Tests models of Hugging Face's cache, which is only read."""

    NAME = "someone/some-model"

    def translate(self, **environment):
        plain = {key: value for key, value in os.environ.items()
                 if not key.startswith("HF_") and key != "XDG_CACHE_HOME"}
        return subprocess.run([PREFIX / "usr/bin/attn-demo", "translate", "--model", self.NAME, SENTENCE,
                               "--show", "none"], text=True, capture_output=True, cwd=PREFIX,
                              env=plain | environment)

    def test_a_model_that_was_fetched(self):
        hub = PREFIX / "home/.cache/huggingface/hub"
        model = hub / "models--someone--some-model"
        (model / "refs").mkdir(parents=True)
        (model / "refs/main").write_text("0123abcd")
        (model / "snapshots").mkdir()
        (model / "snapshots/0123abcd").symlink_to(PREFIX / "usr/share/attn-demo/data/models/en-de")
        home = {"HOME": str(PREFIX / "home")}
        for environment in ({"HF_HUB_CACHE": str(hub)}, {"HF_HOME": str(hub.parent)},
                            {"HUGGINGFACE_HUB_CACHE": str(hub), "HF_HOME": "/nowhere"},
                            {"XDG_CACHE_HOME": str(hub.parents[1])}, home,
                            home | {"HF_HOME": "~/.cache/huggingface"}):  # expanded as huggingface_hub does
            done = self.translate(**environment)
            self.assertEqual((done.returncode, done.stdout), (0, GERMAN), done.stderr)

    def test_a_model_that_was_not(self):
        hub = PREFIX / "empty"
        done = self.translate(HF_HUB_CACHE=str(hub))
        self.assertEqual(done.returncode, 4)
        self.assertEqual(done.stderr, f"attn-demo: {self.NAME}: no such model directory, and no such model in "
                                      f"Hugging Face's cache ({hub}); fetch it: hf download {self.NAME}\n")
        done = self.translate(HOME="")
        self.assertIn(f"({pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir)}/.cache/huggingface/hub)", done.stderr)
        for wrong in ("../../x", ""):  # not a valid commit
            model = hub / "models--someone--some-model/refs"
            model.mkdir(parents=True, exist_ok=True)
            (model / "main").write_text(wrong)
            self.assertEqual(self.translate(HF_HUB_CACHE=str(hub)).returncode, 4)


class Library(unittest.TestCase):
    def test_another_project_finds_it(self):
        headers = [str(path.relative_to(PREFIX / "usr/include"))
                   for path in (PREFIX / "usr/include").rglob("*.h")]
        self.assertEqual(sorted(headers), ["attn_demo/attn_demo.h", "attn_demo/search_options.h"])
        build = PREFIX / "example"
        run(OPTIONS.cmake, "-S", HERE / "example", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={PREFIX / 'usr'}")
        run(OPTIONS.cmake, "--build", build)
        languages = PREFIX / "nllb"
        shape = {"model_type": "m2m_100", "d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
                 "decoder_attention_heads": 2, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
        config = PREFIX / "nllb.json"
        config.write_text(json.dumps({"model": shape, "tokenizer": {"model": str(HERE.parent / "golden/languages/Nllb")}}))
        run(PREFIX / "usr/bin/attn-demo", "init", "--config", config, "--out", languages)
        said = run(build / "example", languages, cwd="/").splitlines()
        self.assertEqual(said[0] + "\n", GERMAN)
        self.assertRegex(said[3], r"^▁ging 0\.\d\d$")
        self.assertEqual(said[7:10], ["[Sie sind bei der Arbeit.]", "[]",
                                      "4 nowhere: no such model directory, and no shipped model has this name (shipped: en-de, de-en); check the path"])
        spoken, same, refused = said[10:13]
        self.assertRegex(spoken, r"^fra_Latn \d+ deu_Latn$")
        self.assertEqual(same, spoken.split()[1])
        self.assertIn("2 --target-lang Germn: ", refused)
        self.assertIn("the nearest is deu_Latn (German)", refused)
        self.check_receipts(*said[13:])

    def check_receipts(self, words, shares, refused):
        """They are those of the program."""
        self.assertEqual(words, GERMAN.strip() + ": 5 words")
        why = PREFIX / "why.json"
        run(PREFIX / "usr/bin/attn-demo", "why", SENTENCE, "--target", "Die Gruppe ging heim", "--word", "Gruppe",
            "--instead", "Mannschaft", "--json", why, cwd="/")
        answer = json.loads(why.read_text(encoding="utf-8"))
        self.assertTrue(shares.startswith("Gruppe 1 1 ▁Gruppe ▁Mannschaft "), shares)
        totals = [float(total) for total in re.findall(r"(-?[\d.]+) =", shares)]
        of_group = [float(share) for share in re.findall(r" group (-?[\d.]+)", shares)]
        for which, total, share in zip(("word", "contrast"), totals, of_group, strict=True):
            receipt = answer["receipt"][which]
            self.assertAlmostEqual(total, receipt["logit"][1], delta=2e-3)
            self.assertAlmostEqual(share, sum(head[1] for layer in receipt["cross"][1] for head in layer), delta=2e-3)
        self.assertEqual(refused, "2 --word Haus: the translation has no such word; it has 0 Die, 1 Gruppe, 2 ging, "
                                  "3 heim, 4 </s>")


class Package(unittest.TestCase):
    @unittest.skipUnless(shutil.which("dpkg-shlibdeps"), "dpkg-dev is not here")
    def test_it_says_what_it_depends_on(self):
        run(OPTIONS.cpack, "--config", OPTIONS.build / "CPackConfig.cmake", "-B", PREFIX / "packages")
        package, = (PREFIX / "packages").glob("*.deb")
        self.assertRegex(package.name, r"^attn-demo_0\.2\.0_[a-z0-9]+\.deb$")
        depends = run("dpkg-deb", "--field", package, "Depends")
        for name in ("libc6", "libstdc++6", "libsentencepiece0", "libpng16-16"):
            self.assertRegex(depends, rf"\b{re.escape(name)}\b")
        self.assertIn("librsvg2-2", run("dpkg-deb", "--field", package, "Recommends"))
        files = run("dpkg-deb", "--contents", package)
        for name in ("./usr/bin/attn-demo\n", "./usr/share/attn-demo/data/models/en-de/model.safetensors\n",
                     "./usr/share/man/man1/attn-demo-translate.1\n", "./usr/share/doc/attn-demo/copyright\n",
                     "./usr/share/zsh/vendor-completions/_attn-demo\n"):
            self.assertIn(name, files)
        for name in ("wasm", "js"):  # if they have been built
            self.assertEqual(f"./usr/share/attn-demo/web/attn-demo.{name}\n" in files, MODULE.exists())
        self.assertNotIn("/include/", files)
        run("dpkg-deb", "--extract", package, PREFIX / "unpacked")
        program = PREFIX / "unpacked/usr/bin/attn-demo"
        self.assertEqual(run(program, "translate", SENTENCE, "--show", "none", cwd="/"), GERMAN)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--cpack", required=True)
    OPTIONS, rest = parser.parse_known_args()
    os.environ.pop("LD_LIBRARY_PATH", None)
    unittest.main(argv=[sys.argv[0], *rest])
