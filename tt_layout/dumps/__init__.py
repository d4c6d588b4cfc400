"""Dumps: from a path, folder, log, trace, archive, standard input or object to kernels.

`dump` opens whatever holds dumps and reads the modules of each, `audits` makes kernels of them;
`many` does so for files and folders, by several processes and with a `cache`, `large` for the
`pieces` of one long file.
"""
