package redact

import "strings"

// trust is what a name says of its value.
type trust int

const (
	nothing  trust = iota
	drawn          // a token: the value is a secret if it looks drawn by lot
	anything       // a password: it may be whatever a human thinks of
)

// maxName bounds a name.
const maxName = 80

// nameWords are what the search looks for; around them stands the name.
var nameWords = []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "jwt", "psk"}

// passwords are last words of names.
var passwords = map[string]bool{
	"password": true, "passwd": true, "passphrase": true, "pwd": true, "pass": true, "passcode": true, "psk": true,
	"dbpass": true, "userpass": true, "mypass": true, "rootpass": true, "adminpass": true, "smtppass": true,
}

// endings are how a last word may end that is several in one: pgpassword,
// authtoken.
var endings = []struct {
	word, kind string
	trust      trust
}{
	{"password", "password", anything}, {"passwd", "password", anything}, {"passphrase", "password", anything}, {"passkey", "password", anything},
	{"secret", "secret", anything}, {"token", "token", drawn},
	{"apikey", "api-key", drawn}, {"secretkey", "secret", drawn}, {"accesskey", "api-key", drawn},
	{"privatekey", "secret", drawn}, {"authkey", "api-key", drawn}, {"masterkey", "secret", drawn},
	{"accountkey", "api-key", drawn}, {"encryptionkey", "secret", drawn}, {"signingkey", "secret", drawn},
}

// keys are words that make a secret of the key behind them; vendors are among
// them, mostly those of which gitleaks has a rule "vendor … = value".
var keys = setOf(`access account aes admin api app application auth billing cipher client consumer crypt crypto
	deploy developer enc encryption extension function gateway hmac ingest instrumentation integration jwt
	license licence management master merchant org owner personal private push read recovery registration
	root rpc secret server service session shared sign signing ssh storage subscription symmetric tls token
	upload user vault webhook write
	adafruit adobe airtable algolia alibaba anthropic asana atlassian aws azure bedrock bitbucket bittrex brave
	cerebras cloudflare codecov cohere coinbase confluent contentful databricks datadog deepgram deepl deepseek
	discord dropbox elastic elevenlabs etsy exa facebook fastly finnhub firebase fireworks flickr freshbooks gcp
	gemini github gitlab google grafana groq heroku hubspot infura intercom kraken launchdarkly linear linkedin
	lob looker mailchimp mailgun maps mapbox mattermost mistral moonshot netlify newrelic nytimes okta openai
	opencage openrouter openweather perplexity pinecone plaid postmark posthog qdrant rapidapi replicate segment
	sendgrid sentry serpapi serper shodan slack snyk sonar square squarespace steam stripe sumologic tavily
	telegram together travis trello twilio twitch twitter typeform voyage wandb weather xai yandex youtube zendesk zhipu`)

// public are words that take the secret from the token or key behind them.
var public = setOf(`bos cancel cancellation continuation cursor design end eos mask next num number page pad
	prev previous public publishable sep skip special start stop sync syntax unk max min total count`)

// tails may follow without changing what a name says: DB_PASSWORD_PROD.
var tails = setOf(`a b base base64 b64 current default dev development env live local new old plain plaintext
	primary prod production raw secondary stage staging str string test testing val value`)

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		out[word] = true
	}
	return out
}

// says returns what a name says of its value, and the kind of it.
func says(name string) (trust, string) {
	if name == "PWD" || name == "OLDPWD" || name == "pwd" {
		if name == "pwd" {
			return anything, "password"
		}
		return nothing, "" // the working folder
	}
	all := split(name)
	for len(all) > 1 && tails[all[len(all)-1]] {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return nothing, ""
	}
	last := all[len(all)-1]
	one := ""
	if len(all) > 1 {
		one = all[len(all)-2]
	}
	switch {
	case passwords[last]:
		return anything, "password"
	case last == "credential" || last == "credentials" || last == "creds":
		return drawn, "credential"
	case last == "secrets":
		return drawn, "secret"
	case last == "pat" || last == "jwt" || last == "auth":
		return drawn, "token"
	case public[one]:
		return nothing, ""
	case last == "key" && keys[one]:
		if one == "private" || one == "secret" || one == "encryption" || one == "signing" {
			return drawn, "secret"
		}
		return drawn, "api-key"
	}
	for _, e := range endings {
		if strings.HasSuffix(last, e.word) {
			return e.trust, e.kind
		}
	}
	return nothing, ""
}

// split returns the words of a name in lower case: DB_PASSWORD, dbPassword and
// db-password are db, password. Digits behind a word are left out.
func split(name string) []string {
	var out []string
	from := 0
	cut := func(to int) {
		if w := strings.TrimRight(name[from:to], "0123456789"); w != "" {
			out = append(out, strings.ToLower(w))
		}
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == '.':
			cut(i)
			from = i + 1
		case i > from && isUpper(c) && (!isUpper(name[i-1]) || i+1 < len(name) && isLower(name[i+1])):
			cut(i)
			from = i
		}
	}
	cut(len(name))
	return out
}
