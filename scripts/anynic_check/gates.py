# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Structure gates: what a reviewer should not have to look for. One test line a gate.

Each gate is a function that yields "file:line: what is wrong, what to do".
"""

import os
import re
import shutil
import subprocess

from . import includes

FUNCTION_LINES = 80
FUNCTION_LINES_WISH = 45
FILE_LINES = 650
# A hardware header is a reference: one table of one format, mostly comment.
HARDWARE_FILE_LINES = 1000
SOURCE = (".c", ".h", ".def")
# Constant data, one row a line, may be longer than code.
TABLE_FILES = (".def",)
BAD_NAMES = re.compile(r"\b\w*(?:utils?|helpers?|manager|misc)\b", re.IGNORECASE)


class Tree:
    """The files that git knows, read once."""

    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout.split("\n")
        self.files = [path for path in listed if path and os.path.isfile(path)]
        self.text = {}

    def lines(self, path):
        if path not in self.text:
            with open(path, encoding="utf-8", errors="replace") as file:
                self.text[path] = file.read().split("\n")
        return self.text[path]

    def having(self, *endings):
        return [path for path in self.files if path.endswith(endings)]

    def text_files(self):
        return [path for path in self.files if not path.startswith("tests/fuzz/corpus/")]


def functions(lines):
    """(first line, last line) of each function body: braces in column 0."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line.startswith("}") and start:
            yield start, number
            start = None


def function_length(tree):
    for path in tree.having(".c", ".h"):
        for start, end in functions(tree.lines(path)):
            if end - start - 1 > FUNCTION_LINES:
                yield f"{path}:{start}: function of {end - start - 1} lines, at most {FUNCTION_LINES}: split it"


def file_length(tree):
    for path in tree.having(".c", ".h", ".py", ".sh") + [p for p in tree.files if p.startswith("scripts/")]:
        limit = HARDWARE_FILE_LINES if path.endswith("_hw.h") else FILE_LINES
        if not path.endswith(TABLE_FILES) and len(tree.lines(path)) > limit:
            yield f"{path}: {len(tree.lines(path))} lines, at most {limit}: split it by topic"


def indentation(tree):
    for path in tree.having(".c"):
        for number, line in enumerate(tree.lines(path), 1):
            if re.match(r"\t{6,}(if|for|while|switch|do)\b", line):
                yield f"{path}:{number}: nested too deep, at most 5 levels: make it a function"


def spdx(tree):
    for path in tree.text_files():
        name = os.path.basename(path)
        if not (path.endswith((".c", ".h", ".def", ".py", ".sh", ".yaml", ".yml", ".cmake", ".map", ".inc"))
                or name in ("Makefile", "Kbuild", "CMakeLists.txt")
                or tree.lines(path)[0].startswith("#!")):
            continue
        head = tree.lines(path)[:2]
        if not any("SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB" in line for line in head):
            yield f"{path}:1: no SPDX line 'GPL-2.0 OR Linux-OpenIB'"


def owner_comment(tree):
    for path in tree.having(".c"):
        head = tree.lines(path)[1:3]
        if not any(line.startswith(("/*", "//")) for line in head):
            yield f"{path}:2: say in a comment what this file owns and what it must not know"


def conditionals(tree):
    pattern = re.compile(r"^\s*#\s*if.*\b(HAVE_\w+|LINUX_VERSION_CODE|KERNEL_VERSION)\b")
    for path in tree.having(".c", ".h"):
        if path.startswith("compat/"):
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if pattern.search(line):
                yield f"{path}:{number}: version conditional outside compat/"


def size_asserts(tree):
    struct = re.compile(r"^struct (\w+) \{$")
    for path in [p for p in tree.having(".h") if "_hw" in p]:
        text = "\n".join(tree.lines(path))
        for number, line in enumerate(tree.lines(path), 1):
            match = struct.match(line)
            if match and not re.search(rf"(?:_SIZE\(|_ASSERT_SIZE\(|sizeof\()(?:struct )?{match[1]}\b", text):
                yield f"{path}:{number}: struct {match[1]} has no size assert"


def names(tree):
    for path in tree.files:
        if BAD_NAMES.fullmatch(os.path.basename(path).split(".")[0]):
            yield f"{path}: name says nothing: name it after what it owns"
    pattern = re.compile(r"^\w[\w \*]*\b(\w*_(?:utils?|helpers?|manager|misc))\(")
    for path in tree.having(".c", ".h"):
        for number, line in enumerate(tree.lines(path), 1):
            match = pattern.match(line)
            if match:
                yield f"{path}:{number}: {match[1]}: name it after what it does"


def brands(tree):
    """Shared code does not name a brand: adding one must not edit it."""
    rows = [re.match(r"NIC_CLASS\((\w+)", line) for line in tree.lines("providers/common/classes.def")]
    pattern = re.compile(r"\b(?:an_)?(" + "|".join(row[1] for row in rows if row) + r")(?:_\w+)?\b")
    for path in tree.having(*SOURCE):
        if path.startswith(("sim/", "userlib/", "kmod/", "compat/")):
            for number, line in enumerate(tree.lines(path), 1):
                if pattern.search(line):
                    yield f"{path}:{number}: names a brand: move it to providers/<class>/ or a table"


def machine_paths(tree):
    pattern = re.compile(r"(?<![\w.])/(?:work|root)/|deb\.debian\.org|\.\./shared")
    for path in tree.text_files():
        if path == "scripts/anynic_check/gates.py":
            continue
        for number, line in enumerate(tree.lines(path), 1):
            if pattern.search(line):
                yield f"{path}:{number}: path or host of one machine: {line.strip()[:60]}"


def links(tree):
    """Relative links of the documents lead somewhere."""
    for path in tree.having(".md"):
        for number, line in enumerate(tree.lines(path), 1):
            for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", line):
                if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(path), target)):
                    yield f"{path}:{number}: dead link {target}"


def formatting(tree):
    if not shutil.which("clang-format"):
        yield "clang-format is not installed: run scripts/setup"
        return
    paths = tree.having(".c", ".h")
    output = subprocess.run(["clang-format", "--dry-run", *paths], stderr=subprocess.PIPE, text=True).stderr
    for path in dict.fromkeys(re.findall(r"^(\S+?):\d+:\d+: warning", output, re.MULTILINE)):
        yield f"{path}: not formatted: run 'make format'"


def shell_syntax(tree):
    for path in tree.text_files():
        first = tree.lines(path)[0]
        # Sourced files have no #! line: they say their shell as shellcheck wants it, or are scenarios.
        shell = "bash" if any("bash" in line for line in tree.lines(path)[:6]) or path.startswith("tests/lab/") else "sh"
        if path.endswith(".sh") or re.match(r"#!.*\b(ba|da)?sh\b", first):
            result = subprocess.run([shell, "-n", path], stderr=subprocess.PIPE, text=True)
            if result.returncode:
                yield result.stderr.strip()


def python_syntax(tree):
    for path in tree.text_files():
        if path.endswith(".py") or "python3" in tree.lines(path)[0][:40]:
            try:
                compile("\n".join(tree.lines(path)), path, "exec")
            except SyntaxError as error:
                yield f"{path}:{error.lineno}: {error.msg}"


GATES = {
    "functions have at most 80 lines": function_length,
    "files have at most 650 lines": file_length,
    "nesting is at most 5 levels": indentation,
    "each source has its SPDX line": spdx,
    "each C file says what it owns": owner_comment,
    "version conditionals stay in compat": conditionals,
    "hardware structs have a size assert": size_asserts,
    "names say what they mean": names,
    "shared code names no brand": brands,
    "includes follow the layers": includes.gate,
    "no path or host of one machine": machine_paths,
    "links in documents work": links,
    "C files are formatted": formatting,
    "shell scripts parse": shell_syntax,
    "Python scripts parse": python_syntax,
}


def run(options, results):
    tree = Tree()
    for name, gate in GATES.items():
        if options.match in name:
            faults = list(gate(tree))
            results.add(name, "failed" if faults else "passed", 0.0, "\n".join(faults))
    wish = sum(end - start - 1 > FUNCTION_LINES_WISH
               for path in tree.having(".c") for start, end in functions(tree.lines(path)))
    print(f"   note: {wish} functions are longer than {FUNCTION_LINES_WISH} lines")
