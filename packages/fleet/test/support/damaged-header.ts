import { once } from 'node:events'
import { connect } from 'node:net'
import type { NatsServer } from './nats-servers.ts'
import type { StoredCopy } from './stored.ts'

/**
 * Stores a signed message once more with all of its headers. NATS 2.9 does not see the expected sequence behind a line that has only its
 * name, and clients leave that line out.
 */
export async function storeDamaged(
  { url }: Pick<NatsServer, 'url'>,
  { subject, headers, body }: StoredCopy,
): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  await once(socket, 'data')
  const lines = [...headers].flatMap(([name, values]) => values.map((value) => `${name}: ${value}`))
  const head = ['NATS/1.0', 'Nats-Expected-Last-Subject-Sequence', ...lines, '', ''].join('\r\n')
  const total = Buffer.byteLength(head) + body.length
  socket.write('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n')
  socket.write(`HPUB ${subject} ${Buffer.byteLength(head)} ${total}\r\n`)
  socket.write(Buffer.concat([Buffer.from(head), body, Buffer.from('\r\nPING\r\n')]))
  await once(socket, 'data')
  socket.destroy()
}
