// `agentproto serve` in its own process on a free port, and a minimal client.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

export async function startDaemon(root) {
  const home = join(root, 'home')
  const child = launch(root, home)
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (printed = (printed + text).slice(-8_192)))
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
      if (!response.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.detail}`), { code: answer.code })
      return answer
    },
    async crash() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Starts a gateway, and kills it after the given milliseconds. */
export async function crashAtBoot(root, ms) {
  const child = launch(root, join(root, 'home'))
  const exited = once(child, 'exit')
  child.stdout.resume()
  child.stderr.resume()
  await new Promise((resolve) => setTimeout(resolve, ms))
  child.kill('SIGKILL')
  await exited
}

function launch(root, home) {
  const env = {
    ...process.env,
    HOME: root,
    XDG_STATE_HOME: root,
    AGENTPROTO_HOME: home,
    AGENTPROTO_DEMO_HOME: join(root, 'demo'),
    CHAOS_ROOT: root,
  }
  return spawn(process.execPath, [cli, 'serve', '--port', '0'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
}
