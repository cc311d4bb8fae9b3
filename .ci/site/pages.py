"""Adds the pages of the root, and makes plain text of links to files that are not pages."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
# Pages of the root, by their names on the site.
PAGES = {
    "index.md": "README.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
}
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")


def on_files(files, config):
    for page, source in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    source = PAGES.get(page.file.src_uri)
    # The path of the page in the repository, from which its links lead.
    path = ROOT / source if source else Path(config.docs_dir) / page.file.src_uri
    pages = {ROOT / name: page for page, name in PAGES.items()}

    def link(found):
        text, target, anchor = found[1], found[2], found[3] or ""
        if not target:
            return found[0]
        target = (path.parent / target).resolve()
        if not target.exists():
            return found[0]
        name = pages.get(target)
        if name is None and target.is_relative_to(config.docs_dir) and target.is_file():
            name = target.relative_to(config.docs_dir).as_posix()
        if name is None:
            return text
        up = "../" * page.file.src_uri.count("/")
        return f"[{text}]({up}{name}{anchor})"

    # Code is not text, and may look like a link.
    parts = re.split(r"(^```.*?^```|`[^`\n]*`(?!\]))", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else LINK.sub(link, part) for index, part in enumerate(parts))
