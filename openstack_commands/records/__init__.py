# SPDX-License-Identifier: Apache-2.0

"""What the shell prints and APIs answer, read as data. Pure."""
