package harness

import (
	"amacs/harness/eval"
)

// functions is everything that the agent can reach from eval, one organ a line.
// Each function changes the mind by edits, so that the agent sees its own change
// at once and the home gets it at the commit.
func functions(m *Mind) []eval.Func {
	var all []eval.Func
	for _, organ := range [][]eval.Func{
		threadFunctions(m),
		skillFunctions(m),
		stateFunctions(m),
		noteFunctions(m),
		historyFunctions(m),
		fileFunctions(m),
		runFunctions(m),
		toolFunctions(m),
		requestFunctions(m),
	} {
		all = append(all, organ...)
	}
	return all
}

// Functions lists what the agent can call, for help and for the manual.
func Functions() []eval.Func { return functions(&Mind{}) }
