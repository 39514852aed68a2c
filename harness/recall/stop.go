package recall

import "strings"

// stop are the words that say how a thing is asked or told, and not what it is
// about: articles, prepositions, question words, auxiliaries and pronouns. They
// are left out of the index and of the query alike.
var stop = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
a an the this that these those there here
and or but if then than so as because while though although nor
of in on at to from for with by about into over under between through during before after above below up down off out upon within without per via
what which who whom whose when where why how
be am is are was were been being do does did doing done have has had having can could will would shall should may might must ought
isnt arent wasnt werent dont doesnt didnt havent hasnt hadnt cant cannot couldnt wont wouldnt shant shouldnt mightnt mustnt aint
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
im ive ill id youre youve youll youd hes shes thats theres weve were theyre theyve lets whats whos wheres hows
no not just only also very too some any such own same both each few more most other again once ever
tell please know remind
`) {
		out[w] = true
	}
	return out
}()
