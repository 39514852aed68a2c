package repl

// help is what /help prints.
const help = `Type what you want to say; Enter sends it.
  \ at the end of a line, or a block between """ and """, makes it longer;
  pasted text is one message. Ctrl-C stops a tick, Ctrl-D leaves.

Look   /status  /cost  /log [-p] [--tick N]  /diff [N]  /context  /prompt  /mood
Mind   /threads  /thread new|switch|done|add|remove  /skills [NAME]
       /notes [WORDS]  /buffers [N]  /edit [N|FILE]  /depth [WHAT N]
Model  /model [NAME]  /think on|off  /models [check]  /agents
More   /retry (ask again about lines without an answer)  /config  /doctor
       /scan  /restore FILE  /version  /help COMMAND  /quit
`
