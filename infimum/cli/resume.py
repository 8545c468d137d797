"""`infimum resume FILE.inf FILE.py[:function]`."""

import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout

from infimum.cli.command import Command
from infimum.cli.load import chosen, loaded, parted
from infimum.cli.settings import add_settings
from infimum.cli.show import CODES_HELP, show
from infimum.solve import resume

# settings of the checkpoint that may be given anew, and their help
_ANEW = {"--atol": "another one than in the checkpoint, larger or smaller", "--rtol": "likewise",
         "--xtol": "likewise; inf for none",
         "--memory-limit": "likewise; a run that was stopped by it goes on with a larger one"}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("checkpoint", metavar="FILE.inf", help="the file that `infimum minimize --checkpoint` wrote")
    parser.add_argument("file", metavar="FILE.py[:function]", help="the function of that run")
    add_settings(parser, (*_ANEW, "--time-limit", "--max-boxes", "--device", "--threads", "--progress"), _ANEW)


def run(args: Namespace) -> int:
    """Goes on with the run and prints the verdict table."""
    path, name = parted(args.file)
    with redirect_stdout(sys.stderr), loaded(path) as module:
        name, fun = chosen(module, path, name)
        result = resume(args.checkpoint, fun, atol=args.atol, rtol=args.rtol, xtol=args.xtol, memory_limit=args.memory_limit,
                        time_limit=args.time_limit, max_boxes=args.max_boxes, progress=args.progress,
                        device=args.device or "auto", threads=args.threads)
    return show(result, args.json, f"{path}:{name}, resumed from {args.checkpoint}")


COMMAND = Command(
    name="resume",
    summary="goes on with a run that was stopped or killed",
    usage="infimum resume FILE.inf FILE.py[:function] [settings] [--json]",
    description="Bounds, tolerances and engine are in the checkpoint; the answer has the bits of a run that was never\n"
                "disturbed. Tolerances and the memory limit may be given anew, and are then kept in the checkpoint.",
    examples="""examples:
  infimum minimize model.py --checkpoint run.inf --time-limit 60
  infimum resume run.inf model.py
  infimum resume run.inf model.py --atol 1e-9 --rtol 0   a proof that has ended goes on to a narrower gap

""" + CODES_HELP,
    configure=configure,
    run=run)
