"""The configurations in the guide, with the addresses of this run."""

import pathlib
import re

GUIDE = pathlib.Path(__file__).parents[2] / "docs/guide"
PAGES = ["database-cluster.md", "many-nodes.md"]


def blocks(language):
    """The fenced blocks of a language, in order."""
    lines, found = None, []
    for line in "".join((GUIDE / page).read_text() for page in PAGES).splitlines():
        bare = line.strip()
        if lines is None and bare == f"```{language}":
            lines = []
        elif lines is not None and bare == "```":
            found.append("\n".join(lines) + "\n")
            lines = None
        elif lines is not None:
            lines.append(line)
    return found


def block(language, part):
    """The one block of a language with `part` in it."""
    [found] = [each for each in blocks(language) if part in each]
    return found


def haproxy(part, bind, servers):
    """The configuration of a proxy with other addresses: `servers` are lines without `server`."""
    kept = []
    for line in block("haproxy", part).splitlines():
        if line.strip().startswith("bind "):
            line = f"    bind 127.0.0.1:{bind}"
        if not line.strip().startswith("server "):
            kept.append(line)
    lines = [f"    server {server}" for server in servers]
    return "global\n    maxconn 2000\n\n" + "\n".join([*kept, *lines]) + "\n"


def sql(part, passwords):
    """The statements of a block, with passwords in place of `…`, in order."""
    statements = block("sql", part)
    for password in passwords:
        statements = statements.replace("…", password, 1)
    return [each.strip() for each in statements.split(";") if each.strip()]


def ini(part, values):
    """The lines of a block with other values: of `name = value`, what `values` has for the name."""
    def line(text):
        name = re.split(r"\s*=", text, maxsplit=1)[0]
        return f"{name} = {values[name]}" if name in values else text
    return "\n".join(line(text) for text in block("ini", part).splitlines()) + "\n"
