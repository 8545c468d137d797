"""`infimum resume FILE.inf FILE.py[:function]`."""

import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout

from infimum.cli.command import Command, CommandError
from infimum.cli.load import add_constraints, chosen, constraints_of, loaded, parted
from infimum.cli.settings import add_settings
from infimum.cli.show import CODES_HELP, show
from infimum.solve import resume
from infimum.trials.going_on import going_on

# settings of the checkpoint that may be replaced, and their help
_REPLACED = {"--atol": "replaces the one in the checkpoint; may be larger or smaller", "--rtol": "likewise",
             "--xtol": "likewise; inf for none",
             "--memory-limit": "likewise; a larger one continues a run that it stopped"}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="FILE.inf", help="the file that `infimum minimize --checkpoint` wrote")
    parser.add_argument("file", nargs="?", metavar="FILE.py[:function]", help="the function of that run")
    add_constraints(parser)
    add_settings(parser, (*_REPLACED, "--time-limit", "--max-boxes", "--device", "--threads", "--workers", "--portions",
                          "--check", "--progress"), _REPLACED)


def run(args: Namespace) -> int:
    """Continues the run and prints the table of its result."""
    if (how := going_on(args.checkpoint)) is not None:
        command = how.call if how.command is None else f"`{how.command}`"
        raise CommandError(how.said(command if args.file is None else command.replace("FILE.py", str(parted(args.file)[0]))))
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


COMMAND = Command(
    name="resume",
    summary="continue a run that was stopped or killed",
    usage="infimum resume FILE.inf FILE.py[:function] [--constraints NAME] [settings] [--json]",
    description="Continues from a checkpoint, which holds the bounds, the tolerances and the engine. The result has the same\n"
                "bits as that of a run that was never interrupted. New tolerances or a new memory limit are saved in it.\n"
                "Of a journal of trials (--journal) it says which command goes on.",
    examples="""examples:
  infimum minimize model.py --checkpoint run.inf --time-limit 60
  infimum resume run.inf model.py
  infimum resume run.inf model.py --atol 1e-9 --rtol 0   narrow a finished proof further

""" + CODES_HELP,
    configure=configure,
    run=run)
