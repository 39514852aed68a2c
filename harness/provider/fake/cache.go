package fake

import (
	"crypto/sha256"
	"strings"
)

// block is a stretch of a prompt with borders that a cache knows.
type block struct {
	key   string // what must be the same for it to be the same block
	bytes int    // of its text
	mark  bool   // a cache breakpoint stands after it
}

// cacheFloor is the shortest prefix that is cached, in tokens. (It differs by
// model, from 512 to 4,096.)
const cacheFloor = 1024

// lookBack is how many blocks before a breakpoint a written prefix is looked for.
const lookBack = 20

// prefixes are the prompts that Anthropic's cache holds, by hash. A prefix is
// written where a breakpoint stands, and read where one of a later request
// stands or at most [lookBack] blocks before it; it is for one model. It never
// grows old here (there: 5 minutes).
type prefixes map[[32]byte]bool

// use counts a request's tokens and writes its breakpoints.
func (p *prefixes) use(model string, blocks []block) Usage {
	if *p == nil {
		*p = prefixes{}
	}
	sums := make([][32]byte, len(blocks))
	upTo := make([]int, len(blocks)) // tokens of the first i+1 blocks
	bytes, last := 0, -1
	before := sha256.Sum256([]byte(model))
	for i, b := range blocks {
		before = sha256.Sum256(append(before[:], b.key...))
		sums[i] = before
		bytes += b.bytes
		upTo[i] = tokens(bytes)
		if b.mark {
			last = i
		}
	}
	u := Usage{In: tokens(bytes)}
	for i, b := range blocks {
		if !b.mark {
			continue
		}
		for j := i; j >= 0 && j > i-lookBack; j-- {
			if (*p)[sums[j]] {
				u.Cached = max(u.Cached, upTo[j])
				break
			}
		}
	}
	if last >= 0 && upTo[last] >= cacheFloor {
		u.Written = max(0, upTo[last]-u.Cached)
	}
	for i, b := range blocks {
		if b.mark && upTo[i] >= cacheFloor {
			(*p)[sums[i]] = true
		}
	}
	return u
}

// prompts are what OpenAI's cache holds: it needs no breakpoints, and serves
// the longest beginning that a request shares with an earlier one, in steps of
// 128 tokens from 1,024 on.
type prompts []string

// promptsKept bounds what is compared.
const promptsKept = 64

func (p *prompts) use(model, prompt string) Usage {
	u := Usage{In: tokens(len(prompt))}
	prompt = model + "\n" + prompt
	for _, earlier := range *p {
		same := 0
		for same < len(prompt) && same < len(earlier) && prompt[same] == earlier[same] {
			same++
		}
		u.Cached = max(u.Cached, (same-len(model)-1)/4)
	}
	u.Cached -= u.Cached % 128
	if u.Cached < cacheFloor {
		u.Cached = 0
	}
	*p = append(*p, strings.Clone(prompt))
	if len(*p) > promptsKept {
		*p = (*p)[1:]
	}
	return u
}
