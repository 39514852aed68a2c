package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is an entry, and the connection to it while there is one.
type server struct {
	entry     Server
	options   Options
	life      context.Context // ends with the set
	startTime time.Duration   // for it to start and list its tools
	callTime  time.Duration
	secrets   secrets

	turn  chan struct{} // full while somebody uses what follows
	conn  *connection   // nil = none
	ended chan struct{} // closed when the connection before has ended

	mu   sync.Mutex
	said *remembered // in this run; nil = nothing yet
}

// connection is one contact with a server.
type connection struct {
	session  *mcp.ClientSession
	link     link
	tools    []*mcp.Tool
	changed  atomic.Bool // the server said that its tools are others now
	doubtful bool        // the last call had no answer in time
}

// link is what carries a connection: a program or HTTP.
type link interface {
	alive() bool
	trouble() string // what went wrong, where the carrier knows
	said() string    // what it said beside the protocol: a hint
	stop()           // ends it, and returns when it has ended
}

// with runs f with a connection, which it opens where there is none.
func (s *server) with(ctx context.Context, f func(context.Context, *connection) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(context.Cause(s.life)) })()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return s.explain(ctx, nil, context.Cause(ctx))
	}
	if s.life.Err() != nil { // close may have been here before us
		return s.explain(ctx, nil, context.Cause(s.life))
	}
	for again := false; ; again = true {
		c, err := s.ensure(ctx)
		if err != nil {
			return s.explain(ctx, c, err)
		}
		calling, stop := context.WithTimeoutCause(ctx, s.callTime, errSlow)
		err = f(calling, c)
		cause := context.Cause(calling)
		stop()
		var refused *refusal
		var answer *jsonrpc.Error
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused):
			return fmt.Errorf("MCP server %s: %w", s.entry.Name, refused.error)
		case cause != nil: // it may be slow, or hang
			c.doubtful = true
			err = cause
		case errors.As(err, &answer) && c.link.alive():
		case errors.Is(err, mcp.ErrSessionMissing) && !again: // it did not take the call
			s.drop()
			continue
		default:
			err = s.explain(ctx, c, err) // before it is ended by us
			if !passing(c.link) {
				s.drop()
			}
			return err
		}
		return s.explain(ctx, c, err)
	}
}

var (
	errSlow  = errors.New("no answer in time")
	errStart = errors.New("not ready in time")
)

// passing reports whether the trouble is one of the moment.
func passing(l link) bool {
	w, ok := l.(*web)
	return ok && w.passing()
}

// ensure is the connection, opened where there is none or it has died.
func (s *server) ensure(ctx context.Context) (*connection, error) {
	if c := s.conn; c != nil {
		if c.doubtful && c.link.alive() {
			ping, cancel := context.WithTimeout(ctx, min(5*time.Second, s.callTime))
			err := c.session.Ping(ping, nil)
			cancel()
			if ctx.Err() != nil {
				return c, context.Cause(ctx)
			}
			c.doubtful = err != nil
		}
		if !c.doubtful && c.link.alive() {
			return c, nil
		}
		s.drop()
	}
	select {
	case <-s.ended:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	starting, cancel := context.WithTimeoutCause(ctx, s.startTime, errStart)
	defer cancel()
	c, err := s.open(starting)
	if err != nil {
		if starting.Err() != nil {
			err = context.Cause(starting)
		}
		err = s.explain(ctx, c, err) // before it is ended by us
		if c != nil {
			s.conn = c
			s.drop()
		}
		return nil, err
	}
	s.conn = c
	s.remember(c)
	return c, nil
}

// drop ends the connection; ended tells when that is done.
func (s *server) drop() {
	c, ended := s.conn, make(chan struct{})
	s.conn, s.ended = nil, ended
	go func() {
		defer close(ended)
		c.link.stop()
	}()
}

func (s *server) close() {
	s.turn <- struct{}{} // the set has ended: whoever has it lets go
	defer func() { <-s.turn }()
	if s.conn != nil {
		s.drop()
	}
	<-s.ended
}

// tool finds a tool by its name, and asks for the list again if it is not there.
func (s *server) tool(ctx context.Context, c *connection, name string) (*mcp.Tool, error) {
	find := func() *mcp.Tool {
		i := slices.IndexFunc(c.tools, func(t *mcp.Tool) bool { return t.Name == name })
		if i < 0 {
			return nil
		}
		return c.tools[i]
	}
	t := find()
	if c.changed.Swap(false) || t == nil {
		tools, err := list(ctx, c.session)
		if err != nil {
			return nil, err
		}
		c.tools = tools
		s.remember(c)
		t = find()
	}
	if t != nil {
		return t, nil
	}
	var names []string
	for _, t := range c.tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, &refusal{errors.New("it offers no tools")}
	}
	const most = 60
	there := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		there += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return nil, &refusal{fmt.Errorf("no tool %q%s; there are: %s", oneLine(name, 100), meant(name, names), there)}
}

// list asks for all tools. Those whose name can not be written in one word are
// left out.
func list(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	const most, pages = 1000, 100
	hello := session.InitializeResult()
	if hello == nil || hello.Capabilities == nil || hello.Capabilities.Tools == nil {
		return nil, nil
	}
	var tools []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for range pages {
		page, err := session.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if plainName(t.Name) {
				tools = append(tools, t)
			}
		}
		if page.NextCursor == "" || len(tools) >= most {
			break
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return tools[:min(most, len(tools))], nil
}

// plainName reports whether a name can stand in a text without being taken for
// something else.
func plainName(name string) bool {
	odd := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsGraphic(r) || unicode.IsSpace(r) || strings.ContainsRune("\"'`<>\\,;()", r)
	}
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, odd)
}

// told is an error that says all there is to say.
type told struct {
	text string
	err  error
}

func (t *told) Error() string { return t.text }
func (t *told) Unwrap() error { return t.err }

// wrapping is how the library says what it was at.
var wrapping = regexp.MustCompile(`(calling|sending) "[^"]*": `)

// explain makes an error that says what happened and what to do. c may be nil.
func (s *server) explain(ctx context.Context, c *connection, err error) error {
	var before *told
	if errors.As(err, &before) {
		return err
	}
	var trouble, said string
	if c != nil {
		trouble, said = c.link.trouble(), c.link.said()
	}
	var answer *jsonrpc.Error
	why := ""
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
		why, said = "broken off: "+err.Error(), ""
	case trouble != "":
		why = trouble
	case errors.Is(err, errSlow):
		why = fmt.Sprintf("no answer within %s; `timeout` of its entry in config.yaml says how long a call may take", s.callTime)
	case errors.Is(err, errStart):
		why = fmt.Sprintf("not ready within %s of its start", s.startTime)
		if len(s.entry.Command) > 0 {
			why += "; run it once by hand: the first start of some programs fetches what they need"
		}
	case errors.As(err, &answer):
		why, said = fmt.Sprintf("it refuses: %s (%d)", cmp.Or(strings.TrimSpace(answer.Message), "no reason given"), answer.Code), ""
	default:
		why = wrapping.ReplaceAllString(err.Error(), "")
	}
	why = oneLine(s.secrets.hide(why), 600)
	if said = s.secrets.hide(said); said != "" {
		why += "; it said: " + lastLines(said)
	}
	return &told{fmt.Sprintf("MCP server %s: %s", s.entry.Name, why), err}
}
