package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
)

const (
	serversWait = 400 * time.Millisecond // for all servers, which are asked at once
	serverMost  = 1 << 20                // bytes of a list of models
)

// localServer is where a model server may be on this machine.
type localServer struct {
	provider, name string
	base           string
	list           string // the path of the list of models
}

// servers asks the places where model servers usually are, and those that
// OLLAMA_HOST and OPENAI_BASE_URL name.
func (o FindOptions) servers(ctx context.Context) []Candidate {
	wait := o.wait
	if wait == 0 {
		wait = serversWait
	}
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	places := []localServer{
		{"ollama", "Ollama", ollamaBase(o.value("OLLAMA_HOST")), "/api/tags"},
		{"openai", "LM Studio", "http://127.0.0.1:1234/v1", "/models"},
		{"openai", "llama.cpp", "http://127.0.0.1:8080/v1", "/models"},
		{"openai", "vLLM", "http://127.0.0.1:8000/v1", "/models"},
	}
	if own := strings.TrimRight(o.value("OPENAI_BASE_URL"), "/"); isLocalURL(own) {
		places = append([]localServer{{"openai", "the server of OPENAI_BASE_URL", own, "/models"}}, places...)
	}
	by := o.HTTP
	if by == nil {
		by = &http.Transport{DisableKeepAlives: true}
	}
	found := make([]Candidate, len(places))
	var all sync.WaitGroup
	for i, s := range places {
		all.Go(func() { found[i] = s.visit(within, by) })
	}
	all.Wait()
	return found
}

func isLocalURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && isLocal(u.Host)
}

// visit asks a server for its models. No key goes along: whoever listens there
// may be anybody.
func (s localServer) visit(ctx context.Context, by http.RoundTripper) Candidate {
	c := Candidate{Provider: s.provider, BaseURL: s.base, Billing: Free}
	host := s.base
	if u, err := url.Parse(s.base); err == nil {
		host = u.Host
	}
	if host == "ollama.com:443" {
		c.Billing, c.Problem = Subscription, "OLLAMA_HOST names Ollama's own service: set provider: ollama, and model"
		return c
	}
	list, err := s.ask(ctx, by)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		c.Problem = fmt.Sprintf("%s does not run: nothing listens on %s", s.name, host)
		return c
	case errors.Is(err, context.DeadlineExceeded):
		c.Problem = fmt.Sprintf("no answer from %s in time (%s)", host, s.name)
		return c
	case err != nil:
		c.Problem = fmt.Sprintf("%s: %v", host, err)
		return c
	}
	name := s.name
	if len(list) > 0 && list[0].maker != "" {
		name = list[0].maker
	}
	for _, m := range list {
		if c.Model == "" && !m.embeds && !m.elsewhere {
			c.Model = m.name
		}
	}
	if c.Model == "" {
		c.Problem = fmt.Sprintf("%s answers on %s, but has no model to talk to", name, host)
		if s.provider == "ollama" {
			c.Problem += ": fetch one with `ollama pull`"
		}
		return c
	}
	c.Ready, c.Why = true, fmt.Sprintf("%s answers on %s with %s", name, host, count(len(list), "model"))
	return c
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// served is a model of a local server.
type served struct {
	name, maker string
	embeds      bool // it makes vectors and does not talk
	elsewhere   bool // Ollama passes it on to a service
}

var errNoList = errors.New("what listens there is no model server")

func (s localServer) ask(ctx context.Context, by http.RoundTripper) ([]served, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(s.base, "/")+s.list, nil)
	if err != nil {
		return nil, errNoList
	}
	answer, err := by.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, errors.New("it asks for a key: set provider and base-url, and the key")
	case http.StatusServiceUnavailable:
		return nil, errors.New("the server is there, but not ready yet (status 503)")
	default:
		return nil, errNoList
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, serverMost))
	if err != nil {
		return nil, err
	}
	return readServed(s.provider, body)
}

// readServed reads a list of models, of Ollama or of OpenAI's kind:
//
//	{"models":[{"name":"qwen3:8b","details":{"family":"qwen3"}}]}
//	{"object":"list","data":[{"id":"qwen3-8b","object":"model","owned_by":"llamacpp"}]}
func readServed(provider string, body []byte) ([]served, error) {
	var list struct {
		Models *[]struct {
			Name       string `json:"name"`
			RemoteHost string `json:"remote_host"`
			Details    struct {
				Family string `json:"family"`
			} `json:"details"`
		} `json:"models"`
		Data *[]struct {
			ID      string `json:"id"`
			OwnedBy string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return nil, errNoList
	}
	var out []served
	switch {
	case provider == "ollama" && list.Models != nil:
		for _, m := range *list.Models {
			out = append(out, served{name: m.Name, embeds: embeds(m.Name) || strings.Contains(m.Details.Family, "bert"), elsewhere: m.RemoteHost != "" || isCloud(m.Name)})
		}
	case provider != "ollama" && list.Data != nil:
		for _, m := range *list.Data {
			out = append(out, served{name: m.ID, embeds: embeds(m.ID), maker: makers[m.OwnedBy]})
		}
	default:
		return nil, errNoList
	}
	for _, m := range out {
		if m.name == "" || len(m.name) > 500 || strings.ContainsFunc(m.name, func(c rune) bool { return !unicode.IsGraphic(c) }) {
			return nil, errNoList
		}
	}
	return out, nil
}

// makers tells servers apart by what they say of their models.
var makers = map[string]string{"llamacpp": "llama.cpp", "vllm": "vLLM", "organization_owner": "LM Studio", "library": "Ollama"}

func isCloud(name string) bool {
	return strings.HasSuffix(name, "-cloud") || strings.HasSuffix(name, ":cloud")
}

func embeds(name string) bool { return strings.Contains(strings.ToLower(name), "embed") }
