# SPDX-License-Identifier: Apache-2.0

"""Where the commands read: a running cloud, or files."""
