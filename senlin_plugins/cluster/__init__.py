# SPDX-License-Identifier: Apache-2.0

"""What the rows of Senlin hold of a cluster; it needs Senlin."""
