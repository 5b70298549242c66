"""What Django makes of a request."""

import json
import logging

import django
from django.conf import settings
from django.http import HttpResponse
from django.urls import path
from reading import Reading, serve

logging.disable(logging.CRITICAL)


def read(request):
    reading = Reading()
    kind = request.content_type
    if kind == "application/json":
        reading.add_json(json.loads(request.body))
    elif kind in ("text/xml", "application/xml"):
        reading.add_xml(request.body)
    else:
        for name, values in request.POST.lists():
            reading.add_pairs((name, value) for value in values)
        for name, files in request.FILES.lists():
            for file in files:
                reading.add("names", name)
                reading.add("fileNames", file.name or "")
    for name, values in request.GET.lists():
        reading.add_pairs((name, value) for value in values)
    reading.add_pairs(request.COOKIES.items())
    return HttpResponse(reading.text())


urlpatterns = [path("", read)]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="bed", USE_TZ=False)
django.setup()

from django.core.handlers.wsgi import WSGIHandler  # noqa: E402  (settings come first)

serve(WSGIHandler())
