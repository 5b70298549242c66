"""Signs in and lists sites, over gRPC with TLS; see python.sh."""

import sys
import grpc
from waf.v1 import auth_pb2, auth_pb2_grpc, site_pb2, site_pb2_grpc

address, ca, password = sys.argv[1:]
secure = grpc.ssl_channel_credentials(open(ca, "rb").read())
with grpc.secure_channel(address, secure) as channel:
    given = auth_pb2.LoginRequest(username="admin", password=open(password).read().strip())
    token = auth_pb2_grpc.AuthServiceStub(channel).Login(given).access_token
    sites = site_pb2_grpc.SiteServiceStub(channel)
    answer = sites.ListSites(site_pb2.ListSitesRequest(), metadata=[("authorization", "Bearer " + token)])
    for site in answer.items:
        print(site.id, site.primary_host)
