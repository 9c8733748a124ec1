import { join } from 'node:path'
import { createClient, type Client } from '@agentproto/client'
import { createGateway, type GatewayOptions } from '@agentproto/runtime'
import { onTestFinished } from 'vitest'
import { newMark, type Mark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

/** A gateway in this process, on a real socket, with its own home and folders. */
export interface TestGateway {
  readonly url: string
  readonly token: string
  readonly client: Client
  /** Folder that agents run in. */
  readonly cwd: string
  /** In the environment of every agent and its children. */
  readonly mark: Mark
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const mark = newMark()
  const cwd = temporaryFolder('cwd')
  const userHome = temporaryFolder('user')
  const ownHome = { HOME: userHome, XDG_STATE_HOME: join(userHome, '.local', 'state') }
  const env = { ...process.env, ...ownHome, ...options.env, ...mark.env }
  const gateway = await createGateway({ home: temporaryFolder('home'), cwd, ...options, env })
  onTestFinished(() => gateway.close())
  const { url, token } = await gateway.listen({ port: 0 })
  return { url, token, client: createClient({ url, token }), cwd, mark }
}
