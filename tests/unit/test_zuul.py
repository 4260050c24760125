# SPDX-License-Identifier: Apache-2.0

"""The CI's jobs run environments that tox.ini has, and all of them."""

import configparser
import re
import unittest

import yaml

from tests import processes

#: What a developer runs by hand: the demo itself, sample files, coverage.
BY_HAND = {'py3', 'demo', 'genconfig', 'cover'}


def expanded(text: str) -> set[str]:
    """Return the names that a text with braces stands for, as tox reads it."""
    match = re.search(r'{([^{}]*)}', text)
    if match is None:
        return {text}
    return {
        name
        for word in match[1].split(',')
        for name in expanded(
            text[: match.start()] + word + text[match.end() :]
        )
    }


class JobsTest(unittest.TestCase):
    def setUp(self):
        super().setUp()
        config = configparser.ConfigParser(interpolation=None)
        config.read(processes.ROOT / 'tox.ini')
        self.environments = {
            name
            for section in config.sections()
            if section.startswith('testenv:')
            for name in expanded(section.removeprefix('testenv:'))
        }
        items = yaml.safe_load((processes.ROOT / '.zuul.yaml').read_text())
        self.jobs = {
            item['job']['name']: item['job'] for item in items if 'job' in item
        }
        (self.project,) = (i['project'] for i in items if 'project' in i)

    def test_the_jobs_run_every_environment(self):
        found = {
            name
            for job in self.jobs.values()
            for name in job.get('vars', {}).get('tox_envlist', '').split(',')
            if name
        }
        self.assertEqual(self.environments - BY_HAND, found)

    def test_both_pipelines_run_every_job(self):
        wanted = {
            name for name, job in self.jobs.items() if 'abstract' not in job
        }
        for pipeline in ('check', 'gate'):
            self.assertEqual(wanted, {*self.project[pipeline]['jobs']})
