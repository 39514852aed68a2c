package agent

import (
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// The sample of the package comment, and the kinds of values that it leaves out.
func TestEntriesInYAML(t *testing.T) {
	const text = `
agents:
  - name: claude
    max-usd: 2                  # only what differs
  - name: mine
    command: [mine, ask, --json]
    model: [--model, "{model}"]
    output:
      format: lines
      text: message.text if type=done
  - {name: codex, idle: 90s, timeout: 1h, env: {A: "{model}"}, tty: false, billing: key}
`
	var config struct{ Agents []Entry }
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	all, err := Merge(Builtin(), config.Agents)
	if err != nil {
		t.Fatal(err)
	}
	codex, mine := all[1], all[len(all)-1]
	if all[0].MaxCost() != 2 || codex.Idle != 90*time.Second || codex.Timeout != time.Hour || !codex.Keyed() || mine.Output.Text != "message.text if type=done" {
		t.Errorf("%+v\n%+v\n%+v", all[0], codex, mine)
	}
}
