// The least that a keeper can be: a process that passes on what comes from either side. It keeps nothing and has no frames. What
// a prompt takes more through it is what the machine and Node take for two more hops each way.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { demoAgentPath } from '@agentproto/demo-agent'

/** Starts a relay, and behind it the demo agent. */
export async function startRelay(cwd, path) {
  const child = fork(fileURLToPath(import.meta.url), [cwd, path], { execArgv: [] })
  const exited = once(child, 'exit')
  await once(child, 'message')
  const socket = connect(path)
  await once(socket, 'connect')
  const stop = async () => {
    socket.destroy()
    await exited
  }
  return { pid: child.pid, stdin: socket, stdout: socket, stop }
}

async function relay(cwd, path) {
  const server = createServer((socket) => {
    const env = { ...process.env, AGENTPROTO_DEMO_HOME: cwd }
    const agent = spawn(process.execPath, [demoAgentPath], { stdio: ['pipe', 'pipe', 'inherit'], cwd, env })
    socket.on('data', (chunk) => agent.stdin.write(chunk))
    agent.stdout.on('data', (chunk) => socket.write(chunk))
    socket.once('close', () => {
      agent.kill('SIGKILL')
      server.close()
      process.disconnect()
    })
  })
  await once(server.listen(path), 'listening')
  process.send('listening')
}

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , cwd, path] = process.argv
  await relay(cwd, path)
}
