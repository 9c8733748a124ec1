import { once } from 'node:events'
import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import type { Server } from 'node:net'
import { randomId } from '@agentproto/contracts'

/** Name of the socket in its folder. */
export const PROXY_SOCKET = 'proxy'
/** Node does not name it. */
const O_PATH = 0o10000000

/**
 * Listens on the socket of a folder, in place of one that an earlier host has left there. A sandbox has the folder, not the
 * socket, so it finds the new one. The server is closed when that fails.
 */
export async function listenIn(folder: string, server: Server): Promise<void> {
  const isLinux = process.platform === 'linux'
  const held = await open(folder, (isLinux ? O_PATH : 0) | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    // The path of a socket has at most 107 bytes: on Linux an open folder has a short one.
    const at = isLinux ? `/proc/self/fd/${held.fd}` : folder
    // Under a name of its own: a server that is closed removes the path that it was given, whatever is there by then.
    const own = `${at}/${randomId('starting-')}`
    server.listen(own)
    await once(server, 'listening')
    await rename(own, `${at}/${PROXY_SOCKET}`)
  } catch (thrown) {
    server.close()
    throw thrown
  } finally {
    await held.close()
  }
}
