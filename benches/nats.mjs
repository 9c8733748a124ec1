// Three real NATS servers with JetStream on loopback, as a fleet has them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connect } from '@nats-io/transport-node'
import { jetstreamManager } from '@nats-io/jetstream'
import { findProgram } from '../tooling/programs.mjs'

/** @returns their addresses, and what ends them; undefined without nats-server */
export async function startNatsServers(folder) {
  const program = findProgram('nats-server')
  if (program === undefined) return undefined
  const ports = await freePorts(6)
  const routes = ports.slice(3).map((port) => `nats://127.0.0.1:${port}`)
  const servers = routes.map((route, at) =>
    spawn(program, argsOf({ at, port: ports[at], route, routes, folder }), { stdio: 'ignore' }),
  )
  const urls = ports.slice(0, 3).map((port) => `nats://127.0.0.1:${port}`)
  await leaderElected(urls)
  return {
    urls,
    pids: servers.map(({ pid }) => pid),
    async stop() {
      await Promise.all(servers.map((server) => (server.kill('SIGKILL'), once(server, 'exit'))))
    },
  }
}

const argsOf = ({ at, port, route, routes, folder }) => [
  ...`-a 127.0.0.1 -p ${port} -js -n n${at} --cluster_name bench --cluster ${route}`.split(' '),
  '--routes',
  routes.join(','),
  '-sd',
  join(folder, `nats-${at}`),
]

async function leaderElected(urls) {
  const nats = await connect({
    servers: urls,
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  })
  for (let isElected = false; !isElected;) {
    isElected = await jetstreamManager(nats, { timeout: 1_000 })
      .then(({ streams }) => streams.add({ name: 'probe', subjects: ['probe'], num_replicas: 3 }))
      .then(
        () => true,
        () => false,
      )
  }
  await nats.close()
}

async function freePorts(count) {
  const holders = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(holders.map((holder) => once(holder, 'listening')))
  const ports = holders.map((holder) => holder.address().port)
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')))
  return ports
}
