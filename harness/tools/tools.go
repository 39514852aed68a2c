// Package tools calls the tools of MCP servers: programs on this machine that
// speak over stdin and stdout, and servers that speak over HTTP. They are
// entries of config.yaml:
//
//	mcp-servers:
//	  - name: files
//	    command: [npx, -y, "@modelcontextprotocol/server-filesystem", .]
//	    about: reads and writes files of the project
//	  - name: tracker
//	    url: https://tracker.example/mcp
//	    headers: {Authorization: Bearer $TRACKER_TOKEN}
//	    timeout: 20
//
// A [Set] holds them all and starts none until it is asked for a tool's schema
// or to call one. A connection is kept and used again until [Set.Close]. What
// servers said of their tools is remembered in one small file each, so that the
// agent can be told of them without starting anything:
//
//	{"entry":"9f2c…","about":"…","tools":[{"name":"read_file","about":"Read a file"}]}
//
// Arguments are fitted to the tool's input schema before they are sent: "5"
// becomes 5 where a number is wanted. Servers may ask things back (sampling,
// elicitation, roots); they are told that nobody here does that. Whatever a
// server says is foreign text. Begin reading at [Set.Call].
package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"amacs/harness/nearest"
)

const (
	startTime = 20 * time.Second // for a server to start and list its tools
	callTime  = 60 * time.Second // for a call, where the entry says nothing
	closeTime = 3 * time.Second  // for all of them to end
)

// Options of a [Set].
type Options struct {
	Dir     string          // where programs run, unless their entry says otherwise; "" = the working folder
	Environ func() []string // nil = os.Environ
	Cache   string          // folder for what is known of servers; "" = forget it
	Version string          // of this program, told to servers
}

// Brief is what is known of a server without asking it.
type Brief struct {
	Server string
	About  string // one line: the entry's, else the server's own
	Tools  []Tool // sorted by name; none before the first contact
	Fresh  bool   // the list is of this run, and not of an earlier one
}

// Tool is a tool in one line.
type Tool struct {
	Name  string `json:"name"`
	About string `json:"about"` // at most 100 characters
}

// Set is all servers that are configured. Its methods may be called from
// several goroutines; calls to one server happen one after the other.
type Set struct {
	servers map[string]*server
	names   []string // sorted
	life    context.Context
	end     context.CancelCauseFunc
}

var errClosed = errors.New("amacs is ending")

// New returns a set of servers, of which [Check] said that they are well.
func New(servers []Server, o Options) *Set {
	if o.Environ == nil {
		o.Environ = os.Environ
	}
	s := &Set{servers: map[string]*server{}}
	s.life, s.end = context.WithCancelCause(context.Background())
	for _, entry := range servers {
		s.servers[entry.Name] = &server{
			entry: entry, options: o, life: s.life, startTime: startTime, callTime: entry.timeout(),
			turn: make(chan struct{}, 1), ended: closed(),
		}
		s.names = append(s.names, entry.Name)
	}
	slices.Sort(s.names)
	return s
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Known tells what is known of the servers, sorted by name. It starts nothing.
func (s *Set) Known() []Brief {
	var known []Brief
	for _, name := range s.names {
		known = append(known, s.servers[name].brief())
	}
	return known
}

// Tools lists the tools of a server, sorted by name.
func (s *Set) Tools(ctx context.Context, server string) ([]Tool, error) {
	sv, err := s.find(server)
	if err != nil {
		return nil, err
	}
	var list []Tool
	err = sv.with(ctx, func(_ context.Context, c *connection) error {
		list = brief(c.tools)
		return nil
	})
	return list, err
}

// Schema tells a tool's description and input schema, as indented JSON of at
// most 8 KB.
func (s *Set) Schema(ctx context.Context, server, tool string) (string, error) {
	sv, err := s.find(server)
	if err != nil {
		return "", err
	}
	var text string
	err = sv.with(ctx, func(ctx context.Context, c *connection) error {
		t, err := sv.tool(ctx, c, tool)
		if err == nil {
			text, err = describe(t)
		}
		return err
	})
	return text, err
}

// Call calls a tool. An error means that the tool gave no answer: it does not
// exist, the arguments do not fit (nothing was sent), or the server failed.
// That the tool itself failed is a [Reply].
//
// args may hold what JSON has, and any kind of number. A server that has ended
// since the last call is started again; a call that was sent is never sent twice.
func (s *Set) Call(ctx context.Context, server, tool string, args map[string]any) (Reply, error) {
	sv, err := s.find(server)
	if err != nil {
		return Reply{}, err
	}
	var reply Reply
	err = sv.with(ctx, func(ctx context.Context, c *connection) error {
		t, err := sv.tool(ctx, c, tool)
		if err != nil {
			return err
		}
		fitted, err := fitArguments(t, args)
		if err != nil {
			return &refusal{fmt.Errorf("%s: %w", tool, err)}
		}
		result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: fitted})
		if err != nil {
			return err
		}
		reply, err = replyOf(result, sv.secrets.hide)
		return err
	})
	return reply, err
}

// Close ends every connection and every program with its whole process group,
// within three seconds. Calls under way fail.
func (s *Set) Close() error {
	s.end(errClosed)
	var all sync.WaitGroup
	for _, sv := range s.servers {
		all.Go(sv.close)
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-time.After(closeTime):
		return fmt.Errorf("MCP servers: not all of them ended within %s", closeTime)
	}
}

func (s *Set) find(name string) (*server, error) {
	if sv, ok := s.servers[name]; ok {
		return sv, nil
	}
	if len(s.names) == 0 {
		return nil, fmt.Errorf("no MCP server %q: none is configured; mcp-servers in config.yaml lists them", name)
	}
	return nil, fmt.Errorf("no MCP server %q%s; there are: %s", name, meant(name, s.names), strings.Join(s.names, ", "))
}

// meant is " (did you mean x?)", or nothing.
func meant(word string, from []string) string {
	near := nearest.Names(word, from, 3)
	if len(near) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(near, " or ") + "?)"
}

// refusal is a wrong request: nothing was sent, and the connection is well.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// brief tells tools in a line each, sorted by name.
func brief(tools []*mcp.Tool) []Tool {
	list := make([]Tool, 0, len(tools))
	for _, t := range tools {
		list = append(list, Tool{Name: t.Name, About: oneLine(cmp.Or(t.Description, t.Title), 100)})
	}
	slices.SortFunc(list, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return list
}
