"""Judging files."""

from __future__ import annotations

import os

from ._decode import decoded
from ._errors import PteError
from ._opened import Opened, open_handle, shown_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ._opened import Source
    from ._ptekit import Checked, Judge


class Finding:
    """A finding of a rule, or the reason why a file was refused.

    Attributes:
        rule: The id of the rule or the code of the refusal; `pte explain RULE` has more.
        severity: `error`, `warning` or `note`.
        message: What is wrong.
        offset: The offset of the wrong bytes from the start of the file, or None.
        path: The path of the wrong bytes from the root table; may be empty.
        why: The consequence; or None.
        help: What to do; or None.
        file: The name of the file.
        data_file: The name of the data file that has the wrong bytes, or None for the file itself.
    """

    __slots__ = ("data_file", "file", "help", "message", "offset", "path", "rule", "severity", "why")

    def __init__(self, file: str, record: dict[str, Any]) -> None:
        self.file = file
        self.rule: str = record["rule"]
        self.severity: str = record["severity"]
        self.message: str = record["message"]
        self.offset: int | None = record["offset"]
        self.path: str = record["path"]
        self.why: str | None = record.get("why")
        self.help: str | None = record.get("help")
        self.data_file: str | None = record.get("in")

    def __repr__(self) -> str:
        place = "" if self.offset is None else f" at {self.offset:#x}"
        return f"<{self.severity}[{self.rule}] {self.message}{place} in {self.data_file or self.file}>"


class CheckError(PteError):
    """A report has Errors; raised by `Report.raise_for_errors`.

    The attributes are those of the first Error. `findings` has all of them.
    """

    findings: tuple[Finding, ...] = ()


class Report:
    """The findings in files, the worst of each file first. It is true if there is no Error.

    Data that is not given is no Error, but the verdict is then `incomplete`, and `ok` is false.
    """

    def __init__(self, checked: list[Checked]) -> None:
        self._checked = checked
        self._files = files = [decoded(file.to_json()) for file in checked]
        self.findings: list[Finding] = [
            Finding(file["path"], record) for file in files for record in file["findings"]
        ]

    @property
    def errors(self) -> list[Finding]:
        """The findings of the severity Error."""
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings of the severity Warning."""
        return [finding for finding in self.findings if finding.severity == "warning"]

    @property
    def ok(self) -> bool:
        """Whether every file has the verdict `ok`: no Error, and no data is missing."""
        return self.verdict == "ok"

    @property
    def verdict(self) -> str:
        """The worst verdict of all files: `ok`, `incomplete` if data of a `.ptd` was not given, or `error`."""
        verdicts: list[str] = [file["verdict"] for file in self._files]
        return max(verdicts, key=("ok", "incomplete", "error").index, default="ok")

    @property
    def missing(self) -> list[str]:
        """The keys of data that the files need and that was not given: the first 100 of each file."""
        return [key for file in self._files if "missing" in file for key in file["missing"]["keys"]]

    @property
    def omitted(self) -> int:
        """The number of findings that were counted and not kept: the first 100 of each rule are."""
        counts: list[int] = [file["omitted"] for file in self._files]
        return sum(counts)

    def raise_for_errors(self) -> Report:
        """Returns the report if it has no Error.

        Raises:
            CheckError: It has one or more; `findings` of the exception are all of them.
        """
        if self:
            return self
        first = self.errors[0]
        count = len(self.errors)
        more = f" (and {count - 1} more)" if count > 1 else ""
        message = f"{first.message} in {first.data_file or first.file}{more}"
        error = CheckError(message, first.rule, first.offset, first.path, first.help)
        error.findings = tuple(self.errors)
        raise error

    def to_dict(self) -> dict[str, Any]:
        """Returns the document of `pte check --json`."""
        return {"schema": "pte.check/1", "files": self._files}

    def to_sarif(self) -> dict[str, Any]:
        """Returns the findings as SARIF 2.1.0, the format of code-scanning sites."""
        from ._ptekit import to_sarif

        return decoded(to_sarif(self._checked))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        return not self.errors

    def __repr__(self) -> str:
        files = f"{len(self._files)} file" + ("s" if len(self._files) != 1 else "")
        counts = f"{len(self.errors)} errors, {len(self.warnings)} warnings"
        return f"<ptekit.Report of {files}: {self.verdict}, {counts}>"

    def _repr_html_(self) -> str:
        from ._html import listing

        rows = (
            (f"{finding.severity}[{finding.rule}]", f"{finding.message} in {finding.file}")
            for finding in self.findings
        )
        return listing(rows, len(self), ("ok", "no findings"))


def check(
    files: Source | Opened | Iterable[Source | Opened],
    *,
    data: Iterable[Source | Opened] = (),
    runtime: str | None = None,
    policy: Mapping[str, str] | None = None,
    preset: str | None = None,
    scan: bool = False,
    trusted: bool = False,
    kernels: str | None = None,
    backends: Iterable[str] | None = None,
    require_data: bool = False,
    max_memory: int | None = None,
) -> Report:
    """Judges files: their structure, then every rule.

    An Error means that the official runtime refuses the file, crashes on it or reads wrong memory.

    Args:
        files: A path, an object with bytes, an opened file, or several of these.
        data: The `.ptd` files that the programs are used with.
        runtime: The release to judge for, such as `1.5`; what it cannot read is an Error.
        policy: Rules with `allow` (ignored) or `deny` (an Error); the rule `warnings` is all warnings.
        preset: A set of rules that are Errors: `untrusted-upload`, which searches all bytes too.
        scan: Whether to search segments and gaps for programs, archives, pickles and scripts. That reads
            whole files.
        trusted: Whether to use the larger limits for trusted files.
        kernels: The kernels that the runtime links: libraries (`portable,prim`), a package (`wheel`, `android`,
            `ios`), or the text of a list of operators. A call without a kernel is an Error.
        backends: The backends that the runtime links, by id or by package. A delegate of another one is an Error.
        require_data: Whether it is an Error that a program needs data of a `.ptd` that is not in `data`.
        max_memory: The most bytes that loading all methods of a program may allocate, by the figures in the file.

    Returns:
        The report. A file that is refused or cannot be read is in it, with an Error.

    Raises:
        PteError: A data file is refused.
        ValueError: The release, the preset, or a rule of the policy is unknown.
        OSError: A data file cannot be read.
    """
    from ._ptekit import Judge

    allow, deny = _policy(policy or {})
    handles = [of.handle if isinstance(of, Opened) else open_handle(of, trusted) for of in data]
    linked = None if backends is None else list(backends)
    judge = Judge(handles, (allow, deny), preset, runtime, scan, trusted, (kernels, linked), (require_data, max_memory))
    return Report([_checked(judge, of) for of in _several(files)])


def _checked(judge: Judge, of: Source | Opened) -> Checked:
    if isinstance(of, Opened):
        return judge.handle(of.handle)
    if isinstance(of, (str, os.PathLike)):
        path = os.fspath(of)
        return judge.path(path, shown_name(path))
    return judge.bytes(of if isinstance(of, bytes) else bytes(memoryview(of)), "<bytes>")


def _several(files: Source | Opened | Iterable[Source | Opened]) -> Iterable[Source | Opened]:
    if isinstance(files, (str, os.PathLike, Opened)):
        return [files]
    try:
        return [memoryview(files)]  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    except TypeError:
        return files  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


def _policy(policy: Mapping[str, str]) -> tuple[list[str], list[str]]:
    unknown = [action for action in policy.values() if action not in ("allow", "deny")]
    if unknown:
        raise ValueError(f"a rule is allowed or denied, not {unknown[0]!r}")
    allow = [rule for rule, action in policy.items() if action == "allow"]
    deny = [rule for rule, action in policy.items() if action == "deny"]
    return allow, deny
