"""Texts with their tokens cut, moved, repeated and replaced: what fuzz tests try."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
HUGE = ["0", "-1", "3", "65536", "4294967296", "9223372036854775808", "9" * 30, "1e9", "0x10"]
STRAY = [*"<>{}[](),=:+#!-\"'\\\0\n\t", "é", "\u2028", "\U0001d538", "//", "true", "default", "#a"]

Mutation = Callable[[Random, list[str]], None]


def delete(r: Random, tokens: list[str]) -> None:
    start = r.randrange(len(tokens))
    del tokens[start : start + r.choice([1, 1, 2, 5])]


def duplicate(r: Random, tokens: list[str]) -> None:
    start = r.randrange(len(tokens))
    end = start + r.choice([1, 1, 3, 12])
    tokens[start:start] = tokens[start:end]


def swap(r: Random, tokens: list[str]) -> None:
    i, j = r.randrange(len(tokens)), r.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]


def insert_stray(r: Random, tokens: list[str]) -> None:
    tokens.insert(r.randint(0, len(tokens)), r.choice(STRAY))


def insert_random(r: Random, tokens: list[str]) -> None:
    noise = "".join(chr(r.randrange(1, 0x250)) for _ in range(r.randint(1, 6)))
    tokens.insert(r.randint(0, len(tokens)), noise)


def change_number(r: Random, tokens: list[str]) -> None:
    places = [at for at, token in enumerate(tokens) if token.isdigit()]
    if places:
        tokens[r.choice(places)] = r.choice([*HUGE, str(1 << r.randrange(70))])


def change_number_a_little(r: Random, tokens: list[str]) -> None:
    places = [at for at, token in enumerate(tokens) if token.isdigit()]
    if places:
        tokens[r.choice(places)] = str(r.choice([0, 1, 2, 4, 8, 16, 32, 64, 128]))


def change_word(r: Random, tokens: list[str]) -> None:
    places = [at for at, token in enumerate(tokens) if token.isidentifier()]
    if len(places) > 1:
        tokens[r.choice(places)] = tokens[r.choice(places)]


def nest(r: Random, tokens: list[str]) -> None:
    left, right = r.choice([("[", "]"), ("{", "}"), ("<", ">"), ("(", ")"), ("[", " ")])
    depth = r.choice([1, 3, 100, 3000])
    at = r.randint(0, len(tokens))
    tokens[at:at] = [left] * depth
    tokens[at + depth : at + depth] = [right] * r.choice([depth, depth - 1])


def cut(r: Random, tokens: list[str]) -> None:
    del tokens[r.randrange(len(tokens)) :]


MUTATIONS: list[Mutation] = [
    delete,
    duplicate,
    swap,
    insert_stray,
    insert_random,
    change_number,
    change_number_a_little,
    change_number_a_little,
    change_number_a_little,
    change_number_a_little,
    change_word,
    nest,
    cut,
]


def mutated(r: Random, text: str) -> str:
    tokens = TOKEN.findall(text)
    for _ in range(r.choice([1, 1, 1, 1, 2, 4])):
        if tokens:
            r.choice(MUTATIONS)(r, tokens)
    return "".join(tokens)
