"""Dumps: from a path, folder, log, trace, archive, standard input or object to kernels.

`dump` opens whatever holds dumps and reads their modules, `audits` turns modules into kernels;
`many` does so for files and folders, with several processes and a `cache`, `large` for the
`pieces` of one long file.
"""
