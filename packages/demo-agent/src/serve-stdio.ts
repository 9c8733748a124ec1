import { createAgentApp, type AgentFacts } from './agent-app.js'
import { Conversations } from './conversations.js'
import { createLifecycle } from './lifecycle.js'
import { createMessageStream } from './message-stream.js'
import { createOutput } from './output.js'
import { createSessionStore } from './session-store.js'
import type { SessionDefaults } from './session.js'

/** Speaks ACP on the process's stdin and stdout until the client goes away or a signal comes. */
export function serveStdio({ version, mcpHttp, ...defaults }: SessionDefaults & AgentFacts): void {
  const output = createOutput(process.stdout)
  const lifecycle = createLifecycle({
    input: process.stdin,
    output,
    beforeExit: () => conversations.shutDown(),
  })
  const conversations = new Conversations({ defaults, output, lifecycle, store: createSessionStore() })
  createAgentApp(conversations, { version, mcpHttp }).connect(createMessageStream(process.stdin, output))
}
