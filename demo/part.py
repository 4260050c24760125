# SPDX-License-Identifier: Apache-2.0

"""Run one part of the demo in this process and write what it found.

``python -m demo.part senlin --out FILE`` is started by ``python -m demo``,
once per service: the services patch and configure their whole process, so
two of them never share one.
"""

import argparse
import dataclasses
import importlib
import importlib.util
import json
import pathlib
import resource
import sys
import time
import traceback
from collections.abc import Sequence

from demo import report

#: The parts, and what each needs: the names of services' top-level modules,
#: which are those of the extras in setup.cfg that install them.
SERVICES = {
    'senlin': ('senlin',),
    'nova': ('nova',),
    'heat': ('heat',),
    'stack': ('heat', 'nova'),
}
PARTS = tuple(SERVICES)

#: The part that goes on with the requests that another one has recorded.
GOES_ON = ('stack', 'heat')

EXIT_FAILED = 1
EXIT_USAGE = 2


def missing_services(names: Sequence[str]) -> str:
    """Say which services are not installed, and how to get them.

    :param names: parts that are to run.
    :returns: one line, or an empty string when all are there.
    """
    needed = dict.fromkeys(part for name in names for part in SERVICES[name])
    missing = [
        name for name in needed if importlib.util.find_spec(name) is None
    ]
    if not missing:
        return ''
    return (
        f'not installed here: {", ".join(missing)}. Run "make demo", or '
        f'pip install "os-placement-plugins[{",".join(missing)}]".'
    )


def peak_mib() -> float:
    """Return the largest resident memory of this process or a child of it.

    :returns: the peak in MiB; Linux counts ``ru_maxrss`` in KiB.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return round(max(own, children) / 1024, 1)


def main(argv: list[str] | None = None) -> int:
    """Run one part; print one line and return non-zero when it cannot run.

    :param argv: the command line without the program's name.
    :returns: 0 when the part ran to its end (its checks may still have
        failed: the caller reads them from the file), 1 when it broke off,
        2 when something that the user must change is wrong.
    """
    parser = argparse.ArgumentParser(prog='python -m demo.part')
    parser.add_argument('service', choices=PARTS)
    parser.add_argument('--out', type=pathlib.Path, required=True)
    parser.add_argument('--log', type=pathlib.Path, required=True)
    parser.add_argument('--port', type=int, default=0)
    parser.add_argument('--requests', type=pathlib.Path)
    args = parser.parse_args(argv)

    missing = missing_services([args.service])
    if missing:
        print(f'demo: {missing}', file=sys.stderr)
        return EXIT_USAGE

    progress = report.Progress(args.service)
    started = time.monotonic()
    try:
        story = importlib.import_module(f'demo.{args.service}.story')
        options = {'log': args.log, 'port': args.port}
        if args.service in GOES_ON:
            options['requests'] = args.requests
        part = story.run(progress, **options)
    except report.DemoError as exc:
        print(f'demo: {args.service}: {exc}', file=sys.stderr)
        return EXIT_USAGE
    except Exception as exc:
        with args.log.open('a') as log:
            traceback.print_exc(file=log)
        print(
            f'demo: {args.service} broke off: {type(exc).__name__}: {exc} '
            f'(the traceback is in {args.log}).',
            file=sys.stderr,
        )
        return EXIT_FAILED
    part = dataclasses.replace(
        part,
        seconds=round(time.monotonic() - started, 1),
        peak_mib=peak_mib(),
    )
    args.out.write_text(json.dumps(part.to_dict()))
    return 0


if __name__ == '__main__':
    sys.exit(main())
