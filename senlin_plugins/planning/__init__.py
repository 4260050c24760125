# SPDX-License-Identifier: Apache-2.0

"""The decisions of the policies, with plain data and without Senlin."""
