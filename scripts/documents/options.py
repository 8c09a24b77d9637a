"""Checks that the commands and options in a document's text exist."""
import re
import subprocess


class Options:
    """The existing commands and options, from the program's help and the scripts' text."""

    def __init__(self, program, root):
        self.program, self.of = program, {}
        self.commands = set(re.findall(r"^  ([a-z-]+)  ", self.help([]), re.M)) | {"help", "version"}
        for name in sorted(self.commands - {"help", "version"}):
            self.of[name] = set(re.findall(r"--[a-z][a-z0-9-]*", self.help([name])))
        files = [*root.glob("scripts/*"), *root.glob("scripts/checks/*"), *root.glob("recipes/*/*"), *root.glob("bench/*.py"),
                 *root.glob("tests/faults/*.py")]
        texts = [f.read_text(encoding="utf-8", errors="replace") for f in files if f.is_file()]
        self.all = set(re.findall(r"--[a-z][a-z0-9-]*", "\n".join([self.help([]), *texts])))
        self.all.update(*self.of.values())

    def help(self, words):
        return subprocess.run([str(self.program), *words, "--help"], capture_output=True, text=True,
                              encoding="utf-8", check=True).stdout

    def faults(self, document):
        for line, span in document.spans():
            words = span.split()
            options = [w.split("=")[0] for w in words if re.fullmatch(r"--[a-z][a-z0-9-]*(=.*)?", w)]
            known = self.all
            if words[0] == "attn-demo" and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
                if words[1] not in self.commands:
                    yield f"{document.where(line)}: attn-demo has no command {words[1]}"
                    continue
                known = self.of.get(words[1], set())
            elif not words[0].startswith("--"):
                continue
            for option in options:
                if option not in known:
                    yield f"{document.where(line)}: there is no option {option}: `{span}`"
