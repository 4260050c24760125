# SPDX-License-Identifier: Apache-2.0

"""Random stacks: what Heat sends of them reads back as it was."""

import dataclasses
import random
import string
import unittest
from unittest import mock

import tests
from heat_hints import hints, lineage
from os_placement_plugins import signature, stack_hints
from tests import signing
from tests.unit.heat_hints import requests

#: How many servers are tried.
CASES = 1_000_000 if tests.ALL else 5_000
SEED = 20261124

KEYS = signature.Keys([signing.KEY])
#: What Heat lets the names of stacks consist of.
STACK_NAME = string.ascii_letters + string.digits + '_-.'
#: What the name of a server may hold, and more.
ANYTHING = STACK_NAME + ',[]{}"\'\\ \n\x00\x1b\u202eäß服💻\udc80'
FORMATS = (stack_hints.PATH_LIST, stack_hints.PATH_JSON)


def text(rng: random.Random, characters: str) -> str:
    """Return a name of some characters."""
    return ''.join(rng.choices(characters, k=rng.randint(1, 12)))


def stacks(rng: random.Random) -> dict[str, lineage.StackRow]:
    """Return stacks by their ids, some of them nested, in rings or lost."""
    ids = [f'id{number}' for number in range(rng.randint(1, 12))]
    rows = {}
    for number, stack_id in enumerate(ids):
        owner, parent = None, None
        if number and rng.random() < 0.8:
            owner, parent = rng.choice(ids[:number]), text(rng, STACK_NAME)
        if rng.random() < 0.02:
            owner, parent = rng.choice([*ids, 'gone']), text(rng, STACK_NAME)
        name = text(rng, STACK_NAME)
        rows[stack_id] = lineage.StackRow(stack_id, name, owner, parent)
    return rows


def way_up(
    rows: dict[str, lineage.StackRow], stack_id: str | None
) -> list[lineage.StackRow] | None:
    """Return the stacks from one up to its root stack; None for no way."""
    way: list[lineage.StackRow] = []
    while stack_id is not None:
        if stack_id not in rows or len(way) > len(rows):
            return None
        way.append(rows[stack_id])
        stack_id = rows[stack_id].owner_id
    return way


class RandomStacksTest(unittest.TestCase):
    def test_the_hints_of_a_server_name_its_stacks(self) -> None:
        rng = random.Random(SEED)
        kinds = {'lost': 0, 'nested': 0, 'root': 0}
        for _ in range(CASES):
            rows = stacks(rng)
            stack = rng.choice([*rows.values()])
            way = way_up(rows, stack.id)
            if way is None:
                kinds['lost'] += 1
                words = 'gone|is nested in itself'
                with self.assertRaisesRegex(LookupError, words):
                    lineage.find(stack, rows.__getitem__)
                continue
            kinds['nested' if len(way) > 1 else 'root'] += 1
            load = mock.Mock(side_effect=rows.__getitem__)
            from_root = lineage.find(stack, load)
            self.assertEqual(way[::-1], [*from_root])
            # Each stack above is looked up once.
            loaded = [mock.call(row.id) for row in way[1:]]
            self.assertEqual(loaded, load.mock_calls)
            self.check_hints(rng, from_root)
        self.assertTrue(all(kinds.values()), kinds)

    def check_hints(self, rng: random.Random, rows: lineage.Lineage) -> None:
        """Check what a server of the last stack sends."""
        path = tuple(
            stack_hints.PathStep(row.parent_resource, row.name) for row in rows
        )
        request = dataclasses.replace(
            requests.REQUEST,
            resource_name=text(rng, ANYTHING),
            stack_id=rows[-1].id,
            stack_name=rows[-1].name,
            root_stack_id=rows[0].id,
            path=path,
        )
        sent = hints.identifiers(request, rng.choice(FORMATS))
        sent[stack_hints.SIGNATURE] = KEYS.sign(sent, request.project_id)
        for name, value in sent.items():
            # Nova makes a string of a list of one.
            if isinstance(value, list) and len(value) == 1:
                sent[name] = value[0]
        read = stack_hints.read(sent, request.project_id, KEYS)
        self.assertEqual(
            stack_hints.StackHints(
                root_stack_id=rows[0].id,
                stack_id=rows[-1].id,
                stack_name=rows[-1].name,
                path=path,
                resource_name=request.resource_name,
                resource_uuid=request.resource_uuid,
                project_id=request.project_id,
            ),
            read,
        )
        other = stack_hints.read(sent, 'another project', KEYS)
        self.assertEqual(stack_hints.StackHints(), other)
