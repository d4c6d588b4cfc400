"""Golden outputs: a manifest of cases, and files with the bytes that each must print.

One way through, a value per stage:

    yaml_nodes manifest text -> nodes, each with its place in the text
    matrix     a case with a matrix -> a case per combination
    manifest   nodes -> cases
    kinds      the kinds of output that a case may have
    inputs     a case -> its layouts, type and release
    views      what the kinds tensor and hardware print
    costs      what the kinds info, conflicts and convert print
    runner     case and kind -> outcome
    explain    what a changed view means, in words
    cost_facts what a changed cost means, in words
    report     outcomes -> text, JSON, JUnit or annotations
"""
