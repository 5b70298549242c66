"""Flask and Django on the servers that come with them, by the first argument. Prints the port."""

import logging
import sys

logging.disable(logging.CRITICAL)


def flask_server():
    from flask import Flask
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *_arguments):
            pass

    application = Flask("paths")

    @application.route("/api/login")
    def guarded():
        return "guarded"

    @application.errorhandler(404)
    def other(_error):
        return "other"

    return make_server("127.0.0.1", 0, application, request_handler=Quiet)


def django_server():
    import django
    from django.conf import settings
    from django.core.servers.basehttp import WSGIRequestHandler, WSGIServer
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import path

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_arguments):
            pass

    settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="paths")
    django.setup()
    urls = [path("api/login", lambda _request: HttpResponse("guarded"))]
    globals()["urlpatterns"] = urls
    server = WSGIServer(("127.0.0.1", 0), Quiet)
    server.set_app(get_wsgi_application())
    return server


server = flask_server() if sys.argv[1] == "flask" else django_server()
print(server.server_address[1], flush=True)
server.serve_forever()
