# SPDX-License-Identifier: Apache-2.0

"""The way into this package, and out: servers stay up.

On the real engine. The command itself runs on a database of its own.
"""

import sqlalchemy
from senlin.db.sqlalchemy import api as db_api
from senlin.db.sqlalchemy import models
from senlin.objects import cluster_lock
from sqlalchemy import orm

from senlin_plugins import conversion
from tests import upgrade_checks
from tests.functional.senlin_plugins import base
from tests.functional.senlin_plugins.base import ONE, TWO

IN_TREE = 'os.nova.server'
AWARE = 'senlin_plugins.nova.server'


class Way(base.TestCase):
    def convert(self, *arguments):
        """Convert a profile and return what the command says."""
        with db_api.session_for_write() as session:
            return conversion.convert_profile(session, *arguments)

    def assert_not_converted(self, words, *arguments):
        """Check that a profile cannot be converted, and why."""
        with self.assertRaisesRegex(ValueError, words):
            self.convert(*arguments)

    def users(self):
        """Return what needs this package."""
        with db_api.session_for_read() as session:
            rows = session.execute(sqlalchemy.text(conversion.STATEMENT))
            return [
                (use.kind, use.id, use.package_types)
                for use in conversion.collect_uses(rows)
                if use.package_types
            ]

    def test_in_and_back(self):
        profile = self.senlin.profile(IN_TREE)
        cluster = self.cluster(profile=profile, size=3)
        before = self.held(cluster)
        self.assertEqual([], self.users())
        report = self.convert(profile, False, False)
        self.assertIn(f'(3 nodes; clusters: cluster): {IN_TREE} -> ', report)
        self.assertIn('Nothing has changed', report)
        policy = self.region_policy((ONE,), (TWO,))
        for words in (
            "of type 'os.nova.server-1.0' creates all nodes in one region",
            "use a profile of type 'senlin_plugins.nova.server'",
        ):
            self.assert_not_attached(words, cluster, policy)
        self.assertIn('Done.', self.convert(profile, False, True))
        self.act(cluster, 'check')
        self.attach(cluster, policy)
        self.assertEqual(before, self.held(cluster))
        self.assert_servers(cluster, **{ONE: 3})
        self.act(cluster, 'scale_out', count=3)
        self.assert_servers(cluster, **{ONE: 3, TWO: 3})
        kinds = f'{AWARE}-1.0, {base.REGION_POLICY}-1.0'
        self.assertEqual([('cluster', cluster, kinds)], self.users())
        # Out again.
        back = profile, True, True
        self.assert_not_converted('3 node.s. are not in RegionOne', *back)
        for node in self.ids(cluster, TWO):
            self.assert_done(self.senlin.delete(f'/nodes/{node}'))
        self.assert_not_converted('is attached to cluster', *back)
        self.act(cluster, 'policy_detach', policy_id=policy)
        self.assertIn('Done.', self.convert(*back))
        self.assertEqual([], self.users())
        self.act(cluster, 'recover', check=True)
        self.assertEqual(before, self.held(cluster))
        self.act(cluster, 'scale_out')
        self.assertEqual(4, self.cloud.servers_of(cluster)[ONE])

    def test_what_is_not_ready_stays(self):
        profile = self.senlin.profile(IN_TREE)
        cluster = self.cluster(profile=profile, size=1)
        self.assert_not_converted('0 profiles are', 'nobody', False, True)
        self.assert_not_converted(
            f"is '{IN_TREE}': it must be one of {AWARE}", profile, True, True
        )
        cluster_lock.ClusterLock.acquire(cluster, 'something', -1)
        self.assert_not_converted('under way', profile, False, True)
        cluster_lock.ClusterLock.release(cluster, 'something', -1)
        self.set_option('default_region_name', '', None)
        self.assert_not_converted('is not set', profile, False, True)


#: A password, and the parts of it that a URL makes of it.
PASSWORD = ('s3cretpw', 's3c', 'retpw', 'cret')
#: Wrong URLs of a database, each with the password.
WRONG_URLS = (
    'mysql+pymysql//nova:s3cretpw@db/x',
    'mysql+pymysql://nova:s3c@retpw@127.0.0.1:1/x',
    'mysql+pymysql://nova:s3cretpw@127.0.0.1:port/x',
    'sqlite:////nowhere/s3cretpw',
)


def make_database(path):
    """Make a database with a cluster that uses this package."""
    engine = sqlalchemy.create_engine(f'sqlite:///{path}')
    models.BASE.metadata.create_all(engine)
    owner = {'user': 'u', 'project': 'p'}
    profile = models.Profile(
        id='a profile',
        type=f'{AWARE}-1.0',
        context={},
        spec={'type': AWARE, 'properties': {}},
        **owner,
    )
    cluster = models.Cluster(id='1', name='db', profile_id=profile.id, **owner)
    with orm.Session(engine) as session:
        session.add(profile)
        session.flush()
        session.add(cluster)
        session.commit()
    engine.dispose()


class Command(upgrade_checks.UpgradeCheckCase):
    command = 'senlin-plugins-convert'
    file = 'senlin.conf'

    def test_no_password_is_told(self):
        for url in WRONG_URLS:
            with self.subTest(url):
                path = self.write(f'[database]\nconnection = {url}\n')
                answer = self.execute('--config-file', path, 'list')
                self.assertEqual((1, ''), (answer.code, answer.output))
                (line,) = answer.error.splitlines()
                self.assertIn('Check connection in [', line)
                self.assertRegex(line, r'\b[A-Za-z]+(Error|Exception)\b')
                for part in PASSWORD:
                    self.assertNotIn(part, line)

    def test_it_lists_and_converts(self):
        database = self.folder / 'senlin.sqlite'
        make_database(database)
        conf = self.write(
            '[DEFAULT]\ndefault_region_name = RegionOne\n'
            f'[database]\nconnection = sqlite:///{database}\n'
        )

        def run(*arguments):
            return self.execute('--config-file', conf, *arguments)

        self.assertEqual(f'cluster db (1): {AWARE}-1.0\n', run('list').output)
        back = 'profile', 'a profile', '--back'
        self.assertIn('Nothing has changed', run(*back).output)
        self.assertIn('Done.', run(*back, '--yes').output)
        self.assertIn('Nothing needs this package', run('list').output)
        database.unlink()
        broken = run('list')
        self.assertEqual(1, broken.code)
        self.assertIn('OperationalError. Check connection', broken.error)
        conf.write_text('')
        self.assertIn('connection is not set', run('list').error)
