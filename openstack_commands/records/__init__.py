# SPDX-License-Identifier: Apache-2.0

"""Read the output of the shell and the answers of APIs. Pure."""
