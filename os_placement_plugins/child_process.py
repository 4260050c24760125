# SPDX-License-Identifier: Apache-2.0

"""Load the plug-ins of other people in a process of its own.

A plug-in may raise an error, end its process, or never return.
"""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Final, TypeVar

from os_placement_plugins import options
from os_placement_plugins.errors import named_line

Value = TypeVar('Value')
#: A function that is called with the name of each thing before it is loaded.
Begin = Callable[[str], None]

#: How many seconds the loading of one thing may take.
LIMIT = 30.0

#: How many seconds the process may take to end by itself. Some modules write
#: files when a process ends, as the measurement of coverage does.
_GRACE: Final = 1.0
_BEGUN: Final = 'begun'
_FAILED: Final = 'failed'
_DONE: Final = 'done'


class LoadError(Exception):
    """Something cannot be loaded. The text names it, and says why.

    :param thing: the name of the thing, as it was begun.
    """

    def __init__(self, text: str, thing: str = '') -> None:
        super().__init__(text)
        self.thing = thing


class NoAnswerError(Exception):
    """The loading of one thing took longer than :data:`LIMIT`.

    The thing may hang, or the host may be busy. The text names the thing.
    """


def load(thing: str, function: Callable[[Begin], Value]) -> Value:
    """Return the result of a function that runs in a process of its own.

    :param thing: the name of what the function loads first.
    :param function: the function that loads things. It calls its argument
        with the name of each further thing before it loads the thing.
    :raises LoadError: if the function raises an error or ends its process.
    :raises NoAnswerError: if the loading of one thing takes too long.
    """
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(function, sender))
    process.start()
    # Otherwise, the pipe would not end with the child.
    sender.close()
    try:
        while receiver.poll(LIMIT):
            event, value = receiver.recv()
            if event == _DONE:
                result: Value = value
                return result
            if event == _FAILED:
                raise LoadError(f'{thing}: {value}', thing)
            thing = value
        raise NoAnswerError(
            f'{thing}: there was no answer within {LIMIT:g} seconds'
        )
    except EOFError:
        raise LoadError(f'{thing}: it ended the process', thing) from None
    finally:
        process.join(_GRACE)
        # A thread of a plug-in may keep the process alive.
        process.kill()
        process.join()


def _run(function: Callable[[Begin], Any], sender: Connection) -> None:
    # What plug-ins print is not the answer of the command.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    try:
        result = function(lambda name: sender.send((_BEGUN, name)))
    except LoadError as exc:
        sender.send((_FAILED, str(exc)))
    except BaseException as exc:
        sender.send((_FAILED, options.shorten_location(named_line(exc))))
    else:
        sender.send((_DONE, result))
