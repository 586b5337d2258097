"""Feeds as bytes: the same records as JSON, NDJSON, XML or CSV, in an encoding, with and without what a map does not name."""

import json

from oracle import Number

def spell_json(value):
    if isinstance(value, dict):
        return "{" + ", ".join(json.dumps(name) + ": " + spell_json(one) for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spell_json, value)) + "]"
    if isinstance(value, Number):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def spell_xml(name, value):
    if isinstance(value, list):
        return "".join(spell_xml(name, one) for one in value)
    if value is None:
        return f'<{name} xsi:nil="true"/>'
    if isinstance(value, dict):
        return f"<{name}>" + "".join(spell_xml(*one) for one in value.items()) + f"</{name}>"
    text = str(value).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<{name}>{text}</{name}>"


def spell_csv(value):
    return "" if value is None else '"' + str(value).replace('"', '""') + '"'


def spell(form, records):
    if form == "json":
        return "[" + ",\n".join(map(spell_json, records)) + "]\n"
    if form == "ndjson":
        return "".join(spell_json(one) + "\n" for one in records)
    if form == "xml":
        body = "\n".join(spell_xml("record", one) for one in records)
        return f'<records xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n{body}\n</records>\n'
    columns = list(dict.fromkeys(name for one in records for name in one))
    lines = [",".join(columns)] + [",".join(spell_csv(one.get(name)) for name in columns) for one in records]
    return "\n".join(lines) + "\n"


MARKED = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]
# What a document calls its encoding, and Python calls it.
DECLARED = {
    "UTF-8": "utf-8", "UTF-16": "utf-16", "ISO-8859-1": "latin-1", "iso-8859-15": "iso-8859-15", "windows-1252": "cp1252", "windows-1251": "cp1251", "KOI8-R": "koi8-r",
    "GB18030": "gb18030", "EUC-JP": "euc-jp", "Big5": "big5", "IBM037": "cp037", "US-ASCII": "ascii", "UTF-32": "utf-32", "MACINTOSH": "mac-roman",
}


def dress(chance, form):
    """Another spelling of the same records: an encoding, and whether there are things that the map does not name."""
    encoding = chance.choice({"xml": list(DECLARED), "csv": ["utf-8", "utf-8-sig", "utf-16"]}.get(form, MARKED))
    return (encoding, chance.random() < 0.5)


def dressed(form, records, encoding="utf-8", has_more=False):
    """A feed as bytes."""
    text = spell(form, records)
    if form == "xml":
        if has_more:
            # Names are those of a namespace, and these are of another one, whatever their prefix is.
            for number, name in enumerate(("k", "a0", "one", "gone")):
                strange = f'<z{number}:{name} xmlns:z{number}="urn:other" xmlns:y="urn:unused" y:nil="true">no</z{number}:{name}>'
                text = text.replace("<record>", f"<record>{strange}<!-- c --><?p i?>")
        python = DECLARED.get(encoding, encoding)
        return f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(python, "xmlcharrefreplace")
    if form in ("json", "ndjson") and has_more:
        more = '"z": [[{"k": 1, "a0": {"k": null}}], "\\u0000\\ud83d\\ude00", 1e400, {}], "K": true, "a0 ": "x", "\\u006b2": 0'
        text = "".join(line.replace("{", "{" + more + ", ", 1) if line.startswith(("{\"", "[{\"")) else line for line in text.splitlines(keepends=True))
    if form == "csv" and has_more:
        text = text.replace("\n", "\r\n")
    return text.encode(encoding)
