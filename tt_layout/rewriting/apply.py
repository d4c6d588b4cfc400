"""A dump with its suggestions applied one after the other, each audited again.

What was promised is held against the audit of the new text before it is returned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tt_layout.audit.audit import Audit, audit_module, check_product
from tt_layout.audit.finding_groups import similar_findings
from tt_layout.audit.findings import Finding
from tt_layout.audit.modules.audited_module import FullOperation
from tt_layout.audit.shares import Share
from tt_layout.audit.suggestions.adviser import Adviser
from tt_layout.audit.suggestions.carried_out import carried_out
from tt_layout.audit.suggestions.gains import Gain, gain, removed_by
from tt_layout.audit.suggestions.needs import Needs, needs_of
from tt_layout.audit.suggestions.suggestion import EVERYWHERE, Suggestion
from tt_layout.audit.values.given import GivenValues, check_names
from tt_layout.errors import FileLocation, LayoutError
from tt_layout.ir import parse_ir
from tt_layout.ir.file_aliases import whole_modules
from tt_layout.ir.module import Module
from tt_layout.ir.passes import chosen_modules
from tt_layout.kernels.metadata import NO_METADATA, KernelMetadata
from tt_layout.mlir.source import Source
from tt_layout.releases import Release
from tt_layout.reports.advice_text import no_way_out, way_out
from tt_layout.reports.progress import Watch, unwatched
from tt_layout.tuples import NamedTuple

TOLERANCE = 1e-6
"""Part of the promised cycles by which those of the new text may differ."""


class AppliedSuggestion(NamedTuple):
    """A suggestion that was applied.

    Attributes:
        number: of the finding, as the report counts them.
        finding: what it was for.
        suggestion: what was done.
        share: the part of a program's time that it saves.
        gain: the cycles that it removes.
        needs: what a program takes before and after, as both texts are audited.
    """

    number: int
    finding: Finding
    suggestion: Suggestion
    share: Share
    gain: Gain
    needs: tuple[Needs, Needs]


class Cured(NamedTuple):
    """A module before and after.

    Attributes:
        before, after: the audits.
        steps: what was done, in order.
    """

    before: Audit
    after: Audit
    steps: tuple[AppliedSuggestion, ...]

    @property
    def text(self) -> str:
        """The text of the new module."""
        return self.after.module.source.text


def cure(
    source: Source,
    numbers: Sequence[int] = (),
    *,
    is_all: bool = False,
    module: int | None = None,
    release: Release | None = None,
    given: GivenValues | None = None,
    known: KernelMetadata = NO_METADATA,
    watch: Watch = unwatched,
) -> Cured:
    """Return a module of a dump with suggestions for its findings applied.

    Without numbers, and without a finding that has a suggestion, the module stays as it is.

    Args:
        source: the dump.
        numbers: of the findings, as the report counts them; by default of the first that has a
            suggestion which estimates, if there are any, do not say to be in vain.
        is_all: whether it is every finding that has one that is not small.
        module: the number of the module, from 1; None for the one that an audit reports.
        release: of Triton, whose rules hold.
        given: what arguments of the kernels are.
        known: metadata of the compiled kernel, such as spills, which are findings that count.
        watch: what passes the numbers of findings on, and may show how many are done.

    Raises:
        LayoutError: there is no such finding, nothing is suggested for it, or what has to change
            is written in a way that is not followed.
    """
    source = _of_module(source, module, release)
    before = _audit(source, release, given)
    check_product(given or GivenValues(), [before.chip])
    check_names(given or GivenValues(), before.arguments)
    # What was compiled is the text before, so that its numbers are compared with none after.
    counted = before if known == NO_METADATA else _audit(source, release, given, known)
    groups = similar_findings(counted.findings)
    for number in numbers:
        if not 1 <= number <= len(groups):
            message = f"there is no finding {number}: the report has {len(groups)}"
            raise LayoutError(message, FileLocation(source.name))

    def is_taken(share: Share) -> bool:
        return bool(numbers) or not (share.is_small if is_all else share.is_in_vain)

    audit, steps, by_key = before, list[AppliedSuggestion](), _by_key(before)
    for number in watch(numbers or range(1, len(groups) + 1)):
        group = groups[number - 1]
        settings = release, given
        taken = list(_cured_group(audit, by_key, number, group, *settings, is_taken=is_taken))
        if numbers and not taken:
            finding = group[0]
            instead = way_out(finding) or no_way_out(finding)
            message = f"finding {number} has no fix that can be applied: {instead}"
            raise LayoutError(message, FileLocation(source.name))
        steps += [step for step, _ in taken]
        if taken:
            audit = taken[-1][1]
            by_key = _by_key(audit)
        if steps and not (numbers or is_all):
            break
    return Cured(before, audit, tuple(steps))


def _of_module(source: Source, number: int | None, release: Release | None) -> Source:
    """Return the text of the module that is meant, as a source of its own."""
    found = whole_modules(source, release, number)
    modules = list(found if number is not None else chosen_modules(found))
    if len(modules) > 1:
        message = f"it has {len(modules)} modules: name one of them, as {source.name}@last"
        raise LayoutError(message, FileLocation(source.name))
    is_whole = number is None and modules and modules[0].choice is None
    if is_whole or not modules:
        return source
    [module] = modules
    if not module.stands_alone:
        message = "the module uses aliases of modules above it: no text of its own has them"
        raise LayoutError(message, FileLocation(source.name))
    return Source(module.span.text, source.name)


def _audit(
    source: Source,
    release: Release | None,
    given: GivenValues | None,
    known: KernelMetadata = NO_METADATA,
) -> Audit:
    modules = parse_ir(source.text, release=release)
    if len(modules) != 1:
        raise LayoutError("found no module in it", FileLocation(source.name))
    return audit_module(modules[0], given=given, known=known)


def _cured_group(
    audit: Audit,
    by_key: Mapping[tuple[object, ...] | None, Finding],
    number: int,
    group: Sequence[Finding],
    release: Release | None,
    given: GivenValues | None,
    *,
    is_taken: Callable[[Share], bool],
) -> Iterator[tuple[AppliedSuggestion, Audit]]:
    """Yield the changes for findings alike, one by one."""
    keys = [_key(audit, finding) for finding in group]
    for key in keys:
        finding = by_key.get(key)
        if finding is None:
            continue  # what was done before has ended it
        adviser = Adviser(audit)
        suggestion = next(iter(adviser.suggestions(finding)), None)
        share = adviser.share(finding, suggestion) if suggestion is not None else None
        if suggestion is None or share is None or not is_taken(share):
            continue
        removed = gain(audit, finding.function, removed_by(suggestion.changes))
        before, audit = audit, _carried_out(audit, finding, suggestion, release, given)
        by_key = _by_key(audit)
        name = finding.function
        needs = (
            needs_of(before, name),
            needs_of(audit, name),
        )
        yield AppliedSuggestion(number, finding, suggestion, share, removed, needs), audit
        if suggestion.where == EVERYWHERE:
            return


def _by_key(audit: Audit) -> Mapping[tuple[object, ...] | None, Finding]:
    """Return the first finding of each key."""
    keyed = {_key(audit, finding): finding for finding in reversed(audit.findings)}
    keyed.pop(None, None)
    return keyed


def _key(audit: Audit, finding: Finding) -> tuple[object, ...] | None:
    """Return the key of a finding that holds when lines move."""
    full = _full(audit, finding)
    if full is None:
        return None
    operation = full.operation
    names = tuple(value.name for value in operation.results or operation.operands)
    return full.function.name, operation.name, names


def _full(audit: Audit, finding: Finding) -> FullOperation | None:
    if finding.movement is None:
        return None
    return audit.audited.in_full(finding.movement.operation)


def _carried_out(
    audit: Audit,
    finding: Finding,
    suggestion: Suggestion,
    release: Release | None,
    given: GivenValues | None,
) -> Audit:
    """Return the audit of a module in which a suggestion is followed.

    Raises:
        LayoutError: it cannot be, or the report of it is not what was promised.
    """
    full, module = _full(audit, finding), audit.module
    assert full is not None
    where = f"finding on line {finding.line}"
    try:
        text = carried_out(audit, full, suggestion)
    except LayoutError as error:
        raise LayoutError(f"{where}: {error.message}", FileLocation(module.source.name)) from None
    after = _audit(Source(text, module.source.name), release, given)
    _check(audit, after, suggestion, where, module)
    return after


def _check(audit: Audit, after: Audit, suggestion: Suggestion, where: str, module: Module) -> None:
    """Hold a new audit against what was promised.

    Raises:
        LayoutError: it is not that.
    """
    place = FileLocation(module.source.name)
    refused = [finding for finding in after.findings if finding.is_error]
    before = {_without_numbers(finding.message) for finding in audit.findings}
    if fresh := [finding for finding in refused if _without_numbers(finding.message) not in before]:
        raise LayoutError(f"{where}: the compiler would refuse it: {fresh[0].message}", place)
    saved = cycles(audit) - cycles(after)
    if abs(saved - suggestion.saved) > TOLERANCE * max(1.0, abs(suggestion.saved)):
        message = f"{where}: it saves {saved:g} cycles, not the {suggestion.saved:g} promised"
        raise LayoutError(message, place)


def _without_numbers(text: str) -> str:
    """Return a message that stays the same where less is too much, or lines have moved.

    Example:
        >>> _without_numbers("@f takes 70000 bytes of shared memory, but a CTA may have 65536")
        '@f takes # bytes of shared memory, but a CTA may have #'
    """
    return re.sub(r"\b\d+\b", "#", text)


def cycles(audit: Audit) -> float:
    """Return the cycles of all data movements in one program, as suggestions count them."""
    return sum(row.cycles or 0 for row in audit.movements)
