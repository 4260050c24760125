# SPDX-License-Identifier: Apache-2.0

"""Read and write the rows of a cluster in Senlin's database; needs Senlin."""
