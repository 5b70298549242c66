// What Go's net/http makes of a request. Prints its port.
package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

type reading struct {
	Names     [][]byte `json:"names"`
	Values    [][]byte `json:"values"`
	FileNames [][]byte `json:"fileNames"`
}

func (r *reading) pair(name, value string) {
	r.Names = append(r.Names, []byte(name))
	r.Values = append(r.Values, []byte(value))
}

func (r *reading) json(node any) {
	switch node := node.(type) {
	case map[string]any:
		for name, value := range node {
			r.Names = append(r.Names, []byte(name))
			r.json(value)
		}
	case []any:
		for _, value := range node {
			r.json(value)
		}
	case string:
		r.Values = append(r.Values, []byte(node))
	}
}

func (r *reading) xml(body io.Reader) {
	decoder := xml.NewDecoder(body)
	found := reading{}
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			r.Values = append(r.Values, found.Values...)
			return
		}
		if err != nil {
			return
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, attribute := range token.Attr {
				// A declaration, which other readers do not count among the attributes.
				if attribute.Name.Space == "xmlns" || attribute.Name.Local == "xmlns" {
					continue
				}
				found.Values = append(found.Values, []byte(attribute.Value))
			}
		case xml.CharData:
			found.Values = append(found.Values, append([]byte{}, token...))
		}
	}
}

func read(w http.ResponseWriter, request *http.Request) {
	r := reading{Names: [][]byte{}, Values: [][]byte{}, FileNames: [][]byte{}}
	kind, _, _ := strings.Cut(request.Header.Get("Content-Type"), ";")
	switch {
	case strings.HasPrefix(kind, "application/json"):
		var node any
		if json.NewDecoder(request.Body).Decode(&node) == nil {
			r.json(node)
		}
	case strings.Contains(kind, "xml"):
		r.xml(request.Body)
	default:
		_ = request.ParseMultipartForm(1 << 20)
	}
	_ = request.ParseForm()
	for name, values := range request.Form {
		for _, value := range values {
			r.pair(name, value)
		}
	}
	if request.MultipartForm != nil {
		for name, files := range request.MultipartForm.File {
			r.Names = append(r.Names, []byte(name))
			for _, file := range files {
				r.FileNames = append(r.FileNames, []byte(file.Filename))
			}
		}
	}
	for _, cookie := range request.Cookies() {
		r.pair(cookie.Name, cookie.Value)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(r)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	log.SetOutput(io.Discard)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	_ = http.Serve(listener, http.HandlerFunc(read))
}
