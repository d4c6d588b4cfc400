"""Syntax tree to encoding, under the rules of a release."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from tt_layout.encodings.base import Encoding, EncodingOrigin, fault_of, is_ours
from tt_layout.encodings.forks import PLACEHOLDERS, UNMAPPED, unwrapped
from tt_layout.encodings.forms import (
    LAYOUT,
    PADDINGS,
    REQUIRED,
    Form,
    Key,
    Spelling,
    Values,
    entries_of,
)
from tt_layout.encodings.registry import DIALECTS, FORMS
from tt_layout.errors import LayoutError, PlaceholderError, UnknownKeyError, UnmappedError, nearest
from tt_layout.mlir.syntax import AttributeNode, DictNode, EntryNode, Node
from tt_layout.records import dataclass
from tt_layout.releases import Release, in_words
from tt_layout.surface import argument


def read_encoding(
    node: Node,
    release: Release | None = None,
    *,
    from_compiler: bool = False,
    keeps_origin: bool = True,
) -> Encoding:
    """Return the encoding of a syntax tree without aliases.

    Args:
        node: the attribute.
        release: the release whose rules hold.  By default the newest that knows every key
            of the text, and then a required key may not be missing even where that release
            would read its absence as 0.
        from_compiler: whether a compiler wrote the text.  Then what the newest release reads
            where a key is missing is meant, while a person may have forgotten the key.
        keeps_origin: whether the encoding keeps where it was read, and with that the text.

    Raises:
        LayoutError: the attribute is unknown, or breaks a rule of the release.
        PlaceholderError: it is a placeholder for a layout that is yet to be chosen.
        UnmappedError: its dialect is unknown, or does not map it to elements.
    """
    node = unwrapped(node)
    if release is not None:
        return Reader(release, uses_silent_defaults=True, keeps_origin=keeps_origin).read(node)
    reader = Reader(newest_release(node), reads_forks=True, keeps_origin=keeps_origin)
    if from_compiler:
        with suppress(LayoutError):
            return replace(reader, uses_silent_defaults=True).read(node)
    return reader.read(node)


@dataclass(frozen=True)
class Reader:
    """Reader of attributes under the rules of one release.

    Attributes:
        release: whose rules.
        uses_silent_defaults: whether an absent key means what its wheels take it for in silence.
        reads_forks: whether the text may be a fork's.
        keeps_origin: whether encodings keep where they were read.
    """

    release: Release
    uses_silent_defaults: bool = False
    reads_forks: bool = False
    keeps_origin: bool = True

    def read(self, node: Node) -> Encoding:
        """Return the encoding of an attribute."""
        attribute = expect_layout(node)
        try:
            return self._read_attribute(attribute)
        except LayoutError as error:
            raise error.at(attribute.span) from None

    def _read_attribute(self, attribute: AttributeNode) -> Encoding:
        form, encoding_class = self._form(attribute)
        entries = entries_of(attribute, form.style)
        keys = [key.name for key in form.keys if self.reads_forks or not key.is_fork]
        for entry in entries:
            if entry.key not in keys:
                raise _unknown_key(attribute.name, entry, keys, self.release)
        values = form.normalize(self._values(attribute, form, entries))
        spans = {e.key: e.value.span for e in entries}
        # a fork may have written it: it is in a dump, or has a fork's key
        may_be_forks = self.uses_silent_defaults or any(
            key.is_fork and key.name in spans for key in form.keys
        )
        try:
            encoding = encoding_class(
                release=self.release,
                spelling=Spelling(form, values),
                origin=EncodingOrigin(attribute.span, spans) if self.keeps_origin else None,
                is_fork=self.reads_forks and may_be_forks,
                **form.fields(values),
            )
            encoding.check_parse()
        except Exception as error:
            if isinstance(error, LayoutError) or is_ours(encoding_class):
                raise
            raise fault_of(encoding_class, attribute.name, error) from error
        return encoding

    def _form(self, attribute: AttributeNode) -> tuple[Form, type[Encoding]]:
        """Return the form that this release gives the attribute."""
        forms = FORMS[attribute.name]
        for form, encoding_class in forms:
            if encoding_class.form_in(self.release) is form:
                return form, encoding_class
        readers = [r for r in Release if _form_of(attribute, r) is not None]
        raise LayoutError(
            f"Triton {self.release} has no attribute #{attribute.name}; {in_words(readers)} has it",
            attribute.name_span,
        )

    def _values(self, attribute: AttributeNode, form: Form, entries: Iterable[EntryNode]) -> Values:
        """Return the value of every key, given or by default."""
        nodes = {entry.key: entry.value for entry in entries}
        values = {k.name: k.kind.read(nodes[k.name], self) for k in form.keys if k.name in nodes}
        absent = [key for key in form.keys if key.name not in values]
        lacking = [repr(key.name) for key in absent if self._default(key) is REQUIRED]
        if lacking:
            from tt_layout.wording import listed, plural

            message = f"#{attribute.name} needs the {plural('key', len(lacking))} {listed(lacking)}"
            raise LayoutError(message, attribute.name_span)
        for key in absent:
            default = self._default(key)
            values[key.name] = default(values) if callable(default) else default
        return {key.name: values[key.name] for key in form.keys}

    def _default(self, key: Key) -> object:
        """Return the value of a key that is not given, or a function of the others."""
        if key.default is REQUIRED and self.uses_silent_defaults:
            return key.silent_default
        return key.default


def expect_layout(node: Node) -> AttributeNode:
    """Return a layout attribute with a body; raise for any other node.

    Raises:
        LayoutError: it is something else; the message names the nearest known attribute.
    """
    if not isinstance(node, AttributeNode):
        message = f"expected a layout attribute such as #ttg.blocked<{{...}}>, got {node.span.text}"
        raise LayoutError(message, node.span)
    if node.name in PLACEHOLDERS:
        message = f"#{node.name} is a placeholder: a later pass chooses the layout"
        raise PlaceholderError(message, node.name_span)
    if node.name in UNMAPPED:
        message = f"#{node.name} has no linear layout: the compiler maps it to no elements, either"
        raise UnmappedError(message, node.name_span)
    if node.name not in FORMS:
        near = nearest(node.name, (*FORMS, *FORMS.third_parties))
        hint = f"; did you mean #{_in_dialect(near, node.name)}?" if near else ""
        kind = LayoutError if node.name.partition(".")[0] in DIALECTS else UnmappedError
        raise kind(f"#{node.name} is not a layout attribute{hint}", node.name_span)
    try:
        FORMS[node.name]
    except LayoutError as error:
        raise error.at(node.name_span) from error.__cause__
    if node.body is None:
        raise LayoutError(f"#{node.name} needs its parameters in <...>", node.span)
    return node


def _in_dialect(near: str, name: str) -> str:
    """Return today's name, in the dialect of a name, of what another dialect calls ``near``.

    Example:
        >>> _in_dialect("triton_gpu.shared", "ttg.shared")
        'ttg.swizzled_shared'
    """
    dialect = name.partition(".")[0]
    if near not in FORMS or near.startswith(f"{dialect}."):
        return near
    classes = {encoding for _, encoding in FORMS[near]}
    own = f"{dialect}.{next(iter(classes)).mnemonic}"
    return own if len(classes) == 1 and own in FORMS else near


def newest_release(node: Node) -> Release:
    """Return the newest release that knows every key of a text.

    Of the releases that know every key, those that also find every key they require come
    first.

    Raises:
        LayoutError: no release knows them all; the first key at fault is named.
    """
    attributes = list(_layout_attributes(expect_layout(node)))
    for judge in (_is_complete_for, _knows_keys_of):
        for release in reversed(Release):
            if all(judge(attribute, release) for attribute in attributes):
                return release
    raise _no_release(attributes)


def _layout_attributes(attribute: AttributeNode) -> Iterable[AttributeNode]:
    """Yield an attribute and the layout attributes among its values, outermost first."""
    yield expect_layout(attribute)
    forms = [form for form, _ in FORMS[attribute.name]]
    parents = {key.name for form in forms for key in form.keys if key.kind is LAYOUT}
    for entry in _entries(attribute):
        if entry.key in parents and isinstance(entry.value, AttributeNode):
            yield from _layout_attributes(entry.value)


def _entries(attribute: AttributeNode) -> list[EntryNode]:
    """Return all entries of an attribute in any enclosure."""
    entries: list[EntryNode] = []
    for item in attribute.body or ():
        entries += item.entries if isinstance(item, DictNode) else ()
        entries += [item] if isinstance(item, EntryNode) else []
    return entries


def _form_of(attribute: AttributeNode, release: Release) -> Form | None:
    return _form_in(attribute.name, release)


def _form_in(name: str, release: Release) -> Form | None:
    """Return the form of an attribute name in a release, if it has one."""
    return next((form for form, cls in FORMS[name] if cls.form_in(release) is form), None)


def _knows_keys_of(attribute: AttributeNode, release: Release) -> bool:
    form = _form_of(attribute, release)
    if form is None:
        return False
    return {entry.key for entry in _entries(attribute)} <= {key.name for key in form.keys}


def _is_complete_for(attribute: AttributeNode, release: Release) -> bool:
    form = _form_of(attribute, release)
    if form is None or not _knows_keys_of(attribute, release):
        return False
    values = {entry.key: entry.value for entry in _entries(attribute)}
    required = {key.name for key in form.keys if key.default is REQUIRED and key.name != PADDINGS}
    return required <= set(values) and form.supports(values)


def _no_release(attributes: list[AttributeNode]) -> LayoutError:
    """Return the error for keys that no release knows, singly or together."""
    for attribute in attributes:
        forms = [form for form, _ in FORMS[attribute.name]]
        keys = [key.name for form in reversed(forms) for key in form.keys]
        for entry in _entries(attribute):
            if entry.key not in keys:
                return _unknown_key(attribute.name, entry, list(dict.fromkeys(keys)), None)
    for attribute in attributes:
        if not any(_knows_keys_of(attribute, release) for release in Release):
            newest = max(_releases_of_key(attribute.name, e.key)[-1] for e in _entries(attribute))
            form = _form_of(attribute, newest)
            stale = next(e for e in _entries(attribute) if not _has_key(form, e.key))
            message = (
                f"no release knows all keys of this #{attribute.name}: {stale.key!r} belongs to "
                f"{in_words(_releases_of_key(attribute.name, stale.key))}, others to "
                f"{newest}"
            )
            return UnknownKeyError(message, stale.span)
    outer, inner = attributes[0], attributes[-1]
    message = f"no release reads both #{outer.name} and #{inner.name} as they are written here"
    return LayoutError(message, inner.name_span)


def _has_key(form: Form | None, name: str) -> bool:
    keys = form.keys if form is not None else ()
    return any(key.name == name and not key.is_fork for key in keys)


def _releases_of_key(attribute_name: str, key: str) -> list[Release]:
    """Return the releases in which an attribute has a key, oldest first."""
    return [r for r in Release if _has_key(_form_in(attribute_name, r), key)]


def _unknown_key(
    attribute_name: str, entry: EntryNode, keys: list[str], release: Release | None
) -> UnknownKeyError:
    """Return the error for a key that a release, or every release, lacks."""
    subject = f"#{attribute_name} has no key {entry.key!r}"
    releases = _releases_of_key(attribute_name, entry.key)
    if release is not None and releases:
        message = f"{subject} in Triton {release}; {in_words(releases)} has it"
        return UnknownKeyError(f"{message} ({argument('release', str(releases[-1]))})", entry.span)
    near = nearest(entry.key, keys)
    hint = f"did you mean {near!r}? it" if near else "it"
    takes = ", ".join(name for name in keys if name != PADDINGS)
    return UnknownKeyError(f"{subject}; {hint} takes {takes}", entry.span)
