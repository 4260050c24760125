# SPDX-License-Identifier: Apache-2.0

"""What a change of the signing key does to servers of before."""

from os_placement_plugins import signature, stack_hints
from testing.heat import nova_side
from testing.heat.templates import server, stack, template
from tests import signing
from tests.functional.heat_hints import base

#: The key after the change.
NEW_KEY = 'newer-key-0123456789abcdef0123456789'


class TestNewKey(base.ScenarioCase):
    """Heat signs with one key, and after a restart with another."""

    options = {'signing_key': signing.KEY}
    stacks = (stack('before', template(old=server(name='old'))),)
    restarts = (
        (
            {'signing_key': NEW_KEY},
            (stack('after', template(new=server(name='new'))),),
        ),
    )

    def read(self, *keys: str) -> dict[str, str | None]:
        """Return the root stack of each server, as nova-scheduler reads it.

        Nova reads the stored hints again each time a server moves.
        """
        read = {}
        for request in self.outcome.sent:
            spec = nova_side.stored(request)
            hints = stack_hints.read_request(spec, signature.Keys(keys))
            read[request.name] = hints.root_stack_id
        return read

    def roots(self) -> dict[str, str]:
        stacks = self.outcome.stacks
        return {
            'old': stacks['before']['root'],
            'new': stacks['after']['root'],
        }

    def test_with_both_keys_both_servers_belong_to_their_stacks(self) -> None:
        self.assertEqual(self.roots(), self.read(signing.KEY, NEW_KEY))

    def test_a_server_whose_key_is_gone_belongs_to_no_stack(self) -> None:
        self.assertEqual({**self.roots(), 'old': None}, self.read(NEW_KEY))
