"""The forms that are not written, what is written instead, and the places where a form has a meaning of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Form:
    """A pattern of words, and the advice for it."""

    pattern: re.Pattern[str]
    instead: str


@dataclass(frozen=True)
class Exemption:
    """A form that is right in some files, with the reason."""

    form: str
    files: str
    reason: str

    def covers(self, words: str, path: str) -> bool:
        return words == self.form and fnmatch(path, self.files)


def _form(words: str, instead: str) -> Form:
    """Matches the words in any case and across line breaks."""
    return Form(re.compile(rf"(?<![\w-])(?:{words})(?![\w-])".replace(" ", r"\s+"), re.IGNORECASE), instead)


#: Not written in comments, names of tests, texts of programs, scripts and documents.
PROSE = (
    _form(r"who(?:m)?ever", "a user, or the name of the component"),
    _form(r"(?:some|any|every)body(?:'s)?", "a user, a client, or the name of the component"),
    _form(r"nobody(?:'s)?", "no user, no client, or an active sentence"),
    _form(r"what (?:is|was) over|(?:is|are|was|were) (?:long )?over(?=[.,;:)]| and\b| or\b|$)", "expired, ended, revoked"),
    _form(r"anew", "again"),
    _form(r"once more", "again, a second time; retry"),
    _form(r"(?:can|could)(?:not| not) be had", "is unavailable; failed to …"),
    _form(r"(?:tells?|told|telling) of", "notify, report"),
    _form(r"of (?:ours|theirs)", "this server's, its; or the name of the owner"),
    _form(r"(?:hangs?|hung|hanging) on(?! to)", "depends on"),
    _form(r"fold(?:s|ed|ing)? the log", "WAL checkpoint"),
    _form(r"go(?:es|ing)? on(?: by itself)?(?! an? )", "continue; automatically"),
    _form(r"tak(?:e|es|en|ing) (?:it |them |that |this )?back", "revoke, reset, remove"),
    _form(r"stands? in(?: the place of)?|in the place of", "is in, contains; replaces"),
    _form(r"the one before", "the previous …"),
    _form(r"the clock on the wall", "wall clock"),
    _form(r"a clock that nobody sets", "monotonic clock"),
    _form(r"line of (?:refresh )?tokens", "token family"),
    _form(r"left beforehand", "pushed"),
    _form(r"(?:is|are|was|were) made to wait", "rate limit, throttle"),
    _form(r"the person (?:at|in front of) the browser", "the user"),
    _form(r"names? of (?:a )?(?:person|people) to an? (?:app|application)", "subject identifier"),
    _form(r"wish(?:es|ed)?", "request; wants"),
    _form(r"e-mails?", "email"),
)

#: Not written in the English texts of the pages, which say "app" and address the reader as "you".
CATALOGUE = (
    _form(r"who(?:m)?ever|(?:some|any)body(?:'s)?", "somebody else is \"someone\"; otherwise the user, a person"),
    _form(r"applications?(?!/)", "app"),
    _form(r"anew|once more", "again"),
    _form(r"(?:can|could)(?:not| not) be had", "is unavailable"),
    _form(r"(?:tells?|told) of", "notify, report"),
    _form(r"names? of people", "subject identifiers"),
    _form(r"what is over|(?:is|are) over(?=[.,;:)]|$)", "expired, ended"),
    _form(r"wish(?:es)?", "request; want"),
    _form(r"e-mails?", "email"),
)

#: A documentation comment starts with a noun, or with a verb in the third person.
FIRST_WORDS = re.compile(r"(?:What|How|Who|Whose|Whom|Makes? an?)\b")
FIRST_WORDS_INSTEAD = "a noun phrase, or a verb in the third person"
WHETHER_INSTEAD = "\"Returns true if …\" on a function; \"Whether\" is for properties of type Bool"

#: By form and files, never by line.
EXEMPTIONS: tuple[Exemption, ...] = ()
