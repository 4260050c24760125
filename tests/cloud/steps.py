# SPDX-License-Identifier: Apache-2.0

"""Do what can be done at once at once, and say what takes how long."""

import concurrent.futures
import dataclasses
import time
from collections.abc import Callable

#: How many steps run at the same time. More of them only wait for each
#: other on a machine with two processors.
WORKERS = 4


@dataclasses.dataclass(frozen=True)
class Step:
    """A piece of work.

    :param name: what is printed.
    :param action: does it; raises when it cannot be done.
    :param after: the names of the steps that must be done before.
    """

    name: str
    action: Callable[[], object]
    after: tuple[str, ...] = ()


class StepFailed(Exception):
    """A step could not be done."""

    def __init__(self, step: Step, cause: BaseException) -> None:
        super().__init__(f'{step.name}: {type(cause).__name__}: {cause}')
        self.step = step


def run(steps: list[Step], say: Callable[[str], object]) -> None:
    """Do all steps, each as soon as those before it are done.

    :param steps: those that come first first, where it matters.
    :param say: gets a line when a step is done.
    :raises StepFailed: when one fails; no other is begun then.
    """
    began = time.monotonic()

    def timed(step: Step) -> float:
        start = time.monotonic()
        step.action()
        return time.monotonic() - start

    waiting = list(steps)
    done: set[str] = set()
    running: dict[concurrent.futures.Future[float], Step] = {}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        while waiting or running:
            for step in [one for one in waiting if done.issuperset(one.after)]:
                if len(running) < WORKERS:
                    waiting.remove(step)
                    running[pool.submit(timed, step)] = step
            if not running:
                raise ValueError(
                    f'nothing makes ready {[one.name for one in waiting]}'
                )
            ready, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for future in ready:
                step = running.pop(future)
                cause = future.exception()
                if cause is not None:
                    raise StepFailed(step, cause) from cause
                done.add(step.name)
                total = time.monotonic() - began
                say(f'{total:6.1f} s  {step.name} ({future.result():.1f} s)')
