// Real nats-servers with JetStream on loopback ports of their own, for tests and for scripts under e2e and benches.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from './programs.mjs'

/**
 * @param size 1, or 3 for a cluster, which may still have to elect its leader
 * @param args further arguments of each server, such as a configuration
 */
export async function launchNats(size, args = []) {
  const root = mkdtempSync(join(tmpdir(), 'agentproto-nats-'))
  const ports = await freePorts(size * 2)
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`)
  const servers = Array.from({ length: size }, (_, i) => {
    const cluster =
      size === 1 ? [] : ['--cluster_name', 'test', '--cluster', routes[i], '--routes', routes.join(','), '-n', `n${i}`]
    return new Server(ports[i], ['-js', '-sd', join(root, `n${i}`), ...cluster, ...args])
  })
  await Promise.all(servers.map((server) => server.start()))
  return {
    servers,
    async stop() {
      await Promise.all(servers.map((server) => server.kill()))
      rmSync(root, { recursive: true, force: true })
    },
  }
}

class Server {
  #port
  #args
  #process

  constructor(port, args) {
    this.#port = port
    this.url = `nats://127.0.0.1:${port}`
    this.#args = ['-a', '127.0.0.1', '-p', String(port), ...args]
  }

  get pid() {
    return this.#process?.pid ?? 0
  }

  async start() {
    const program = findProgram('nats-server')
    if (program === undefined) throw new Error('nats-server is missing')
    const started = spawn(program, this.#args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = started
    await ready(started, this.#port)
  }

  async kill() {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  freeze() {
    this.#process?.kill('SIGSTOP')
  }

  thaw() {
    this.#process?.kill('SIGCONT')
  }
}

/** Resolves when it listens; rejects with what it printed when it ends before. */
async function ready(started, port) {
  let printed = ''
  started.stderr.setEncoding('utf8').on('data', (text) => (printed = (printed + text).slice(-8_192)))
  while (!(await isListening(port))) {
    if (started.exitCode !== null) throw new Error(`nats-server ended (${started.exitCode}): ${printed}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function isListening(port) {
  const socket = createConnection({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function freePorts(count) {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(holders.map((holder) => once(holder, 'listening')))
  const ports = holders.map((holder) => holder.address().port)
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')))
  return ports
}
