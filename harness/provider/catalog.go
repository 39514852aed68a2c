package provider

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
)

// Listed is a model that a server offers.
type Listed struct {
	Name   string // as `model:` takes it
	Window int    // tokens it can read; 0 = not said
	Note   string // what else the server says: "Claude Sonnet 5.5", "8.2B Q4_K_M"
}

// lister is a model's server as a list.
type lister interface {
	list(context.Context) ([]Listed, error)
}

// Models asks a provider's server for its models, in the server's order. The
// built-in models and the agent CLIs have no list: none, and no error.
func Models(ctx context.Context, o Options) ([]Listed, error) {
	if o.Provider == "script" || o.Provider == "agent" {
		return nil, nil
	}
	m, err := Open(o)
	if err != nil {
		return nil, err
	}
	if l, ok := m.(lister); ok {
		return l.list(ctx)
	}
	return nil, nil
}

const listing = "listing the models"

func (m *anthropic) list(ctx context.Context) (out []Listed, err error) {
	for path := "/v1/models?limit=1000"; path != ""; {
		var page struct {
			Data []struct {
				ID        string
				Name      string `json:"display_name"`
				Window    int    `json:"max_input_tokens"`
				Lifecycle string
			}
			More bool   `json:"has_more"`
			Last string `json:"last_id"`
		}
		if _, err := m.get(ctx, listing, path, nil, &page); err != nil {
			return nil, err
		}
		for _, d := range page.Data {
			if d.Lifecycle != "" && d.Lifecycle != "active" {
				d.Name += ", " + d.Lifecycle
			}
			out = append(out, Listed{d.ID, d.Window, d.Name})
		}
		path = ""
		if page.More && page.Last != "" && len(page.Data) > 0 {
			path = "/v1/models?limit=1000&after_id=" + url.QueryEscape(page.Last)
		}
		if len(out) > 10_000 {
			return nil, &Error{Provider: m.provider, Op: listing, Err: fmt.Errorf("%s does not come to an end", m.server.Host())}
		}
	}
	return out, nil
}

func (m *openai) list(ctx context.Context) (out []Listed, err error) {
	var all struct {
		Data []struct {
			ID   string
			Name string // OpenRouter's
			// How many tokens it can read: OpenRouter, vLLM, LM Studio, llama.cpp.
			Context int `json:"context_length"`
			Length  int `json:"max_model_len"`
			Loaded  int `json:"max_context_length"`
			Meta    struct {
				Window int `json:"n_ctx"`
			}
		}
	}
	if _, err := m.get(ctx, listing, "/models", nil, &all); err != nil {
		return nil, err
	}
	for _, d := range all.Data {
		out = append(out, Listed{d.ID, cmp.Or(d.Context, d.Length, d.Loaded, d.Meta.Window, openaiWindow(d.ID)), d.Name})
	}
	return out, nil
}

func (m *ollama) list(ctx context.Context) (out []Listed, err error) {
	var all struct {
		Models []struct {
			Name    string
			Remote  string `json:"remote_host"`
			Details struct {
				Parameters   string `json:"parameter_size"`
				Quantization string `json:"quantization_level"`
			}
		}
	}
	if _, err := m.get(ctx, listing, "/api/tags", nil, &all); err != nil {
		return nil, err
	}
	for _, d := range all.Models {
		note := strings.TrimSpace(d.Details.Parameters + " " + d.Details.Quantization)
		if d.Remote != "" {
			note = strings.TrimSpace(note + " runs at " + d.Remote)
		}
		out = append(out, Listed{Name: d.Name, Note: note})
	}
	return out, nil
}

// show is how many tokens a model of Ollama can read; 0 = it does not say.
func (m *ollama) show(ctx context.Context, model string) (int, error) {
	var about struct {
		Info map[string]any `json:"model_info"`
	}
	if _, err := m.get(ctx, "looking at the model", "/api/show", map[string]string{"model": model}, &about); err != nil {
		return 0, err
	}
	for name, value := range about.Info {
		if n, ok := value.(float64); ok && strings.HasSuffix(name, ".context_length") {
			return int(n), nil
		}
	}
	return 0, nil
}
