package redact

import (
	"strings"
)

// pairs are the letters that follow a letter in words, for a to z: the pairs
// that make up 93 % of the words of a large body of code and comments.
var pairs = [26]string{
	"bcdfgiklmnprstuvxy",  // a
	"aceilorsu",           // b
	"acdehiklmorstuv",     // c
	"acdeilorsu",          // d
	"abcdefgilmnpqrstvwx", // e
	"aefiloprstu",         // f
	"acehinorstu",         // g
	"aeiortu",             // h
	"abcdefglmnoprstvxz",  // i
	"",                    // j
	"eis",                 // k
	"adefilostuy",         // l
	"abeimopstu",          // m
	"acdefgiklnostuv",     // n
	"abcdfgiklmnoprstuvw", // o
	"acdehilmoprstu",      // p
	"u",                   // q
	"acdefgiklmnorstuvy",  // r
	"acdehiklmoprstuy",    // s
	"acdefhilmoprstuy",    // t
	"abcdefgilmnprst",     // u
	"aceip",               // v
	"aehior",              // w
	"acefipt",             // x
	"mnps",                // y
	"e",                   // z
}

var usual = func() (table [26][26]bool) {
	for a, list := range pairs {
		for _, b := range []byte(list) {
			table[a][b-'a'] = true
		}
	}
	return table
}()

// strangeness counts the places within v that words do not have: a digit
// beside a letter, two letters that are rarely neighbours, a capital soon
// after another. Counting up (abc, 123) and repeating make it 0: so are
// samples written.
func strangeness(v string) int {
	n, steps, hump := 0, 0, 0
	for i := 1; i < len(v); i++ {
		a, b := v[i-1], v[i]
		if b-a <= 1 {
			steps++
		}
		switch {
		case isLetter(a) && isLetter(b):
			hump++
			if isLower(a) && isUpper(b) {
				if hump < 3 {
					n++
				}
				hump = 0
			} else if !usual[a|0x20-'a'][b|0x20-'a'] {
				n++
			}
		case isLetter(a) && isDigit(b), isDigit(a) && isLetter(b):
			n++
			hump = 0
		default:
			hump = 0
		}
	}
	if steps*2 >= len(v)-1 {
		return 0
	}
	return n
}

// isLot is isStrange for what follows the beginning of a token: there, less
// is enough.
func isLot(v string) bool {
	n := strangeness(v)
	return n >= 2 && n*8 >= len(v)
}

// isStrange says whether v reads like something drawn by lot rather than like
// words. Measured: of 2,000 random values of 16 characters at most 1 % are
// taken for words, of 24 and more 0.3 %.
func isStrange(v string) bool {
	n := strangeness(v)
	if !strings.ContainsAny(v, "0123456789") && (len(v) < 16 || n*4 < len(v)) {
		return false // letters alone need more
	}
	return n >= 3 && n*6 >= len(v) || n >= 2 && len(v) >= 16 && isHexadecimal(v)
}

func isHexadecimal(v string) bool {
	for i := range len(v) {
		if !isHex(v[i]) {
			return false
		}
	}
	return true
}

// samples are what documentation writes where a secret would stand. Only words
// that hardly occur in random letters.
var samples = lazyWords("example", "redacted", "placeholder", "changeme", "change-me", "change_me", "replace-me", "replace_me",
	"replaceme", "replace-with", "replace_with", "replacewith", "replace-this", "replace_this", "your-", "your_", "-your", "_your",
	"insert-", "insert_", "dummy", "sample-", "sample_", "goes-here", "goes_here", "goeshere", "not-a-real", "not_a_real",
	"xxxx", "***", "...", "…", "0000000000", "deadbeef", "foobar", "lorem", "ipsum")

// sampleEnds is the same for how a value begins and ends.
var sampleEnds = lazy(`(?i)^(?:your|<.*>$|fake[-_]|mock[-_]|some[-_]|(?:test|my)[-_]?(?:token|key|secret|pass|api)|secret[-_]?(?:key|token|value))|[-_]here$`)

// isExample says whether v stands for a secret in documentation. gitleaks has
// some of these, too.
func isExample(v string) bool { return samples().in(v) || sampleEnds().MatchString(v) }

// pointer begins what is not a value but says where it is: a variable, a path,
// a password manager.
var pointer = lazy(`^(?:\$[A-Za-z_]\w*$|[a-zA-Z][a-zA-Z0-9+.-]*://|\.{1,2}/|~/|[A-Za-z]:\\|` +
	`arn:|urn:|vault:|env[:.]|file:|ref[:+]|ssm:|ENC\[|sops:|keyring:|keychain:|data:|[+]?/?[\w.-]*/{1,2}(?:etc|run|var|usr|opt|home|tmp|mnt|secrets?)/)`)

// computed are parts of what is computed.
var computed = lazyWords("${", "$(", "{{", "<%", "%{", "#{", "process.env", "os.environ", "getenv", "secrets.", "env[", "import.meta")

// isElsewhere says whether v says where a secret is, and is none.
func isElsewhere(v string) bool { return computed().in(v) || pointer().MatchString(v) }

// opener begins what is an expression, a tag or a pattern, if what follows does
// not look drawn by lot.
const opener = "$&*%@!{<[(|>#`/\\^.-+=~,:;?"

// ordinary are shapes of ordinary values: versions, times, kinds of hash.
var ordinary = lazy(`(?i)^(?:v?\d+(?:\.\d+)+\S*|\d{4}-\d\d-\d\d\S*|\d\d?:\d\d\S*|` +
	`(?:u?int|float|sha|md|utf|base|aes|rsa|hs|rs|es|ed|ascii|latin|iso|oauth|auth|http|ipv|win|amd|arm|argon|bcrypt|pbkdf|blake|hmac)[-_]?\d+\w*(?:-[a-z]+)?|[vpxhf]\d{1,3}(?:[-_]?[a-z]+\d*)?|` +
	`[%\\]\S{1,3}|%\S*|[-+]?0x[0-9a-f]{1,16}|\d+(?:\.\d+)?(?:[smhdkgb]|ms|kb|mb|gb|px|em|rem|pt|%)?|#[0-9a-f]{3,8})$`)

// plain are values that are words of programs, or stand for a password in
// documentation.
var plain = lazy(`(?i)^(?:(?:my|new|old|the|an?|your|test|user|admin|root|db|some|other|wrong|bad|good|valid|invalid|default|secret|super|top|no|hashed|plain|current|confirm|repeat|login|auth|access|refresh|api|app)?[-_. ]?` +
	`(?:pass(?:w(?:or)?d|phrase|code)?|passwd|pwd|pw|p[4a@]s?ssw[o0]rd|secret|s3cr3t|token|tok|key|credentials?|creds|value|val|string|str|text|arg|args|param|field|name|input|var|tmp|temp|foo|bar|baz|qux|sample|test|testing|admin|root|user|username|guest|login|abc|hello|world|word|line|item|node|result|data|type|kind|id|index|hash|hint|label|prompt|reset|mutation|query|button|page|form|body|header|file|path|env|postgres|mysql|redis|rabbitmq|minio\w*)` +
	`[-_.]?\d{0,4}!?)$|^(?:null|nil|none|true|false|undefined|empty|required|optional|n/a|na|yes|no|on|off|auto|inherit|any|void|bool|boolean|integer|number|bytes|object|error|function)[?!]?$|^aws4-hmac-sha256$`)

var escape = lazy(`\\(?:(?:x1b|033|e)\[[0-9;]*m|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[0-7]{1,3}|.)`)

// isPlain says whether v is plain. The longest such words have some 30 bytes.
func isPlain(v string) bool { return len(v) < 40 && plain().MatchString(v) }

// How a value is written.
type style int

const (
	bareWord style = iota // a word behind the name, no sign between
	loose                 // within a line of code or prose: it may be an expression
	literal               // quoted, or the rest of a line of settings
	shout                 // NAME=value on a line of its own: whatever it is, it is no expression
)

// isSecret says whether v, called by a name of the given trust and written in
// the given style, is a secret.
func isSecret(v string, t trust, st style) bool {
	if len(v) < least || len(v) > longest || strings.ContainsAny(v, " \t\r\n") {
		return false
	}
	if isExample(v) || isElsewhere(v) || isPlain(v) || isNamed(v) {
		return false
	}
	if strings.IndexByte(v, '\\') >= 0 && len(escape().ReplaceAllString(v, "")) < max(least, len(v)/2) {
		return false // bytes, spelled out
	}
	random := len(v) >= 12 && isStrange(v)
	if ordinary().MatchString(v) && !(random && len(v) >= 16) {
		return false
	}
	if st == loose && isExpression(v) {
		return false
	}
	if st == bareWord {
		return random && len(v) >= 16 && strangeness(v)*4 >= len(v) && count(v).digits > 0 && strings.Trim(v, base) == ""
	}
	if random {
		return true
	}
	c := count(v)
	if n := strangeness(v); len(v) >= 8 && c.letters > 0 && c.digits > 0 && (st == shout && n >= 2 || st == literal && n >= 3 && n*3 >= len(v)) {
		return true // short, for a token
	}
	return t == anything && strings.IndexByte(opener, v[0]) < 0 && isPassword(v, c, st)
}

// isNamed says whether v itself is the name of a secret: azure-api-key.
func isNamed(v string) bool {
	t, _ := says(v)
	return t != nothing && !strings.ContainsAny(v, "0123456789!@#$%^&*+?~")
}

// base are the bytes of most tokens.
const base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_"

// counts says what v is made of.
type counts struct {
	letters, uppers, digits, symbols, joints int
}

func count(v string) (c counts) {
	for i := range len(v) {
		switch b := v[i]; {
		case isUpper(b):
			c.uppers++
			c.letters++
		case isLetter(b):
			c.letters++
		case isDigit(b):
			c.digits++
		case strings.IndexByte("-_./:,|", b) >= 0:
			c.joints++
		default:
			if i < len(v)-1 { // the mark at the end of a sentence is none
				c.symbols++
			}
		}
	}
	return c
}

// isPassword says whether v, called a password, is one that a human would
// choose, and not a name or a word.
func isPassword(v string, c counts, st style) bool {
	switch {
	case len(v) < 6:
		return false
	case c.letters == 0:
		return st != loose && c.digits >= 6 && strangeness("a"+v) > 0 && c.joints == 0
	case c.digits == 0 && c.symbols == 0:
		return len(v) >= 8 && (st == shout && c.joints < 2 || c.joints == 0 && strangeness(v) >= 3)
	case c.digits == 0:
		return c.uppers > 0 && c.uppers < c.letters && c.joints == 0 && strings.ContainsAny(v[1:len(v)-1], "!@#$%^&")
	case c.joints > 0 && c.symbols == 0:
		return st == shout || strangeness(v) >= 3 || c.digits >= 2 && c.uppers > 0 && c.uppers < c.letters
	}
	return true
}

// expression is what code writes where settings have a value.
var expression = lazy(`[()\[\]{}<>;"']|^[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+$|^[A-Za-z_]*_\w*$`)

// isExpression says whether v, not quoted, is rather code than a value.
func isExpression(v string) bool {
	return expression().MatchString(v) && !(len(v) >= 20 && isStrange(v) && !strings.ContainsAny(v, "()[]{}<>"))
}
