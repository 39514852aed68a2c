package provider

import (
	"context"
	"fmt"
	"slices"
	"strconv"
)

// Embedder turns texts into vectors. Embed returns one for each text, in their
// order and all of one length; its error is an [*Error].
type Embedder interface {
	Name() string
	Facts() Facts
	Embed(ctx context.Context, texts []string) ([][]float32, Usage, error)
}

// The models that are taken where none is named.
const (
	openaiEmbedding = "text-embedding-3-small"
	ollamaEmbedding = "nomic-embed-text"
)

// embedBatch is how many texts go into one request.
const embedBatch = 128

// OpenEmbedder returns the embedder of a provider that has one: openai or ollama.
// It asks nobody.
func OpenEmbedder(o Options) (Embedder, error) {
	o = o.filled()
	switch o.Provider {
	case "openai":
		m, err := newOpenAI(o)
		if err != nil {
			return nil, err
		}
		if o.Model == "" && m.official {
			m.facts.Model = openaiEmbedding
		}
		if m.facts.Model == "" {
			return nil, &Error{Provider: o.Provider, Op: "opening", Err: fmt.Errorf("no model named for embeddings at %s", m.server.Host()),
				Hint: "`amacs models` lists the names that the server knows"}
		}
		m.facts.Window = 0
		return openaiEmbedder{m.remote}, nil
	case "ollama":
		if o.Model == "" {
			o.Model = ollamaEmbedding
		}
		m, err := newOllama(o)
		if err != nil {
			return nil, err
		}
		return ollamaEmbedder{m.remote}, nil
	}
	return nil, &Error{Provider: strconv.Quote(o.Provider), Op: "opening", Err: fmt.Errorf("this provider makes no embeddings; openai and ollama do")}
}

type openaiEmbedder struct{ *remote }

func (m openaiEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	return m.embed(texts, func(batch []string) ([][]float32, int, error) {
		var got struct {
			Data []struct {
				Index     int
				Embedding []float32
			}
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			}
		}
		body := map[string]any{"model": m.Facts().Model, "input": batch, "encoding_format": "float"}
		if _, err := m.get(ctx, embedding, "/embeddings", body, &got); err != nil {
			return nil, 0, err
		}
		out := make([][]float32, len(batch))
		for _, d := range got.Data {
			if d.Index >= 0 && d.Index < len(out) {
				out[d.Index] = d.Embedding
			}
		}
		return out, got.Usage.Prompt, nil
	})
}

type ollamaEmbedder struct{ *remote }

func (m ollamaEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	return m.embed(texts, func(batch []string) ([][]float32, int, error) {
		var got struct {
			Embeddings [][]float32
			Tokens     int `json:"prompt_eval_count"`
		}
		body := map[string]any{"model": m.Facts().Model, "input": batch}
		_, err := m.get(ctx, embedding, "/api/embed", body, &got)
		return got.Embeddings, got.Tokens, err
	})
}

const embedding = "embedding"

// embed asks for the texts in batches and checks what comes. After an error the
// usage is that of the batches before.
func (m *remote) embed(texts []string, ask func(batch []string) ([][]float32, int, error)) (out [][]float32, u Usage, err error) {
	for batch := range slices.Chunk(texts, embedBatch) {
		vectors, tokens, err := ask(batch)
		if err != nil {
			return nil, u, err
		}
		u.In += tokens
		out = append(out, vectors...)
		if len(vectors) != len(batch) {
			return nil, u, m.badVectors(u, "%d vectors for %d texts", len(vectors), len(batch))
		}
		for i, v := range vectors {
			if len(v) == 0 || len(v) != len(out[0]) {
				return nil, u, m.badVectors(u, "the vector of text %d has %d numbers, the first has %d", len(out)-len(batch)+i+1, len(v), len(out[0]))
			}
		}
	}
	return out, u, nil
}

func (m *remote) badVectors(u Usage, format string, args ...any) error {
	return &Error{Provider: m.provider, Op: embedding, Began: true, Usage: u, Err: fmt.Errorf("%s sent "+format, append([]any{m.server.Host()}, args...)...)}
}
