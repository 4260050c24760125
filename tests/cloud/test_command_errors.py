# SPDX-License-Identifier: Apache-2.0

"""What the commands say of a cloud when something is wrong."""

import ddt

from tests.cloud import command_base, layout

FILTER = ('aggregate', 'filter')
PLAN = ('cluster', 'region', 'plan')
HINTS = ('stack', 'hints', 'show')

#: Every command, with arguments that are right on any cloud.
COMMANDS = {
    'explain': (*FILTER, 'explain', layout.FLAVOR),
    'lint': (*FILTER, 'lint'),
    'impact': (*FILTER, 'impact', '--replace-in-tree'),
    'plan': (*PLAN, '--cluster', 'web', '--scale-out', '1'),
    'hints': (*HINTS, 'shop'),
}


@ddt.ddt
class TestErrors(command_base.CommandTest):
    def fails(
        self,
        command: tuple[str, ...],
        *words: str,
        user: str = layout.ADMIN,
        **variables: str,
    ) -> None:
        """Fail unless a command says in one line what is wrong.

        :param command: the words after ``openstack``.
        :param words: what the line must say.
        :param user: who is logged in.
        :param variables: other variables than those of this user.
        """
        login = command_base.login(user) | variables
        self.assert_one_line(self.openstack(*command, **login), *words)

    @ddt.data(*COMMANDS)
    def test_closed_port(self, name):
        # The discard port, where nobody listens.
        url = f'http://{layout.ADDRESS}:9/v3'
        self.fails(COMMANDS[name], f'{layout.ADDRESS}:9', OS_AUTH_URL=url)

    @ddt.data(*COMMANDS)
    def test_wrong_password(self, name):
        self.fails(COMMANDS[name], '401', OS_PASSWORD='wrong')

    @ddt.data(*COMMANDS)
    def test_region_that_does_not_exist(self, name):
        self.fails(COMMANDS[name], 'RegionNine', OS_REGION_NAME='RegionNine')

    @ddt.data('explain', 'lint', 'impact')
    def test_user_who_may_not_see_aggregates(self, name):
        self.fails(COMMANDS[name], '403', 'os-aggregates', user=layout.USER)

    @ddt.data(
        (*FILTER, 'explain', 'nosuch'),
        (*FILTER, 'explain', '--server', 'nosuch'),
        (*FILTER, 'explain', layout.FLAVOR, '--host', 'nosuch'),
        (*FILTER, 'impact', '--set-aggregate', 'nosuch', 'k=v'),
        (*FILTER, 'impact', '--set-flavor', 'nosuch', 'k=v'),
        (*PLAN, '--cluster', 'nosuch', '--scale-out', '1'),
        (*PLAN, '--policy', 'nosuch', '--scale-out', '1'),
    )
    def test_unknown_name(self, command):
        self.fails(command, 'nosuch')

    def test_nova_that_shows_no_hints(self):
        self.fails((*HINTS, 'shop'), 'microversion 2.100')
