// The gateway as people run it, `agentproto serve`, and as an embedder runs it, `createGateway()` in a process without flags.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createHttp } from './http-client.mjs'
import { now } from './measure.mjs'

/** The command `agentproto`. */
export const cli = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

/**
 * `startMs` is the time until `/health` answers.
 * @param keeper whether a keeper holds the pipes of its agents
 * @param cluster how it joins a fleet; absent for a gateway alone
 */
export async function startDaemon(home, cwd, { keeper = false, cluster } = {}) {
  // What checkpoints cost is measured by changes.mjs and checkpointed-turns.mjs: here the next prompt would wait for one.
  mkdirSync(home, { recursive: true, mode: 0o700 })
  writeFileSync(`${home}/config.json`, JSON.stringify({ checkpoints: { enabled: false }, keeper, cluster }), {
    mode: 0o600,
  })
  const began = now()
  const env = { ...process.env, AGENTPROTO_HOME: home, AGENTPROTO_DEMO_HOME: cwd }
  const args = [cli, 'serve', '--port', '0']
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const url = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve)
    void exited.then((code) => reject(new Error(`the gateway ended with ${code}`)))
  })
  const http = createHttp({ url, token: readFileSync(`${home}/token`, 'utf8').trim() })
  await http.call('GET', '/health')
  const startMs = now() - began
  const end = async (signal) => {
    child.kill(signal)
    await exited
    http.close()
  }
  return { http, url, home, pid: child.pid, startMs, stop: () => end('SIGTERM'), crash: () => end('SIGKILL') }
}

export async function startEmbedded(home, cwd) {
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: cwd }
  const child = fork(fileURLToPath(import.meta.url), [home, cwd], { env, execArgv: [] })
  const exited = once(child, 'exit')
  const [address] = await once(child, 'message')
  const http = createHttp(address)
  const stop = async () => {
    child.send('close')
    await exited
    http.close()
  }
  return { http, pid: child.pid, stop }
}

/** Starts a session of the demo agent and returns its id. */
export async function startSession(http, cwd) {
  return (await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd })).id
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const { createGateway } = await import('@agentproto/runtime')
  const [, , home, cwd] = process.argv
  const gateway = await createGateway({ home, cwd, checkpoints: { enabled: false } })
  process.once('message', () => void gateway.close().then(() => process.disconnect()))
  process.send(await gateway.listen({ port: 0 }))
}
