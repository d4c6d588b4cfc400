"""A module as its audit reads it: layouts over types, operations, cached conclusions."""
