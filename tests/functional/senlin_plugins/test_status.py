# SPDX-License-Identifier: Apache-2.0

"""``senlin-plugins-status upgrade check`` on good and bad senlin.conf files.

The database is a file with the tables of Senlin's own models.
"""

import ddt
import sqlalchemy
from senlin.db.sqlalchemy import models
from sqlalchemy import orm

from tests import upgrade_checks

SERVER = 'senlin_plugins.nova.server-1.0'
OURS = 'senlin_plugins.policy.region_placement-1.0'
THEIRS = 'senlin.policy.region_placement-1.0'


def make_database(path, clusters):
    """Make Senlin's tables, and clusters in them.

    :param clusters: each a cluster's name, its profile's type and the types
        of its policies.
    """
    engine = sqlalchemy.create_engine(f'sqlite:///{path}')
    models.BASE.metadata.create_all(engine)
    owner = {'user': 'u', 'project': 'p'}
    with orm.Session(engine) as session:
        for number, cluster in enumerate(clusters):
            name, profile_type, *policies = cluster.split()
            cluster_id = profile_id = str(number)
            rows = [
                models.Profile(
                    id=profile_id,
                    type=profile_type,
                    context={},
                    spec={'type': profile_type[:-4], 'properties': {}},
                    **owner,
                ),
                models.Cluster(
                    id=cluster_id, name=name, profile_id=profile_id, **owner
                ),
            ]
            for policy_type in policies:
                policy_id = f'{number}-{policy_type}'[:36]
                rows += [
                    models.Policy(id=policy_id, type=policy_type, **owner),
                    models.ClusterPolicies(
                        id=policy_id,
                        cluster_id=cluster_id,
                        policy_id=policy_id,
                    ),
                ]
            for row in rows:
                session.add(row)
                session.flush()
        session.commit()
    engine.dispose()


@ddt.ddt
class SenlinPluginsStatusTest(
    upgrade_checks.FileTests,
    upgrade_checks.DatabaseTests,
    upgrade_checks.UpgradeCheckCase,
):
    command = 'senlin-plugins-status'
    file = 'senlin.conf'
    misspelled = (
        'senlin_plugins',
        'senlin_plugin',
        'check_catalog',
        'check_catalogue',
    )

    def good(self):
        return self.configure()

    def ask(self, url):
        answer = self.check_details(
            f'[database]\nconnection = {url}\n',
            'Attached policies',
            'WARNING',
            'could not be queried',
        )
        return answer, answer.checks['Attached policies'][1]

    def configure(self, *clusters, added=''):
        """Make a database and return a senlin.conf that names it.

        :param clusters: each a cluster's name, its profile's type and the
            types of its policies.
        """
        database = self.folder / 'senlin.sqlite'
        make_database(database, clusters)
        return (
            '[DEFAULT]\n'
            'default_region_name = RegionOne\n'
            f'[database]\nconnection = sqlite:///{database}\n{added}'
        )

    def test_our_policies_on_our_profile_need_nothing(self):
        self.assert_clean(
            self.configure(
                f'web {SERVER} {OURS} senlin_plugins.policy.deletion-1.1',
                'db os.nova.server-1.0 senlin.policy.deletion-1.1',
            )
        )

    def test_policies_in_each_others_way_are_told(self):
        deletion = 'senlin_plugins.policy.deletion-1.0'
        text = self.configure(
            f'one os.nova.server-1.0 {THEIRS}',
            f'two {SERVER} {OURS} {THEIRS}',
            f'three {SERVER} {OURS} {deletion} senlin.policy.deletion-1.1',
        )
        self.check_details(
            text,
            'Attached policies',
            'WARNING',
            'clusters one, two: nothing reads its plan',
            'attach a policy',
            'both attached to cluster two',
            'both attached to cluster three',
        )

    def test_clusters_of_one_name_are_two_and_many_are_counted(self):
        ours, theirs = f'web {SERVER} {OURS}', f'web {SERVER} {THEIRS}'
        many = (f'c{number:02} os.x-1.0 {THEIRS}' for number in range(12))
        answer = self.check_details(
            self.configure(ours, *many, theirs),
            'Attached policies',
            'WARNING',
            'c00, c01',
            'c09, 3 more',
        )
        self.assertNotIn('both attached', answer.output)

    @ddt.unpack
    @ddt.data(
        ('', 'connection is not set'),
        # It has no tables.
        ('connection = sqlite://', 'OperationalError'),
    )
    def test_a_database_that_cannot_be_asked_is_a_warning(self, line, word):
        self.check_details(
            f'[database]\n{line}\n',
            'Attached policies',
            'WARNING',
            word,
            'Check connection in [database]',
        )

    def test_a_wrong_value_is_a_failure(self):
        self.check_details(
            self.configure(added='[senlin_plugins]\ncheck_catalog = maybe\n'),
            'Option values',
            'FAILURE',
            'check_catalog',
            'maybe',
            'restart',
        )

    def test_no_default_region_is_a_warning(self):
        text = self.configure().replace('default_region_name', 'other')
        self.check_details(text, 'Default region', 'WARNING', 'Set it to')

    def test_a_reference_to_nothing_is_told(self):
        answer = self.check_details(
            self.configure().replace('RegionOne', '$nowhere'),
            'Option values',
            'FAILURE',
            '[DEFAULT] Value for option default_region_name ',
            'nowhere',
        )
        self.assert_details(answer, 'Default region', 'FAILURE', 'Not checked')

    def test_a_type_that_an_environment_file_removes_is_a_failure(self):
        folder = self.folder / 'environments'
        folder.mkdir()
        removed = f'custom_policies:\n  {OURS}: null\n'
        (folder / 'site.yaml').write_text(removed)
        text = self.configure().replace(
            '[database]', f'environment_dir = {folder}\n[database]'
        )
        self.check_details(
            text, 'Policy and profile types', 'FAILURE', OURS, str(folder)
        )
