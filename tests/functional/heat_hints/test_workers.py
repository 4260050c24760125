# SPDX-License-Identifier: Apache-2.0

"""The command ``heat-engine`` with two workers, as a deployment starts it."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from testing.heat import configuration, loopback
from testing.heat.templates import server, template
from tests.functional.heat_hints import base
from tests.processes import ROOT

#: How long the engine and its stacks may take, in seconds.
PATIENCE = 600.0
WORKERS = 2
PYTHON = [sys.executable, '-P', '-W', 'ignore']

#: A provider whose thread answers for it. Such a thread does not survive a
#: fork. The module also has each worker make a stack: its bus and its
#: database are its own, so nobody else can tell it to.
REFRESHING = """
import json
import os
import pathlib
import queue
import threading

from testing.heat import engine  # isort: skip

from heat.engine import service

from testing.heat import stacks

start = service.EngineService.start
folder = pathlib.Path(os.environ['TEST_FOLDER'])


class Refreshing:
    def __init__(self, conf):
        self.made_in = os.getpid()
        self.asked, self.fresh = queue.Queue(), queue.Queue()
        threading.Thread(target=self.refresh, daemon=True).start()

    def refresh(self):
        while True:
            self.asked.get()
            self.fresh.put(os.getpid())

    def hints(self, request):
        self.asked.put(None)
        return {
            'asked_in': os.getpid(),
            'made_in': self.made_in,
            'refreshed_in': self.fresh.get(timeout=300),
        }


def work():
    heat = stacks.Stacks(os.environ['TEST_CLOUD'])
    status, reason = heat.do(
        str(os.getpid()), 'root', 'create',
        json.loads((folder / 'template.json').read_text()),
    )
    part = folder / f'{os.getpid()}.part'
    part.write_text(json.dumps([os.getpid(), os.getppid(), status, reason]))
    part.rename(part.with_suffix('.done'))


def start_and_work(self):
    self.anchor = engine.make_database()
    engine.look_more_often()
    start(self)
    threading.Thread(target=work, daemon=True).start()


service.EngineService.start = start_and_work
"""


class TestWorkers(unittest.TestCase):
    def test_each_worker_makes_a_provider_that_refreshes(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        cloud = self.enterContext(contextlib.closing(loopback.Cloud()))
        master = self.start_engine(folder, cloud.url)
        deadline = time.monotonic() + PATIENCE
        done = []
        while len(done) < WORKERS:
            if master.poll() is not None or time.monotonic() > deadline:
                output = (folder / 'output').read_text()[-4000:]
                self.fail(f'only {done} are done; heat-engine says: {output}')
            time.sleep(0.05)
            done = list(folder.glob('*.done'))
        reports = [json.loads(file.read_text()) for file in done]
        pids = {pid for pid, *_ in reports} - {master.pid}
        self.assertEqual(WORKERS, len(pids))
        for pid, parent, status, reason in reports:
            self.assertEqual(master.pid, parent)
            self.assertEqual('CREATE_COMPLETE', status, reason)
            (web,) = (r.hints for r in cloud.sent(str(pid)))
            for name in ('asked_in', 'made_in', 'refreshed_in'):
                self.assertEqual(str(pid), web[name])

    def start_engine(self, folder, cloud):
        """Start the command, each of whose workers makes a stack."""
        base.write_modules(
            folder,
            {'refreshing.py': REFRESHING},
            {'heat_hints.providers': {'rack': 'refreshing:Refreshing'}},
        )
        (folder / 'template.json').write_text(
            json.dumps(template(web=server()))
        )
        # The time is enough however busy this machine is.
        hints = {'enabled': 'true', 'providers': 'rack'}
        hints['provider_timeout'] = '600'
        more = {'num_engine_workers': str(WORKERS)}
        file = configuration.write(
            folder, cloud, {'DEFAULT': more, 'heat_hints': hints}
        )
        command = pathlib.Path(sys.executable).with_name('heat-engine')
        variables = {
            'PYTHONPATH': os.pathsep.join([str(folder), str(ROOT)]),
            'TEST_FOLDER': str(folder),
            'TEST_CLOUD': cloud,
        }
        with (folder / 'output').open('wb') as stream:
            engine = subprocess.Popen(
                [*PYTHON, command, '--config-file', file],
                env={**os.environ, **variables},
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
        self.addCleanup(end, engine)
        return engine


def end(engine):
    """End the command and its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(engine.pid, signal.SIGKILL)
    engine.wait(PATIENCE)
