# SPDX-License-Identifier: Apache-2.0

"""Run a program of Senlin: ``senlin_program.py MODULE ARGUMENTS``.

As the program itself does, but with garbage collected in a green thread that
does nothing else. Senlin 16.0.0 leaves database sessions to the collector.
Python calls that one in the middle of whatever runs, and ending a session
lets eventlet switch to another green thread; if the one that was interrupted
was about to wait for a socket, it is woken by the wrong event and then waits
for ever. On a busy machine, 1% to 5% of all creations of nodes did so.

And the tests need not wait: an action on a cluster looks every half a second,
not every three, whether its nodes are done, and an engine begins an action
that got no lock, although nobody asks Senlin for anything else meanwhile.
"""

import gc
import importlib
import itertools
import sys

#: Seconds between two collections, because sessions hold connections
#: meanwhile, and between two looks at the nodes.
INTERVAL = 0.5
#: One in so many looks at everything, which takes long; the others only at
#: what was made since the one before, as most sessions were.
WHOLE = 10
#: Seconds between two looks for actions that nobody has begun.
FORGOTTEN = 10


def collect() -> None:
    """Collect garbage again and again."""
    # Here, because Senlin is the one to prepare eventlet.
    import eventlet

    for number in itertools.count(1):
        eventlet.sleep(INTERVAL)
        generation = 1 if number % WHOLE else 2
        gc.collect(generation)


def begin_actions() -> None:
    """Have the engines begin what nobody has begun, again and again."""
    import eventlet
    from oslo_context import context
    from senlin.engine import dispatcher

    # Senlin sends the context of the green thread, which this one becomes.
    context.RequestContext()
    while True:
        eventlet.sleep(FORGOTTEN)
        dispatcher.start_action()


def main() -> None:
    """Run the program until the process is ended."""
    name = sys.argv.pop(1)
    module = importlib.import_module(name)
    import eventlet
    from senlin.engine.actions import cluster_action

    cluster_action.ClusterAction._sleep = lambda *_: eventlet.sleep(INTERVAL)
    # What is there by now stays: the collections need not look at it.
    gc.freeze()
    gc.disable()
    eventlet.spawn(collect)
    if name.endswith('.engine'):
        eventlet.spawn(begin_actions)
    module.main()


if __name__ == '__main__':
    main()
