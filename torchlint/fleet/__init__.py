"""Many repositories in one go, each linted as itself, on this machine or on others."""
