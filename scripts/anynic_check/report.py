# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Collects results and prints them. Knows nothing of how a test is run."""

import re
import threading
import time
import xml.etree.ElementTree as ET

# Characters that XML 1.0 cannot hold.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\s*(.*))?$", re.IGNORECASE)
LINE = re.compile(r"^(not )?ok\b\s*(\d+)?\s*-?\s*(.*?)(?:\s+#\s*SKIP\s*(.*))?$", re.IGNORECASE)


class Report:
    """Results of all stages, safe to call from several threads."""

    def __init__(self):
        self.rows = []
        self.lock = threading.Lock()
        self.started = time.monotonic()
        self.current = ""

    def stage(self, name):
        self.current = name
        print(f"== {name}", flush=True)

    def add(self, name, outcome, seconds=0.0, detail=""):
        """outcome: passed, failed or skipped; detail: reason, or output of a failure."""
        word = {"passed": "ok  ", "failed": "FAIL", "skipped": "skip"}[outcome]
        reason = f": {detail}" if outcome == "skipped" else ""
        with self.lock:
            self.rows.append((self.current, name, outcome, seconds, detail))
            print(f"{word} {self.current}: {name}{reason} ({seconds:.1f} s)", flush=True)
            if outcome == "failed" and detail:
                for line in detail.rstrip().splitlines()[-60:]:
                    print(f"     | {line}", flush=True)

    def add_tap(self, program, output, status, seconds, fault=""):
        """Counts each TAP line of a program; a broken plan or a bad exit is one failure more.

        fault: what the way of running it found wrong (valgrind, sanitizer), empty if nothing.
        """
        plan, seen, failed, notes = None, 0, 0, []
        for line in output.splitlines():
            match = PLAN.match(line)
            if match:
                plan = int(match[1])
                if match[2] is not None:
                    self.add(program, "skipped", seconds, match[2] or "no reason given")
                continue
            match = LINE.match(line)
            if not match:
                notes.append(line)
                continue
            seen += 1
            share = seconds if seen == plan else 0.0
            if match[4] is not None:
                self.add(match[3], "skipped", share, match[4] or "no reason given")
            elif match[1]:
                failed += 1
                self.add(match[3], "failed", share, "\n".join(notes))
            else:
                self.add(match[3], "passed", share)
            notes = []
        if fault:
            self.add(program, "failed", seconds, fault)
        elif plan is None:
            self.add(program, "failed", seconds, f"no test plan, exit status {status}\n" + output)
        elif seen != plan:
            self.add(program, "failed", seconds,
                     f"{seen} of {plan} tests reported, exit status {status}\n" + "\n".join(notes))
        elif status not in (0, 77) and not failed:
            self.add(program, "failed", seconds, f"exit status {status}\n" + "\n".join(notes))

    def count(self, outcome):
        return sum(1 for row in self.rows if row[2] == outcome)

    def write_junit(self, path):
        suites = ET.Element("testsuites")
        for stage in dict.fromkeys(row[0] for row in self.rows):
            rows = [row for row in self.rows if row[0] == stage]
            suite = ET.SubElement(
                suites, "testsuite", name=stage, tests=str(len(rows)),
                failures=str(sum(row[2] == "failed" for row in rows)),
                skipped=str(sum(row[2] == "skipped" for row in rows)))
            for _, name, outcome, seconds, detail in rows:
                case = ET.SubElement(suite, "testcase", classname=stage,
                                     name=NOT_XML.sub("?", name), time=f"{seconds:.3f}")
                text = NOT_XML.sub("?", detail)
                if outcome == "failed":
                    ET.SubElement(case, "failure", message=text.split("\n")[0][:200]).text = text
                elif outcome == "skipped":
                    ET.SubElement(case, "skipped", message=text)
        ET.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)

    def close(self):
        """Prints the failures again and the closing line; returns the exit status."""
        bad = [row for row in self.rows if row[2] == "failed"]
        if not self.rows:
            print("\nno test has that name")
        if bad:
            print("\nfailed:")
            for stage, name, *_ in bad:
                print(f"  {stage}: {name}")
        print(f"\n{time.monotonic() - self.started:.0f} s, report in junit.xml of the build folder")
        print(f"{self.count('passed')} passed, {len(bad)} failed, {self.count('skipped')} skipped",
              flush=True)
        return 1 if bad or not self.count("passed") else 0
