package tools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary plays the servers: with MCP_TEST_PART set it is one.
func TestMain(m *testing.M) {
	if part := os.Getenv("MCP_TEST_PART"); part != "" {
		play(part)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// entry is a server that plays a part.
func entry(t testing.TB, part string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "it", Command: []string{self}, Env: map[string]string{
		"MCP_TEST_PART": part, "GORACE": "atexit_sleep_ms=10",
	}}
}

// open is a set of one server, closed at the end of the test.
func open(t testing.TB, e Server, change ...func(*Options)) *Set {
	t.Helper()
	if err := Check([]Server{e}); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), Version: "1.2.3", Environ: func() []string {
		return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nowhere", "LC_ALL=C", "SOME_API_KEY=abcdefgh12345678", "EDITOR=ed"}
	}}
	for _, c := range change {
		c(&o)
	}
	s := New([]Server{e}, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func play(part string) {
	switch part {
	case "good":
		good()
	case "banner":
		fmt.Println("Welcome to the best server")
		fmt.Println(`{"level":"info","msg":"this is no message"}`)
		good()
	case "newest": // knows no handshake
		raw(func(method string, id json.RawMessage, _ json.RawMessage) {
			switch method {
			case "server/discover":
				answer(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"new","version":"1"}}`)
			case "tools/list":
				answer(id, `{"resultType":"complete","tools":[{"name":"hello","inputSchema":{"type":"object"}}]}`)
			case "tools/call":
				answer(id, `{"resultType":"complete","content":[{"type":"text","text":"new hello"}]}`)
			default:
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", id)
			}
		})
	case "host": // uses a server, and says which processes there are now
		self, _ := os.Executable()
		s := New([]Server{{Name: "it", Command: []string{self}, Env: map[string]string{"MCP_TEST_PART": "good"}}}, Options{})
		for _, tool := range []string{"pid", "family"} {
			r, err := s.Call(context.Background(), "it", tool, nil)
			if err != nil {
				fmt.Println(err)
			}
			fmt.Print(r.Text, " ")
		}
		fmt.Println()
		select {}
	case "asks": // whatever a server may ask, and tells what it was answered
		asked := []string{"sampling/createMessage", "elicitation/create", "roots/list", "ping", "no/such"}
		var call json.RawMessage
		var got []string
		raw(func(method string, id, params json.RawMessage) {
			switch method {
			case "initialize":
				got = append(got, string(params))
				answer(id, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`)
			case "tools/list":
				answer(id, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
			case "tools/call":
				call = id
				for i, what := range asked {
					fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"noise"}}` + "\n")
					fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}` + "\n")
					fmt.Printf(`{"jsonrpc":"2.0","id":"q%d","method":%q,"params":{"messages":[],"maxTokens":9,"message":"your password?","requestedSchema":{"type":"object","properties":{}}}}`+"\n", i, what)
				}
			case "":
				if got = append(got, string(params)); len(got) == 1+len(asked) {
					b, _ := json.Marshal(strings.Join(got, ""))
					answer(call, `{"content":[{"type":"text","text":`+string(b)+`}]}`)
				}
			}
		})
	case "exits":
		fmt.Fprintln(os.Stderr, "reading the settings\n\x1b[31mno database here\x1b[0m")
		os.Exit(7)
	case "silent":
		io.Copy(io.Discard, os.Stdin)
	case "deaf": // ends neither with its input nor when it is asked to
		cmd := exec.Command("/bin/sh", "-c", "trap '' TERM HUP INT; echo ready >&2; while :; do sleep 0.05; done")
		cmd.Stderr = os.Stderr
		cmd.Run()
	case "garbage":
		for {
			if _, err := fmt.Println("some output, again and again, and none of it is a message"); err != nil {
				return
			}
		}
	case "flood", "dies", "hangs", "late", "wrong", "null", "blob", "closes", "ring":
		misbehave(part)
	}
}

// good is a server as it should be.
func good() {
	server := goodServer("")
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

type none struct{}

type sum struct {
	A int  `json:"a"`
	B int  `json:"b,omitempty"`
	X bool `json:"x,omitempty"`
}

func text(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func goodServer(token string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "good", Title: "The good one", Version: "1"}, nil)
	add := func(name, about string, f func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: about}, func(ctx context.Context, r *mcp.CallToolRequest, _ none) (*mcp.CallToolResult, any, error) {
			res, err := f(ctx, r.Session)
			return res, nil, err
		})
	}
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Adds\n two   numbers " + strings.Repeat("and more ", 30)},
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, any, error) {
			return text("%d %v", in.A+in.B, in.X), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "structured"},
		func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, sum, error) {
			return nil, sum{A: 1}, nil
		})
	add("pid", "Its process", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return text("%d", os.Getpid()), nil
	})
	add("family", "Starts a child", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; echo $$; while :; do sleep 0.05; done")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, err
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		return text("%s", strings.TrimSpace(line)), err
	})
	add("env", "Its environment", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return text("%s", strings.Join(os.Environ(), "\n")), nil
	})
	add("folder", "Where it runs", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		dir, err := os.Getwd()
		return text("%s", dir), err
	})
	add("echo-token", "What it got", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return text("token %s", token), nil
	})
	add("fail", "Fails", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("the disk is full")
	})
	add("big", "Much text", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return text("x%s", strings.Repeat("é", 100<<10)), nil
	})
	add("mixed", "All kinds", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "one"},
			&mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 3<<10)},
			&mcp.AudioContent{MIMEType: "audio/wav", Data: make([]byte, 10)},
			&mcp.ResourceLink{Name: "notes", URI: "file:///notes.txt"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", Text: "inside"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.bin", MIMEType: "application/zip", Blob: make([]byte, 5)}},
		}}, nil
	})
	add("block", "Waits for the end", func(ctx context.Context, _ *mcp.ServerSession) (*mcp.CallToolResult, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // a server without sessions is never told
		}
		return text("too late"), nil
	})
	add("crash", "Ends", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of luck with abcdefgh12345678")
		os.Exit(3)
		return nil, nil
	})
	add("grow", "Adds a tool", func(context.Context, *mcp.ServerSession) (*mcp.CallToolResult, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "grown"}, func(context.Context, *mcp.CallToolRequest, none) (*mcp.CallToolResult, any, error) {
			return text("here I am"), nil, nil
		})
		return text("grew"), nil
	})
	return s
}

// raw answers requests by hand. Answers to its own come without a method, whole.
func raw(on func(method string, id, params json.RawMessage)) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			Method string
			ID     json.RawMessage
			Params json.RawMessage
		}
		switch {
		case json.Unmarshal(line, &m) != nil || m.ID == nil:
		case m.Method == "": // an answer
			on("", m.ID, line)
		default:
			on(m.Method, m.ID, m.Params)
		}
	}
}

func answer(id json.RawMessage, result string) {
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
}

// misbehave is fine until a tool is called.
func misbehave(part string) {
	calls := 0
	raw(func(method string, id, _ json.RawMessage) {
		switch {
		case method == "initialize":
			answer(id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)
		case method == "tools/list" && part == "ring":
			answer(id, `{"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"two words","inputSchema":{}}],"nextCursor":"again"}`)
		case method == "tools/list":
			answer(id, `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
		case method == "ping":
			answer(id, `{}`)
		case part == "flood":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
			for range 100 {
				if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<20)); err != nil {
					return
				}
			}
			fmt.Println(`"}]}}`)
		case part == "dies":
			fmt.Fprintln(os.Stderr, "I can not go on")
			os.Exit(9)
		case part == "closes":
			os.Stdout.Close()
			time.Sleep(time.Minute)
		case part == "hangs":
			select {}
		case part == "late": // the first answer comes after the second question
			if calls++; calls == 1 {
				return
			}
			answer(json.RawMessage("3"), `{"content":[{"type":"text","text":"the first"}]}`)
			answer(id, `{"content":[{"type":"text","text":"the second"}]}`)
		case part == "wrong":
			answer(id, `{"content":"no list"}`)
		case part == "null":
			answer(id, `null`)
		case part == "blob":
			answer(id, `{"content":[{"type":"resource","resource":{"uri":"x:y"}},{"type":"hologram"}]}`)
		}
	})
}
