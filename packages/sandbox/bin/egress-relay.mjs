// egress-relay SOCKET PROXY_PORT FORWARDED_PORTS COMMAND [ARG…]: runs inside a sandbox without a network. It offers the
// command an HTTP proxy on the sandbox's loopback, which forwards to the gateway's proxy through a socket in the file
// system. A forwarded port leads to the same port of the host's loopback. A connection waits while the gateway is away for a
// moment, such as in an upgrade. Exits with the command.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { constants } from 'node:os'

const AWAY_MS = 10_000
const AGAIN_MS = 100
/** Nothing listens, or nothing is there yet. */
const AWAY = new Set(['ECONNREFUSED', 'ENOENT'])

const [socket, proxyPort, forwarded, command, ...args] = process.argv.slice(2)

await listen(Number(proxyPort), (client, outside) => client.pipe(outside).pipe(client))
for (const port of forwarded.split(',').filter(Boolean)) await listen(Number(port), forwardTo(port))

// The command may connect immediately, so it is started after the ports listen.
const child = spawn(command, args, { stdio: 'inherit' })
child.on('error', (error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(127)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))

async function listen(port, join) {
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    reach(client, (outside) => {
      const hangUp = () => {
        client.destroy()
        outside.destroy()
      }
      for (const end of [client, outside]) end.on('error', hangUp).on('close', hangUp)
      join(client, outside)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

/** Connects to the gateway, which may be away; hangs up when it does not come back. */
function reach(client, reached, until = performance.now() + AWAY_MS) {
  const outside = connect(socket)
  const failed = ({ code }) => {
    if (!AWAY.has(code) || performance.now() > until) client.destroy()
    else setTimeout(() => client.destroyed || reach(client, reached, until), AGAIN_MS)
  }
  outside.once('error', failed)
  outside.once('connect', () => {
    outside.off('error', failed)
    // The client may have hung up while it waited.
    if (client.destroyed) outside.destroy()
    else reached(outside)
  })
}

/** For programs that do not use a proxy: requests a tunnel for each connection. */
function forwardTo(port) {
  return (client, outside) => {
    let head = Buffer.alloc(0)
    const answered = (chunk) => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length < 4096) return
      outside.off('data', answered)
      if (!head.toString('latin1', 0, 16).startsWith('HTTP/1.1 200 ')) return client.destroy()
      client.write(head.subarray(end + 4))
      client.pipe(outside).pipe(client)
    }
    outside.on('data', answered)
    outside.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  }
}
