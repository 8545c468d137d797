"""`infimum resume FILE.inf FILE.py[:function]`, and `infimum resume FILE.jsonl`."""

import os
import shlex
import sys
from argparse import ArgumentParser, Namespace
from contextlib import chdir, nullcontext, redirect_stdout

from infimum.api.solve import resume
from infimum.blackbox.journal_reading import StartCommand
from infimum.blackbox.journal_resume import ResumeHint, resume_hint
from infimum.cli import gallery, minimize
from infimum.cli.command import Command, CommandError
from infimum.cli.printing import CODES_HELP, show
from infimum.cli.settings import add_settings, joined
from infimum.cli.user_file import add_constraints, chosen, constraints_of, loaded, parted

# settings of the checkpoint that may be replaced, and their help
_REPLACED = {"--atol": "replaces the one in the checkpoint; may be larger or smaller", "--rtol": "likewise",
             "--xtol": "likewise; inf for none",
             "--memory-limit": "likewise; a larger one continues a run that it stopped"}
_OF_PROOFS = ("--max-boxes", "--device", "--threads", "--portions")
_OF_TRIALS = ("--max-trials", "--timeout")
_OF_BOTH = ("--time-limit", "--workers", "--check", "--progress")
_BEGIN = {command.name: command for command in (minimize.COMMAND, gallery.COMMAND)}  # commands that begin journals


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="FILE", help="the file that `infimum minimize --checkpoint`, or --journal, wrote")
    parser.add_argument("file", nargs="?", metavar="FILE.py[:function]",
                        help="the function of that run; a journal that was begun on the command line names it itself")
    add_constraints(parser)
    add_settings(parser, (*_REPLACED, *_OF_BOTH, *_OF_PROOFS, *_OF_TRIALS), _REPLACED)


def run(args: Namespace) -> int:
    """Continues the run and prints the table of its result."""
    if (how := resume_hint(args.checkpoint)) is not None:
        return _of_journal(args, how)
    given = next((flag for flag in _OF_TRIALS if getattr(args, _name(flag)) is not None), None)
    if given is not None:
        raise CommandError(f"{given} is for a journal of trials, and {args.checkpoint} is none")
    if not os.path.exists(args.checkpoint):
        raise CommandError(f"there is no file {args.checkpoint}")
    if args.file is None:
        raise CommandError(f"the function of the run is missing: `infimum resume {args.checkpoint} FILE.py`")
    path, name = parted(args.file)
    with redirect_stdout(sys.stderr), loaded(path) as module:
        name, fun = chosen(module, path, name, args.constraints)
        result = resume(args.checkpoint, fun, atol=args.atol, rtol=args.rtol, xtol=args.xtol, memory_limit=args.memory_limit,
                        time_limit=args.time_limit, max_boxes=args.max_boxes, progress=args.progress,
                        device=args.device or "auto", threads=args.threads, workers=args.workers, portions=args.portions,
                        check=args.check is not False,
                        constraints=constraints_of(args.constraints, module, path))
    return show(result, args.json, f"{path}:{name}, resumed from {args.checkpoint}")


def _of_journal(args: Namespace, how: ResumeHint) -> int:
    """Runs the command line that began the journal again, in the folder where it was given and with the flags that are given
    now."""
    if how.started is None:
        command = how.call if how.command is None else f"`{how.command}`"
        raise CommandError(how.message(command if args.file is None else command.replace("FILE.py", str(parted(args.file)[0]))))
    again, command = _parsed(how.started, how.path)
    for flag in (*_REPLACED, *_OF_BOTH, *_OF_PROOFS, *_OF_TRIALS):
        if (value := getattr(args, _name(flag))) is not None:
            setattr(again, _name(flag), value)
    folder = how.started.folder
    elsewhere = os.path.isdir(folder) and not os.path.samefile(folder, ".")
    again.journal, again.json = os.path.abspath(how.path) if elsewhere else how.path, args.json
    if args.file is not None:
        again.file = os.path.abspath(args.file) if elsewhere else args.file
    if args.constraints is not None:
        again.constraints = args.constraints
    print(f"infimum: continuing `infimum {shlex.join(how.started.words)}`{f' in {folder}' if elsewhere else ''}", file=sys.stderr)
    with chdir(folder) if elsewhere else nullcontext():
        return command.run(again)


def _parsed(started: StartCommand, path: str) -> tuple[Namespace, Command]:
    """The arguments of the command line that began a journal, and its command."""
    command = _BEGIN.get(started.words[0] if started.words else "")
    if command is None:
        raise CommandError(f"the journal {path} was begun by `infimum {shlex.join(started.words)}`, which is no command that "
                           "makes trials")
    parser = ArgumentParser(f"infimum {command.name}", usage=command.usage, allow_abbrev=False)
    command.configure(parser)
    try:
        found = parser.parse_args(joined(started.words[1:]))
    except SystemExit:  # argparse has said why
        raise CommandError(f"the journal {path} was begun by `infimum {shlex.join(started.words)}`, which this version of "
                           "infimum cannot read") from None
    found.words = list(started.words)
    return found, command


def _name(flag: str) -> str:
    return flag[2:].replace("-", "_")


COMMAND = Command(
    name="resume",
    summary="continue a run that was stopped or killed",
    usage="infimum resume FILE.inf FILE.py[:function] [--constraints NAME] [settings] [--json]\n"
          "       infimum resume FILE.jsonl [--max-trials N] [settings] [--json]",
    description="Continues from a checkpoint, which holds the bounds, the tolerances and the engine. The result has the same\n"
                "bits as that of a run that was never interrupted. New tolerances or a new memory limit are saved in it.\n"
                "A journal of trials (--journal) that was begun on the command line holds that command line, which is run\n"
                "again: only continue journals that you trust. Of one that was begun in Python it says which call continues it.",
    examples="""examples:
  infimum minimize model.py --checkpoint run.inf --time-limit 60
  infimum resume run.inf model.py
  infimum resume run.inf model.py --atol 1e-9 --rtol 0   narrow a finished proof further
  infimum minimize --command "./sim {x0}" --bounds 0 1 --max-trials 50 --journal run.jsonl
  infimum resume run.jsonl --max-trials 100              make 50 trials more

""" + CODES_HELP,
    configure=configure,
    run=run)
