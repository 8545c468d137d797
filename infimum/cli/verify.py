"""`infimum verify MODEL.onnx PROPERTY.vnnlib`."""

from argparse import ArgumentParser, Namespace

from infimum.cli.command import Command
from infimum.cli.exit_codes import INFEASIBLE, OK, OPEN, READER_GONE, USAGE
from infimum.cli.printing import print_json, row
from infimum.cli.settings import add_settings
from infimum.cli.shell_wording import for_shell

_SETTINGS = ("--time-limit", "--max-boxes", "--memory-limit", "--batch", "--device", "--seed", "--threads", "--progress")
_CODES = {"HOLDS": OK, "BOUNDED": OK, "UNKNOWN": OPEN, "VIOLATED": INFEASIBLE}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL.onnx", help="the network, an ONNX file (needs pip install infimum[onnx])")
    parser.add_argument("property", metavar="PROPERTY.vnnlib", help="the inputs and outputs that are unsafe, a VNN-LIB file")
    parser.add_argument("--output", metavar="NAME", help="the output of the network that is meant, if it has several")
    add_settings(parser, _SETTINGS, {"--time-limit": "stop after this time and print what was decided"})


def run(args: Namespace) -> int:
    """Prints the table of the verification."""
    from infimum.networks import network, verify  # seldom needed

    names = [flag[2:].replace("-", "_") for flag in _SETTINGS]
    settings = {name: value for name in names if (value := getattr(args, name)) is not None}
    found = verify(network(args.model, output=args.output), None, args.property, **settings)
    if args.json:
        print_json(found.to_dict())
    else:
        print(row("network", args.model))
        print(for_shell(str(found)))
    return _CODES[found.verdict.name]


COMMAND = Command(
    name="verify",
    summary="prove or refute a property of a trained network",
    usage="infimum verify MODEL.onnx PROPERTY.vnnlib [--output NAME] [settings] [--json]",
    description="Proves that no input within the bounds of a VNN-LIB file leads into its unsafe set (HOLDS, which others call\n"
                "unsat), or finds an input that is proved to do so (VIOLATED, sat).",
    examples=f"""examples:
  infimum verify model.onnx robust.vnnlib
  infimum verify model.onnx robust.vnnlib --time-limit 60 --json

exit codes:
  {OK}    HOLDS: proved for every input
  {OPEN}    UNKNOWN: it could not be decided, or a limit was reached before it was
  {USAGE}    wrong usage, a file that cannot be read, or an output that cannot be written
  {INFEASIBLE}    VIOLATED: proved at the input that is printed
  {READER_GONE}  the reader of the output ended before all was written""",
    configure=configure,
    run=run)
