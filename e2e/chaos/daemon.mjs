// `agentproto serve` in its own process on a free port, and a minimal client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

/** @param options `port` of `serve`; `onPrinted` gets what it prints to stderr */
export async function startDaemon(root, { port = 0, onPrinted = () => undefined } = {}) {
  const home = join(root, 'home')
  const child = launch(root, home, port)
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed = (printed + text).slice(-8_192)
    onPrinted(text)
  })
  const exited = once(child, 'exit')
  const failed = exited.then(() => {
    throw new Error(`agentproto serve ended:\n${printed}`)
  })
  failed.catch(() => undefined)
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), failed])
  const headers = { authorization: `Bearer ${readFileSync(join(home, 'token'), 'utf8').trim()}` }
  return {
    url,
    headers,
    pid: child.pid,
    async call(method, path, body) {
      const init =
        body === undefined
          ? { method, headers }
          : { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const response = await fetch(`${url}${path}`, init)
      const answer = await response.json()
      if (!response.ok)
        throw Object.assign(new Error(`${method} ${path}: ${answer.detail}`), {
          code: answer.code,
          status: response.status,
        })
      return answer
    },
    async crash() {
      kill(servingPid(home, child.pid), 'SIGKILL')
      await exited
    },
    /** Ends it without its agents. */
    async leave() {
      child.kill('SIGQUIT')
      await exited
    },
    /** As by `agentproto restart`: it starts again in its place. */
    async restart() {
      const before = servingPid(home, child.pid)
      child.kill('SIGUSR2')
      while (servingPid(home, before) === before) await Promise.race([pause(25), failed])
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** The gateway of a home; one that was restarted is a child of the process that was started first. */
function servingPid(home, known) {
  try {
    return JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')).pid
  } catch {
    return known
  }
}

function kill(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Starts a gateway, and ends it after the given milliseconds. */
export async function crashAtBoot(root, ms, { port = 0, signal = 'SIGKILL' } = {}) {
  const child = launch(root, join(root, 'home'), port)
  const exited = once(child, 'exit')
  child.stdout.resume()
  child.stderr.resume()
  await pause(ms)
  child.kill(signal)
  await exited
}

function launch(root, home, port) {
  const env = {
    ...process.env,
    HOME: root,
    XDG_STATE_HOME: root,
    AGENTPROTO_HOME: home,
    AGENTPROTO_DEMO_HOME: join(root, 'demo'),
    CHAOS_ROOT: root,
  }
  const args = [cli, 'serve', '--port', String(port)]
  return spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** A port for a gateway that is started again and again: what its agents call stays where it was. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Calls until there is an answer of the gateway, over any number of its ends.
 * @param current returns the gateway of now
 */
export async function callUntilAnswered(current, { method, path, body }) {
  for (;;) {
    try {
      return await current().call(method, path, body)
    } catch (error) {
      // Without a code there was no answer: the gateway has ended, or has not started yet.
      if (error.code !== undefined && error.code !== 'shutting_down' && !isNetworkCode(error.code)) throw error
      await pause(50)
    }
  }
}

const isNetworkCode = (code) => typeof code !== 'string' || /^(E[A-Z]+|UND_.*)$/.test(code)
