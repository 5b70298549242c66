"""What the Python readers share: requests come by line, readings leave by line."""

import base64
import io
import json
import sys
from xml.etree import ElementTree


def text_bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


class Reading:
    """Names, values and file names of one request, each in base64."""

    def __init__(self):
        self.lists = {"names": [], "values": [], "fileNames": []}

    def add(self, kind, text):
        self.lists[kind].append(base64.b64encode(text_bytes(text)).decode())

    def add_pairs(self, pairs):
        for name, value in pairs:
            self.add("names", name)
            self.add("values", value)

    def add_json(self, node):
        if isinstance(node, dict):
            for name, value in node.items():
                self.add("names", name)
                self.add_json(value)
        elif isinstance(node, list):
            for value in node:
                self.add_json(value)
        elif isinstance(node, str):
            self.add("values", node)

    def add_xml(self, body):
        for element in ElementTree.fromstring(body).iter():
            for text in (element.text, element.tail, *element.attrib.values()):
                if text:
                    self.add("values", text)

    def text(self):
        return json.dumps(self.lists)


def environ(case):
    body = base64.b64decode(case["body"])
    path, _, query = case["target"].partition("?")
    made = {
        "REQUEST_METHOD": case["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in case["headers"]:
        key = name.upper().replace("-", "_")
        made[key if key == "CONTENT_TYPE" else "HTTP_" + key] = value
    return made


def serve(application):
    """Answers each line of standard input with a line; an empty reading where it was refused."""
    for line in sys.stdin:
        status = []
        body = b"".join(application(environ(json.loads(line)), lambda text, _, *__: status.append(text)))
        taken = status[0].startswith("200")
        sys.stdout.write((body.decode() if taken else Reading().text()) + "\n")
        sys.stdout.flush()
