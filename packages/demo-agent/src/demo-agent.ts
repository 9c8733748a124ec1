import { createAgentApp, type AgentFacts } from './agent-app.js'
import { parseCommandLine, versionText } from './command-line.js'
import { Conversations } from './conversations.js'
import { Lifecycle } from './lifecycle.js'
import { createMessageStream } from './message-stream.js'
import { Output } from './output.js'
import { SessionStore } from './session-store.js'
import type { SessionDefaults } from './session.js'

/** Entry of the executable: answers `--help` and `--version`, else speaks ACP until its client goes away. */
function main(argv: readonly string[]): void {
  const command = parseCommandLine(argv)
  switch (command.run) {
    case 'print':
      process.stdout.write(command.text)
      return
    case 'refuse':
      process.stderr.write(`${command.message}\n`)
      process.exitCode = 2
      return
    case 'serve':
      serveStdio({ ...command.defaults, mcpHttp: command.mcpHttp, version: versionText() })
  }
}

/** Speaks ACP on the process's stdin and stdout until the client goes away or a signal comes. */
function serveStdio({ version, mcpHttp, ...defaults }: SessionDefaults & AgentFacts): void {
  const output = new Output(process.stdout)
  const lifecycle = new Lifecycle({ input: process.stdin, output, beforeExit: () => conversations.shutDown() })
  const conversations = new Conversations({ defaults, output, lifecycle, store: new SessionStore() })
  createAgentApp(conversations, { version, mcpHttp }).connect(createMessageStream(process.stdin, output))
}

main(process.argv.slice(2))
