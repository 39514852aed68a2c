package tools

import (
	"cmp"
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The protocol is spoken as of the last version with a handshake, which nearly
// every server knows; those that refuse it are asked in the newest one, which
// has none. (The other way round, a request that they do not know makes some
// older servers hang.)
const (
	handshake = "2025-11-25"
	newest    = "" // the library's
)

// open starts a server and asks for its tools. The connection is not nil where
// something was started, even if it failed.
func (s *server) open(ctx context.Context) (*connection, error) {
	env := newEnvironment(s.options.Environ())
	if s.entry.URL == "" {
		c, err := s.openProgram(ctx, env, handshake)
		if refuses(err) {
			c.link.stop()
			c, err = s.openProgram(ctx, env, newest)
		}
		return c, err
	}
	w, err := newWeb(s.entry, env, &s.secrets)
	if err != nil {
		return nil, err
	}
	streamable := func() mcp.Transport {
		return &mcp.StreamableClientTransport{Endpoint: w.address, HTTPClient: w.client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: longest}
	}
	c, err := s.greet(ctx, w, streamable(), handshake)
	if refuses(err) {
		c, err = s.greet(ctx, w, streamable(), newest)
	}
	if err != nil && ctx.Err() == nil && w.unknown() { // Transports, § Backwards Compatibility
		trouble := w.trouble()
		if c, err = s.greet(ctx, w, &mcp.SSEClientTransport{Endpoint: w.address, HTTPClient: w.client, MaxEventSize: longest}, handshake); err != nil {
			w.note(trouble)
		}
	}
	return c, err
}

func (s *server) openProgram(ctx context.Context, env environment, version string) (*connection, error) {
	p, err := start(s.entry, s.options.Dir, env, &s.secrets)
	if err != nil {
		return nil, err
	}
	return s.greet(ctx, p, p, version)
}

// refuses reports whether a server does not know the handshake or its version.
func refuses(err error) bool {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) {
		return false
	}
	switch answer.Code {
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidRequest, mcp.CodeUnsupportedProtocolVersion:
		return true
	}
	return false
}

// greet speaks with a server for the first time.
func (s *server) greet(ctx context.Context, l link, over mcp.Transport, version string) (*connection, error) {
	c := &connection{link: l}
	client := mcp.NewClient(
		&mcp.Implementation{Name: "amacs", Version: cmp.Or(s.options.Version, "0")},
		&mcp.ClientOptions{
			Capabilities:           &mcp.ClientCapabilities{}, // nothing that servers may ask for
			MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { c.changed.Store(true) },
		})
	// A connection outlives the context that opens it.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	session, err := client.Connect(life, over, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if !stop() || err != nil {
		end(nil)
		return c, cmp.Or(context.Cause(ctx), err)
	}
	c.session = session
	if w, ok := l.(*web); ok {
		w.hold(session, end)
	}
	c.tools, err = list(ctx, session)
	return c, err
}
