package repl

// help is what /help prints.
const help = `Type what you want to say; Enter sends it.
  \ at the end of a line, or a block between """ and """, makes it longer;
  pasted text is one message. Ctrl-C stops a tick, Ctrl-D leaves.

Look   /status  /cost  /log [-p] [--tick N]  /diff [N [N]]  /context  /prompt  /mood
Mind   /threads  /thread new|switch|done|add|remove  /skills [NAME]
       /notes [WORDS]  /buffers [N]  /edit [N|FILE]  /depth [WHAT N]
Asked  /review  /approve ID  /deny ID (what the agent wants to do)  /tools [SERVER]
Undo   /undo [N]  /redo  /revert TICK (files it edited)  /at TICK  /why NOTE
Model  /model [NAME]  /think on|off  /models [check]  /agents
More   /retry (ask again about lines without an answer)  /config  /doctor
       /keep (say your last line with the secret that was taken out)
       /scan  /purge  /restore FILE  /version  /help COMMAND  /quit
`
