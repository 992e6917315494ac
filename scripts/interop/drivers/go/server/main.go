// A small server on the Go SDK: server <transport> <port>
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type message struct {
	Message string `json:"message"`
}

type numbers struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

func text(format string, args ...any) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Repeats a message."},
		func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
			return text("Echo: %s", in.Message)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers."},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
			return text("The sum is %v", in.A+in.B)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "knock", Description: "Takes no arguments."},
		func(_ context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			return text("Who is there?")
		})
	get := func(*http.Request) *mcp.Server { return server }
	address := "127.0.0.1:" + os.Args[2]
	switch os.Args[1] {
	case "stdio":
		log.Fatal(server.Run(context.Background(), &mcp.StdioTransport{}))
	case "sse":
		http.Handle("/sse", mcp.NewSSEHandler(get, nil))
	default:
		http.Handle("/mcp", mcp.NewStreamableHTTPHandler(get, nil))
	}
	fmt.Fprintf(os.Stderr, "running on http://%s\n", address)
	log.Fatal(http.ListenAndServe(address, nil))
}
