package redact

import (
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Secrets are drawn by lot when the test runs: the repository holds none.

const (
	base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	digits = "0123456789"
	hexes  = "0123456789abcdef"
	lowers = "abcdefghijklmnopqrstuvwxyz"
)

// lot draws n bytes of alphabet, a digit and a letter among them where the
// alphabet has both.
func lot(r *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for {
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		if !strings.ContainsAny(alphabet, digits) || alphabet == digits || strings.ContainsAny(string(b), digits) && strings.Trim(string(b), digits) != "" {
			return string(b)
		}
	}
}

// human draws a password as people make them.
func human(r *rand.Rand) string {
	words := strings.Fields("monkey dragon summer winter purple coffee Rabbit Kitchen Garden orange silver Bicycle")
	w := words[r.IntN(len(words))]
	marks := "!@#$%^&*?+"
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("%s%d", w, 10+r.IntN(9990))
	case 1:
		return fmt.Sprintf("%s%c%d", w, marks[r.IntN(len(marks))], r.IntN(999))
	case 2:
		return lot(r, base62, 3) + string(marks[r.IntN(3)]) + lot(r, base62, 6)
	}
	return lot(r, lowers, 3) + lot(r, digits, 3) + strings.ToUpper(w)[:4] + "_9"
}

// pem draws a private key.
func pem(r *rand.Rand, label string, lines int, nl string) string {
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----" + nl)
	for range lines {
		b.WriteString(lot(r, base62+"+/", 64) + nl)
	}
	b.WriteString(lot(r, base62+"+/", 30) + "==" + nl + "-----END " + label + "-----")
	return b.String()
}

// carriers are the texts that a token is met in; SECRET stands for it.
var carriers = map[string]string{
	"shell":        "$ export MY_THING=SECRET\n",
	"shell quoted": "TOKEN='SECRET' ./deploy.sh --now\n",
	"argument":     "deploy --verbose --token SECRET --region eu-west-1\n",
	".env":         "# staging\nAPI_TOKEN=SECRET\nDEBUG=1\n",
	"yaml":         "auth:\n  token: SECRET\n  retries: 3\n",
	"json":         "{\n  \"name\": \"x\",\n  \"value\": \"SECRET\",\n  \"n\": 1\n}\n",
	"json in json": `{"log":"got {\"credential\":\"SECRET\"} from peer\nnext"}` + "\n",
	"toml":         "[server]\nkey = \"SECRET\" # rotate\n",
	"go":           "func main() {\n\tclient := New(\"SECRET\", nil)\n\tclient.Run()\n}\n",
	"python":       "client = Client(token='SECRET', timeout=3)\n",
	"log":          "2026-03-01T10:00:00Z WARN refused SECRET (status 401)\n",
	"prose":        "I pasted it here: SECRET, please do not lose it.\n",
	"prose end":    "the one that works is SECRET.\n",
	"curl":         "curl -s -H \"X-Thing: SECRET\" https://api.example.com/v1\n",
	"url":          "https://api.example.com/v1/items?a=1&auth=SECRET&b=2\n",
	"markdown":     "Use `SECRET` for now, or **SECRET**.\n",
	"colour":       "\x1b[32mSECRET\x1b[0m ok\n",
	"escaped":      `"line one\nSECRET\nline two"` + "\n",
	"xml":          "<item id=\"3\"><v>SECRET</v></item>\n",
	"alone":        "SECRET",
	"elisp":        "(setq thing \"SECRET\")\n",
	"diff":         "-thing: old\n+thing: SECRET\n",
	"crlf":         "A=1\r\nTHING=SECRET\r\nB=2\r\n",
}

// situation is a text around a secret that only the text gives away.
type situation struct {
	kind string
	text string // SECRET stands for it
	draw func(*rand.Rand) string
}

func random(alphabet string, n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return lot(r, alphabet, n) }
}

func basic(r *rand.Rand) string {
	return base64.StdEncoding.EncodeToString([]byte("deploy:" + human(r)))
}

func uuid(r *rand.Rand) string {
	return lot(r, hexes, 8) + "-" + lot(r, hexes, 4) + "-4" + lot(r, hexes, 3) + "-a" + lot(r, hexes, 3) + "-" + lot(r, hexes, 12)
}

var situations = []situation{
	{"password in .env", "DB_PASSWORD=SECRET\nDB_HOST=db\n", human},
	{"password in .env, quoted", "DB_PASSWORD=\"SECRET\"\nDB_HOST=db\n", human},
	{"password of letters in .env", "DB_PASSWORD=SECRET\nDB_HOST=db\n", random(lowers, 12)},
	{"password, exported", "export PGPASSWORD=SECRET; psql -h db app\n", human},
	{"password before a command", "$ PGPASSWORD=SECRET psql -h db app\n", human},
	{"password in yaml", "db:\n  user: app\n  password: SECRET\n", human},
	{"password in yaml, quoted", "db:\n  password: 'SECRET' # prod\n", human},
	{"password in yaml, flow", "db: {user: app, password: SECRET, port: 5432}\n", random(base62, 10)},
	{"password in yaml, block", "db:\n  password: |\n    SECRET\n  port: 1\n", human},
	{"password in compose", "    environment:\n      - MYSQL_ROOT_PASSWORD=SECRET\n", human},
	{"password in kubernetes", "- name: DB_PASSWORD\n  value: SECRET\n", human},
	{"password in json", `{"user":"app","password":"SECRET","n":1}` + "\n", human},
	{"password in json in json", `{"body":"{\"user\":\"app\",\"password\":\"SECRET\"}"}` + "\n", random(base62, 11)},
	{"password in json, name and value", `{"name": "DB_PASSWORD", "value": "SECRET"}` + "\n", human},
	{"password in toml", "[db]\npassword = \"SECRET\"\n", human},
	{"password in ini", "[client]\nuser = root\npassword = SECRET\n", human},
	{"password in properties, crlf", "spring.datasource.password=SECRET\r\nserver.port=8080\r\n", human},
	{"password in xml", "<server><password>SECRET</password></server>\n", random(base62, 10)},
	{"password in xml attributes", `<add key="DbPassword" value="SECRET" />` + "\n", random(base62, 10)},
	{"password in go", "\tcfg := Config{User: \"app\", Password: \"SECRET\"}\n", human},
	{"password in go, var", "var dbPassword string = \"SECRET\"\n", human},
	{"password in python", "    password: str = \"SECRET\"\n", human},
	{"password in php", "define('DB_PASSWORD', 'SECRET');\n", random(base62, 10)},
	{"password in php array", "'password' => 'SECRET',\n", human},
	{"password in a call", "conn.setPassword(\"SECRET\");\n", human},
	{"password in elisp", "(setq smtp-password \"SECRET\")\n", random(base62, 10)},
	{"password in an alist", "((user . \"me\") (password . \"SECRET\"))\n", human},
	{"password in prose", "My password is SECRET, do not tell.\n", random(base62, 9)},
	{"password in chat", "pw for the box:\npassword: SECRET\n", human},
	{"password in a log", "ERROR login failed user=app password=SECRET host=db\n", random(base62, 10)},
	{"password as an option", "tool --user app --password SECRET --all\n", random(base62, 10)},
	{"password as an option with =", "tool --db-password=SECRET --all\n", random(base62, 10)},
	{"password in a form", "user=app&password=SECRET&next=1\n", random(base62, 10)},
	{"password in a dsn", "host=db user=app password=SECRET dbname=main sslmode=disable\n", random(base62, 10)},
	{"password in ado", "Server=db;Database=main;User Id=app;Password=SECRET;Encrypt=true\n", random(base62, 12)},
	{"url password", "postgres://app:SECRET@db.internal:5432/main\n", random(base62, 10)},
	{"url password of letters", "DATABASE_URL=mysql://app:SECRET@db/main\n", random(lowers, 12)},
	{"url password, redis", "redis://:SECRET@cache:6379/0\n", random(base62, 16)},
	{"url password, amqp", "broker: \"amqp://app:SECRET@mq/vhost\"\n", random(base62, 10)},
	{"url password, mongodb", "mongodb+srv://app:SECRET@c0.abcde.mongodb.net/db?retryWrites=true\n", random(base62, 14)},
	{"url password with a mark", "https://me:SECRET@git.example.org/me/repo.git\n", human2},
	{"url token alone", "git clone https://SECRET@git.example.org/me/repo.git\n", random(base62, 30)},
	{"url password, git", "origin\thttps://oauth2:SECRET@git.example.org/me/repo.git (fetch)\n", random(base62, 20)},
	{"mysql dsn", "db, err := sql.Open(\"mysql\", \"app:SECRET@tcp(db:3306)/main\")\n", random(base62, 10)},
	{"bearer header", "Authorization: Bearer SECRET\r\nAccept: */*\r\n", random(base62+"-_", 40)},
	{"bearer in curl", "curl -H 'Authorization: Bearer SECRET' https://api.example.com\n", random(hexes, 32)},
	{"bearer in json", `"headers": {"Authorization": "Bearer SECRET"}` + "\n", random(base62, 24)},
	{"token header", "Authorization: token SECRET\n", random(hexes, 40)},
	{"raw header", "authorization: SECRET\n", random(base62, 32)},
	{"basic header", "Authorization: Basic SECRET\n", basic},
	{"basic header in code", "req.Header.Set(\"Authorization\", \"Basic SECRET\")\n", basic},
	{"proxy header", "> Proxy-Authorization: Basic SECRET\n", basic},
	{"key header", "curl -H \"x-api-key: SECRET\" https://api.example.com\n", random(base62, 32)},
	{"private token header", "curl --header \"PRIVATE-TOKEN: SECRET\" https://git.example.org/api\n", random(base62, 20)},
	{"cookie", "Cookie: theme=dark; sessionid=SECRET; lang=en\n", random(lowers+digits, 32)},
	{"set-cookie", "< Set-Cookie: auth_token=SECRET; Path=/; HttpOnly\n", random(base62, 40)},
	{"netrc", "machine api.example.com login me password SECRET\n", human},
	{"netrc in lines", "machine api.example.com\n  login me\n  password SECRET\n", human},
	{"netrc of letters", "machine api.example.com login me password SECRET\n", random(lowers, 10)},
	{"authinfo", "machine imap.example.com port 993 login me@example.com password \"SECRET\"\n", human},
	{"pgpass", "db.internal:5432:main:app:SECRET\n", random(base62, 12)},
	{"npmrc", "//registry.npmjs.org/:_authToken=SECRET\n", uuid},
	{"npmrc, old", "_auth=SECRET\n", basic},
	{"pypirc", "[pypi]\nusername = me\npassword = SECRET\n", human},
	{"git credentials", "https://me:SECRET@github.com\n", random(hexes, 40)},
	{"aws secret", "aws_secret_access_key = SECRET\n", random(base62+"/+", 40)},
	{"aws secret in env", "export AWS_SECRET_ACCESS_KEY=SECRET\n", random(base62+"/+", 40)},
	{"aws session", "AWS_SESSION_TOKEN=SECRET\n", random(base62+"/+", 300)},
	{"azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=SECRET;EndpointSuffix=core\n", func(r *rand.Rand) string { return lot(r, base62+"/+", 86) + "==" }},
	{"azure bus", "Endpoint=sb://x.example/;SharedAccessKeyName=Root;SharedAccessKey=SECRET\n", func(r *rand.Rand) string { return lot(r, base62+"/+", 43) + "=" }},
	{"mistral", "MISTRAL_API_KEY=SECRET\n", random(base62, 32)},
	{"cohere", "co = cohere.Client(api_key=\"SECRET\")\n", random(base62, 40)},
	{"vendor key", "DEEPGRAM_KEY: SECRET\n", random(hexes, 40)},
	{"datadog", "export DD_API_KEY=SECRET\n", random(hexes, 32)},
	{"heroku", "HEROKU_API_KEY=SECRET\n", uuid},
	{"django", "SECRET_KEY = 'SECRET'\n", func(r *rand.Rand) string { return "django-insecure-" + lot(r, lowers+digits+"!@$%^&*-_=+", 50) }},
	{"rails", "production:\n  secret_key_base: SECRET\n", random(hexes, 128)},
	{"client secret", `"client_secret": "SECRET",` + "\n", random(base62+"-_", 24)},
	{"access token", `{"access_token":"SECRET","token_type":"bearer","expires_in":3600}` + "\n", random(base62, 40)},
	{"refresh token", `"refresh_token" : "SECRET"` + "\n", random(base62+"-_", 60)},
	{"token in code", "const token = \"SECRET\";\n", random(base62, 32)},
	{"token in a url", "wss://push.example.com/?token=SECRET&v=2\n", random(base62, 24)},
	{"token in docker", "ENV API_TOKEN SECRET\n", random(base62, 24)},
	{"token in fish", "set -gx API_TOKEN SECRET\n", random(base62, 24)},
	{"token in powershell", "$env:API_TOKEN = \"SECRET\"\n", random(base62, 24)},
	{"token, setenv", "os.Setenv(\"API_TOKEN\", \"SECRET\")\n", random(base62, 24)},
	{"token, -e", "docker run -e API_TOKEN=SECRET -p 80:80 x\n", random(base62, 24)},
	{"wireguard", "[Interface]\nPrivateKey = SECRET\n", func(r *rand.Rand) string { return lot(r, base62+"/+", 43) + "=" }},
	{"curl -u", "curl -s -u me:SECRET https://api.example.com/x\n", random(base62, 10)},
	{"curl --user, joined line", "curl -s \\\n  --user 'me:SECRET' \\\n  https://api.example.com\n", human2},
	{"mysql -p", "mysql -u root -pSECRET app < dump.sql\n", random(base62, 10)},
	{"mysqldump -p", "mysqldump -h db -uroot -p'SECRET' app\n", human2},
	{"sshpass", "sshpass -p SECRET ssh me@host\n", random(base62, 10)},
	{"redis-cli", "redis-cli -h cache -a SECRET ping\n", random(base62, 12)},
	{"docker login", "docker login -u me -p SECRET registry.example.com\n", random(base62, 12)},
	{"echo sudo", "echo SECRET | sudo -S apt-get update\n", random(base62, 9)},
	{"openssl", "openssl rsa -in k.pem -passin pass:SECRET\n", random(base62, 12)},
	{"sql", "CREATE USER 'app'@'%' IDENTIFIED BY 'SECRET';\n", human2},
	{"ldapsearch", "ldapsearch -x -D cn=admin -w SECRET -b dc=x\n", random(base62, 10)},
	{"smbclient", "smbclient //nas/share -U me%SECRET\n", random(base62, 10)},
	{"private key", "key:\nSECRET\n", func(r *rand.Rand) string { return pem(r, "RSA PRIVATE KEY", 12, "\n") }},
	{"private key, crlf", "SECRET\r\n", func(r *rand.Rand) string { return pem(r, "PRIVATE KEY", 3, "\r\n") }},
	{"private key, openssh", "$ cat id\nSECRET\n$ ", func(r *rand.Rand) string { return pem(r, "OPENSSH PRIVATE KEY", 6, "\n") }},
	{"private key, in json", `{"private_key": "SECRET\n", "id": 1}` + "\n", func(r *rand.Rand) string { return pem(r, "PRIVATE KEY", 8, `\n`) }},
	{"private key, pgp", "SECRET\n", func(r *rand.Rand) string {
		return strings.Replace(pem(r, "PGP PRIVATE KEY BLOCK", 9, "\n"), "-----\n", "-----\nVersion: x 1\n\n", 1)
	}},
	{"private key, in yaml", "tls:\n  key: |\n    SECRET\n", func(r *rand.Rand) string { return pem(r, "EC PRIVATE KEY", 3, "\n    ") }},
	{"private key, cut off", "SECRET\n(rest not shown)\n", func(r *rand.Rand) string {
		key, _, _ := strings.Cut(pem(r, "PRIVATE KEY", 5, "\n"), "==")
		return key[:strings.LastIndex(key, "\n")]
	}},
	{"private key, putty", "Private-Lines: 2\nSECRET\nPrivate-MAC: 00\n", func(r *rand.Rand) string {
		return lot(r, base62+"+/", 64) + "\n" + lot(r, base62+"+/", 64)
	}},
}

// human2 is a password with a mark that needs no quoting.
func human2(r *rand.Rand) string { return lot(r, base62, 5) + "!" + lot(r, base62, 5) }

// planted are all texts with a secret, by kind: sample by sample a text and
// the secret in it.
func planted() map[string][][2]string {
	out := map[string][][2]string{}
	for n, l := range rules() {
		r := rand.New(rand.NewPCG(uint64(n), 4))
		for _, c := range slices.Sorted(maps.Keys(carriers)) {
			secret := "-"
			for strings.HasSuffix(secret, "-") || strings.HasSuffix(secret, ".") { // the end of a sentence, for Text
				secret = sampleOf(l.source, r)
			}
			out[l.kind] = append(out[l.kind], [2]string{strings.ReplaceAll(carriers[c], "SECRET", secret), secret})
		}
	}
	for n, x := range situations {
		r := rand.New(rand.NewPCG(uint64(n), 5))
		for range 10 {
			secret := x.draw(r)
			text := strings.ReplaceAll(strings.Replace(x.text, "SECRET_KEY", "\x00", 1), "SECRET", secret)
			out[x.kind] = append(out[x.kind], [2]string{strings.Replace(text, "\x00", "SECRET_KEY", 1), secret})
		}
	}
	return out
}

// All planted secrets are found, alone, and nothing else is touched.
func TestPlanted(t *testing.T) {
	t.Parallel()
	all := planted()
	count, missed := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		found := 0
		for _, p := range all[kind] {
			text, secret := p[0], p[1]
			out, list := Text(text, Options{})
			count++
			if strings.Contains(out, secret) {
				missed++
				t.Errorf("%s: not found: %q in %q", kind, secret, text)
				continue
			}
			found++
			for _, f := range list {
				if got := text[f.Start:f.End]; got != secret {
					t.Errorf("%s: %q taken out of %q: want %q", kind, got, text, secret)
				}
			}
			law(t, text, out, list)
		}
		t.Logf("%-36s %4d of %4d", kind, found, len(all[kind]))
	}
	t.Logf("%d secrets planted, of %d kinds; %d missed", count, len(all), missed)
	if count < 300 || len(all) < 40 {
		t.Errorf("%d secrets of %d kinds are few", count, len(all))
	}
}

// law says what holds for every text.
func law(t *testing.T, s, out string, found []Finding) {
	t.Helper()
	if again, more := Text(out, Options{}); again != out {
		t.Errorf("not idempotent: %q → %q → %q (%v)", s, out, again, more)
	}
	var b strings.Builder
	from := 0
	for _, f := range found {
		if f.Start < from || f.End <= f.Start || f.End > len(s) {
			t.Fatalf("findings out of order in %q: %v", s, found)
		}
		b.WriteString(s[from:f.Start] + mark(f.Kind))
		from = f.End
	}
	if want := b.String() + s[from:]; want != out {
		t.Errorf("%q → %q, but the findings say %q", s, out, want)
	}
	for _, f := range found {
		if strings.Contains(out, s[f.Start:f.End]) {
			t.Errorf("%q is still in %q", s[f.Start:f.End], out)
		}
	}
}
