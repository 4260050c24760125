# SPDX-License-Identifier: Apache-2.0

"""Read and write a cluster's rows in Senlin's database.

The modules of this package import Senlin.
"""
