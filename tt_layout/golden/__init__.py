"""Golden outputs: a manifest of cases, and the files with their expected bytes.

The stages, each with a value as its result:

    yaml_nodes manifest text -> nodes, each with its place in the text
    manifest   nodes -> cases, one per combination of a matrix
    kinds      the kinds of output that a case may have
    inputs     a case -> its layouts, type and release
    views      what the kinds tensor and hardware print, and the facts that explain it
    costs      the same of the kinds info, conflicts, convert and audit
    facts      facts before and now -> what their change means, in words
    kept       the facts of a manifest's golden files, in a file beside it
    runner     case and kind -> outcome
    report     outcomes -> text, JSON, JUnit or annotations
"""
