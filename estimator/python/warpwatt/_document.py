"""What the command tells as JSON and as text."""

import json


class Document:
    """Keys of `document` are attributes; print it for the text."""

    _noun = "a document"

    def __init__(self, document, text):
        self.document = json.loads(document)
        self._text = text

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.document:
            raise AttributeError(f"{self._noun} has no `{name}`: {', '.join(self.document)}")
        return self.document[name]

    def __str__(self):
        return self._text.rstrip("\n")
