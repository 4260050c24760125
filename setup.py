import setuptools

# pbr reads no license expression from setup.cfg.
setuptools.setup(
    setup_requires=['pbr>=6.1.1'],
    license_expression='Apache-2.0',
    pbr=True,
)
