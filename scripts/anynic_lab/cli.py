# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The lab's command line: words to calls, errors to one line and an exit status."""
import argparse
import os
import shlex
import signal
import sys

from . import LabError, client

LAB_FAILED = 125

DESCRIPTION = """Virtual machines with simulated RDMA NICs.

A TOPOLOGY is a file, or the name of one in tests/lab/topologies. In a guest /anynic is the
build (read-only), its bin/ first in PATH, and /run-dir a folder of the run.
A COMMAND of one word with blanks in it is run by the guest's shell.
Exit status: the command's; 124 time limit; 125 the lab itself failed."""


def _environment(pairs):
    """K=V words of ANYNIC_LAB_ENV, then of --env."""
    env = {}
    for pair in [*shlex.split(os.environ.get("ANYNIC_LAB_ENV", "")), *pairs]:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise LabError(f"environment setting {pair!r} is not KEY=VALUE")
        env[key] = value
    return env


def _session(args, **options):
    from . import topology
    from .session import Places, Session
    places = Places(os.environ)
    loaded = topology.load(topology.find(places.topologies, args.topology), args.switch,
                           "--switch")
    if getattr(args, "guest", None):
        loaded.guest(args.guest)
    return Session(loaded, places, **options)


def _in_session(args, words, **options):
    options["env"] = _environment(args.env)
    session = _session(args, logs=args.keep_logs)
    try:
        with session:
            guest = session.topology.guest(args.guest)["name"]
            return client.run(session.run_dir, guest, words, **options)
    except LabError as error:
        raise session.explain(error) from None


def _run(args):
    return _in_session(args, args.command, stdin=args.stdin, timeout=args.timeout)


def _shell(args):
    if not os.isatty(0):
        raise LabError("a shell needs a terminal; for a script use: lab run --stdin T -- sh")
    return _in_session(args, ["bash", "--login", "-i"], terminal=True)


def _exec(args):
    return client.run(args.run_dir, args.guest, args.command, env=_environment(args.env),
                      stdin=args.stdin, timeout=args.timeout)


def _up(args):
    session = _session(args, run_dir=args.run_dir, logs=args.keep_logs)
    try:
        with session:
            print("ready", flush=True)
            session.wait()
    except LabError as error:
        raise session.explain(error) from None


def _list(_args):
    from .session import Places
    for path in sorted(Places(os.environ).topologies.glob("*.yaml")):
        comments = [line.lstrip("# ") for line in path.read_text().splitlines()
                    if line.startswith("#") and "SPDX" not in line]
        print(f"{path.stem:20} {comments[0] if comments else ''}")
    return 0


def _test(args):
    from . import scenario
    return scenario.main(args.scenario, list_only=args.list, env=_environment(args.env))


def _words(parser, *, guest):
    parser.add_argument("--timeout", type=float, default=0, metavar="S",
                        help="end the command after S seconds (exit status 124)")
    parser.add_argument("--stdin", action="store_true",
                        help="pass standard input on (default: it is empty)")
    if guest:
        parser.add_argument("--guest", metavar="NAME", help="default: the first")


def _boots(parser):
    parser.add_argument("topology", metavar="TOPOLOGY")
    parser.add_argument("--keep-logs", metavar="DIR", help="keep consoles and captures in DIR "
                        "(on failure: always, in build/lab-logs)")
    parser.add_argument("--switch", action="append", default=[], metavar="K=V",
                        help="switch setting over the topology's, such as loss_ppm=10000")


def _parser():
    parser = argparse.ArgumentParser(prog="lab", description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="word", required=True, metavar="WORD")

    def word(name, action, text):
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(action=action)
        sub.add_argument("--env", action="append", default=[], metavar="K=V",
                         help="environment of the command, beside $ANYNIC_LAB_ENV")
        return sub

    sub = word("run", _run, "boot a topology, run a command in a guest, end")
    _boots(sub)
    _words(sub, guest=True)
    sub = word("shell", _shell, "boot a topology and open a shell in a guest")
    _boots(sub)
    sub.add_argument("--guest", metavar="NAME", help="default: the first")
    sub = word("up", _up, "boot a topology and stay; `lab exec` runs commands in it")
    _boots(sub)
    sub.add_argument("--run-dir", required=True, metavar="DIR")
    sub = word("exec", _exec, "run a command in a guest of a lab that is up")
    sub.add_argument("run_dir", metavar="DIR")
    sub.add_argument("guest", metavar="GUEST")
    _words(sub, guest=False)
    word("list", _list, "show the topologies")
    sub = word("test", _test, "run scenarios of tests/lab, as TAP")
    sub.add_argument("--list", action="store_true", help="only show what would run")
    sub.add_argument("scenario", nargs="*", metavar="SCENARIO", help="default: all")
    return parser


def _split(argv):
    """The command after "--" is not ours to parse."""
    if "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1:]
    return argv, []


def main(argv):
    argv, command = _split(argv)
    parser = _parser()
    args = parser.parse_args(argv)
    if args.word in ("run", "exec"):
        if not command:
            parser.error(f"{args.word}: a command is missing: ... -- COMMAND")
        args.command = command
    elif command:
        parser.error(f"{args.word} takes no command")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(128 + signal.SIGHUP))
    try:
        return args.action(args)
    except LabError as error:
        print(f"lab: error: {error}", file=sys.stderr)
        return LAB_FAILED
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
