"""What Flask makes of a request."""

import logging

from flask import Flask, request
from reading import Reading, serve

application = Flask("reader")
application.logger.disabled = True
logging.disable(logging.CRITICAL)


@application.route("/", methods=["GET", "POST"])
def read():
    reading = Reading()
    kind = request.mimetype
    if kind == "application/json":
        reading.add_json(request.get_json())
    elif kind in ("text/xml", "application/xml"):
        reading.add_xml(request.get_data())
    else:
        reading.add_pairs(request.form.items(multi=True))
        for name, file in request.files.items(multi=True):
            reading.add("names", name)
            reading.add("fileNames", file.filename or "")
    reading.add_pairs(request.args.items(multi=True))
    reading.add_pairs(request.cookies.items(multi=True))
    return reading.text()


serve(application)
