import { expect, test } from 'vitest'
import { type Recording, runScript } from './support/acp-script.js'
import { NETWORK_WIRES, overNetwork } from './support/acp-wires.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { startEditor } from './support/editor.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A client must not be able to see by which wire it is connected.

const stdio = ({ url, token }: Daemon) =>
  startEditor({ AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token }, { flags: ['--adapter', 'demo'] })

async function recorded(wire: 'stdio' | (typeof NETWORK_WIRES)[number]): Promise<Recording> {
  const home = temporaryFolder('parity')
  const daemon = await startDaemon({ home })
  return runScript(() => (wire === 'stdio' ? stdio(daemon) : overNetwork(wire, daemon)), home)
}

test('the same script has the same answers and the same updates over stdio, streamable HTTP and WebSocket', async () => {
  const [expected, ...others] = await Promise.all((['stdio', ...NETWORK_WIRES] as const).map(recorded))
  for (const other of others) expect(other).toEqual(expected)
})
