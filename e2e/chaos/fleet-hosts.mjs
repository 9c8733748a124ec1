// The gateways of a fleet, each with a home and a workspace `shop` of its own.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startDaemon } from './daemon.mjs'

/** @param options `root`, `servers` of NATS, `leaseMs`, `onPrinted` */
export async function prepareHosts(names, { root, ...options }) {
  const key = join(root, 'fleet.key')
  writeFileSync(key, randomBytes(32).toString('base64url'), { mode: 0o600 })
  return Promise.all(names.map((name) => prepareHost(name, { ...options, folder: join(root, name), key })))
}

async function prepareHost(name, { folder, key, servers, leaseMs, onPrinted }) {
  const home = join(folder, 'home')
  const shop = join(folder, 'shop')
  for (const each of [home, shop]) mkdirSync(each, { recursive: true, mode: 0o700 })
  const cluster = { servers, key, host: name, leaseMs }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ keeper: true, cluster }))
  const port = await freePort()
  return {
    name,
    folder,
    shop,
    /** The gateway of now. */
    daemon: undefined,
    /** Starts it, with the workspace. */
    async start() {
      this.daemon = await startDaemon(folder, { port, onPrinted })
      const { workspaces } = await this.daemon.call('GET', '/workspaces')
      if (!workspaces.some(({ slug }) => slug === 'shop'))
        await this.daemon.call('POST', '/workspaces', { path: shop, slug: 'shop' })
    },
  }
}
