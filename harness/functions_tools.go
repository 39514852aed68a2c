package harness

import (
	"context"
	"fmt"
	"strings"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/permit"
	"amacs/harness/tools"
)

func toolFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-list-tools", Args: "&optional SERVER", Doc: "The tools of an MCP server that the human configured, or the servers.",
			Min: 0, Max: 1, Waits: true, Call: m.listTools},
		{Name: "agent-tool-schema", Args: "SERVER TOOL", Doc: "What arguments a tool takes, as JSON schema.",
			Min: 2, Max: 2, Waits: true, Call: m.toolSchema},
		{Name: "agent-call-tool", Args: "SERVER TOOL &optional ALIST &key :why TEXT", Doc: "Call a tool: (agent-call-tool \"server\" \"tool\" '((arg . \"value\"))); asks.",
			Min: 2, Max: 3, Keys: []string{":why"}, Waits: true, Call: m.callTool},
	}
}

func (m *Mind) listTools(ctx context.Context, a eval.Args) (sexp.Value, error) {
	var out []sexp.Value
	if a.Len() == 0 {
		for _, s := range m.gate.Tools().Known() {
			out = append(out, &sexp.Cons{Car: s.Server, Cdr: s.About})
		}
		return sexp.List(out...), nil
	}
	server, err := a.String(0)
	if err != nil {
		return nil, err
	}
	all, err := m.gate.Tools().Tools(ctx, server)
	for _, t := range all {
		out = append(out, &sexp.Cons{Car: t.Name, Cdr: t.About})
	}
	m.heard("MCP server " + server)
	return sexp.List(out...), err
}

func (m *Mind) toolSchema(ctx context.Context, a eval.Args) (sexp.Value, error) {
	server, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tool, err := a.String(1)
	if err != nil {
		return nil, err
	}
	m.heard("MCP server " + server)
	return m.gate.Tools().Schema(ctx, server, tool)
}

func (m *Mind) callTool(ctx context.Context, a eval.Args) (sexp.Value, error) {
	server, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tool, err := a.String(1)
	if err != nil {
		return nil, err
	}
	args, err := object(a.Value(2))
	if err != nil {
		return nil, fmt.Errorf("the arguments of a tool are an alist, '((name . \"value\")): %w", err)
	}
	what := server + "/" + tool + " " + sexp.Print(a.Value(2))
	d := deal{summary: "call the tool " + what, call: form("agent-call-tool", a), dir: m.Cwd}
	if d.why, err = a.Text(":why"); err != nil {
		return nil, err
	}
	done, err := m.gate.pass(ctx, permit.Action{Op: permit.CallTool, Server: server, Tool: tool}, d)
	if err != nil {
		return nil, err
	}
	deed := home.Deed{Tick: m.Tick, At: m.gate.now(), What: "tool", Command: m.gate.Clean(what)}
	if err := m.gate.home.Record(context.WithoutCancel(ctx), deed, nil); err != nil {
		return nil, fmt.Errorf("writing down what is called, so it is not called: %w", err)
	}
	m.gate.runs++
	m.gate.show(Event{Running, server + "/" + tool})
	reply, err := m.gate.Tools().Call(ctx, server, tool, args)
	text := m.gate.Clean(reply.Text)
	if reply.Cut {
		text += "\n[...truncated...]"
	}
	for _, o := range reply.Other {
		text += "\n[" + o + " left out]"
	}
	if err == nil && reply.Failed {
		err = fmt.Errorf("the tool %s failed: %s", tool, text)
	}
	done(text, err)
	m.heard("tool " + server + "/" + tool)
	return text, err
}

// object is an alist as a JSON object.
func object(v sexp.Value) (map[string]any, error) {
	out := map[string]any{}
	list, err := sexp.Slice(v)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		pair, ok := e.(*sexp.Cons)
		if !ok {
			return nil, fmt.Errorf("%s is not (name . value)", sexp.Print(e))
		}
		name, ok := name(pair.Car)
		if !ok {
			return nil, fmt.Errorf("%s is not a name", sexp.Print(pair.Car))
		}
		if out[name], err = jsonValue(pair.Cdr); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func name(v sexp.Value) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case sexp.Symbol:
		return strings.TrimPrefix(string(x), ":"), x != sexp.Nil
	}
	return "", false
}

// jsonValue is what a value stands for: nil is what the tool's schema makes of
// nothing (false, an empty list, absent), a vector or a list is an array, a list
// of pairs an object.
func jsonValue(v sexp.Value) (any, error) {
	switch x := v.(type) {
	case string, int64, float64:
		return x, nil
	case sexp.Vector:
		return array(x)
	case sexp.Symbol:
		switch x {
		case sexp.Nil, ":null":
			return nil, nil
		case ":false":
			return false, nil
		case sexp.T, ":true":
			return true, nil
		}
		return string(x), nil
	case *sexp.Cons:
		if m, err := object(x); err == nil {
			return m, nil
		}
		list, err := sexp.Slice(x)
		if err != nil {
			return nil, fmt.Errorf("%s is neither a list nor an alist", sexp.Print(x))
		}
		return array(list)
	}
	return nil, fmt.Errorf("%s can not be sent to a tool", sexp.Print(v))
}

func array(list []sexp.Value) ([]any, error) {
	out := make([]any, len(list))
	for i, v := range list {
		var err error
		if out[i], err = jsonValue(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// toolsShown is how many tools of a server the prompt lists.
const toolsShown = 40

// toolText lists the tools that are known, for the prompt.
func toolText(known []tools.Brief) string {
	var b strings.Builder
	for _, s := range known {
		about := s.About
		if about == "" {
			about = "an MCP server"
		}
		fmt.Fprintf(&b, "%s: %s\n", s.Server, about)
		for i, t := range s.Tools {
			if i == toolsShown {
				fmt.Fprintf(&b, "  (and %d more: (agent-list-tools %q))\n", len(s.Tools)-i, s.Server)
				break
			}
			fmt.Fprintf(&b, "  %s  %s\n", t.Name, t.About)
		}
		if len(s.Tools) == 0 {
			fmt.Fprintf(&b, "  (not started yet: (agent-list-tools %q))\n", s.Server)
		}
	}
	return b.String()
}
