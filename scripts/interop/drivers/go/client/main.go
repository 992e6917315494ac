// A client of the Go SDK. It leaves out the arguments of a tool that has none.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"sort"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type order struct {
	Transport string
	URL       string
	Command   []string
	Tasks     []struct {
		Tool string
		Args map[string]any
	}
}

func main() {
	var given order
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
	session, err := client.Connect(ctx, transportOf(given), nil)
	if err != nil {
		log.Fatal(err)
	}
	answers := []any{}
	for _, task := range given.Tasks {
		if task.Tool == "" {
			answers = append(answers, toolNames(ctx, session))
			continue
		}
		params := &mcp.CallToolParams{Name: task.Tool}
		if len(task.Args) > 0 {
			params.Arguments = task.Args
		}
		result, err := session.CallTool(ctx, params)
		if err != nil {
			log.Fatal(err)
		}
		text := ""
		for _, part := range result.Content {
			if found, ok := part.(*mcp.TextContent); ok {
				text += found.Text
			}
		}
		answers = append(answers, text)
	}
	session.Close()
	printed, _ := json.Marshal(answers)
	fmt.Println(string(printed))
}

func transportOf(given order) mcp.Transport {
	switch given.Transport {
	case "stdio":
		command := exec.Command(given.Command[0], given.Command[1:]...)
		command.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: command}
	case "sse":
		return &mcp.SSEClientTransport{Endpoint: given.URL}
	default:
		return &mcp.StreamableClientTransport{Endpoint: given.URL}
	}
}

func toolNames(ctx context.Context, session *mcp.ClientSession) []string {
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	sort.Strings(names)
	return names
}
