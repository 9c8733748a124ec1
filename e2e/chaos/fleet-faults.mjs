// What goes wrong in a fleet, each once by its name. Resolves when the cause is gone; its effects may last longer.

/**
 * Each gets: `hosts` with `daemon` and `start`, `servers` of NATS, `leaseMs`, `awayMs` (how long all of NATS is away), `random` (0 to 1)
 */
export const FAULTS = {
  async 'gateway killed'({ hosts, random }) {
    const host = pick(hosts, random)
    await host.daemon.crash()
    await pause(random() * 3_000)
    await host.start()
  },
  async 'gateway frozen'({ hosts, leaseMs, random }) {
    const { pid } = pick(hosts, random).daemon
    process.kill(pid, 'SIGSTOP')
    // Before the three leases after which others may take what may move: a frozen gateway cannot end its agents.
    await pause(leaseMs * (1.2 + random()))
    process.kill(pid, 'SIGCONT')
  },
  async 'NATS server killed'({ servers, random }) {
    const server = pick(servers, random)
    await server.kill()
    await pause(random() * 5_000)
    await server.start()
  },
  async 'NATS server frozen'({ servers, random }) {
    const server = pick(servers, random)
    server.freeze()
    await pause(1_000 + random() * 7_000)
    server.thaw()
  },
  async 'NATS away'({ servers, awayMs }) {
    await Promise.all(servers.map((server) => server.kill()))
    await pause(awayMs)
    await Promise.all(servers.map((server) => server.start()))
  },
  async 'host lost'({ hosts, leaseMs, random }) {
    const host = pick(hosts, random)
    await host.daemon.crash()
    await pause(leaseMs * (3.5 + random()))
    await host.start()
  },
}

export function pick(list, random) {
  return list[Math.floor(random() * list.length)]
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
