// Signs in and lists sites, over gRPC with TLS; see go.sh.

package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	wafv1 "example.com/you/gen/waf/v1"
)

// Debian's gRPC is older than its protobuf: messages are packed here.
type codec struct{}

func (codec) Name() string                          { return "proto" }
func (codec) Marshal(v interface{}) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }
func (codec) Unmarshal(b []byte, v interface{}) error {
	return proto.Unmarshal(b, v.(proto.Message))
}

func main() {
	address, ca, password := os.Args[1], os.Args[2], os.Args[3]
	secure, err := credentials.NewClientTLSFromFile(ca, "")
	if err != nil {
		log.Fatal(err)
	}
	connection, err := grpc.Dial(address, grpc.WithTransportCredentials(secure),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{})))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	text, err := os.ReadFile(password)
	if err != nil {
		log.Fatal(err)
	}
	login, err := wafv1.NewAuthServiceClient(connection).Login(context.Background(),
		&wafv1.LoginRequest{Username: "admin", Password: strings.TrimSpace(string(text))})
	if err != nil {
		log.Fatal(err)
	}
	call := metadata.AppendToOutgoingContext(context.Background(),
		"authorization", "Bearer "+login.AccessToken)
	sites, err := wafv1.NewSiteServiceClient(connection).ListSites(call, &wafv1.ListSitesRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, site := range sites.Items {
		fmt.Println(site.Id, site.PrimaryHost)
	}
}
