import { AgentprotoError, isAgentprotoError, systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { JsonFile } from '@agentproto/json-file'
import * as z from 'zod'
import type { Download, ProvisionHost } from '../provision-host.js'

/**
 * Which file each address of a registry had when it was first used, by its SHA-256. It outlives the adapter: removing an agent and
 * adding it again accepts no other file.
 */

type Host = Pick<ProvisionHost, 'home' | 'clock'>

/** The SHA-256 that the file of an address must have, if there was one. @throws `storage_failed` when that cannot be known */
export async function heldSha256(url: string, host: Host): Promise<string | undefined> {
  const address = addressOf(url)
  return (await readHeld(heldFile(host), host)).downloads.find((each) => each.url === address)?.sha256
}

/**
 * Holds the file of an address from now on. One that was verified, by a checksum that its caller or its registry gave, replaces what
 * was held.
 * @throws `install_failed` for another file than the one that is held, and where there are too many; `storage_failed`
 */
export async function holdDownload({ url, sha256, verified }: Download, host: Host): Promise<void> {
  const address = addressOf(url)
  const file = heldFile(host)
  await file.locked(async () => {
    const { version, downloads } = await readHeld(file, host)
    const held = downloads.find((each) => each.url === address)
    if (held?.sha256 === sha256) return
    if (held !== undefined && !verified) throw changedDownload({ url, held: held.sha256, found: sha256 })
    if (held === undefined && downloads.length >= HELD_MAX) {
      // Its checksum is known from elsewhere.
      if (verified) return
      throw tooMany(host)
    }
    const at = new Date((host.clock ?? systemClock).now()).toISOString()
    await file.write({
      version,
      downloads: [...downloads.filter((each) => each !== held), { url: address, sha256, at }],
    })
  })
}

/** The failure of an install whose download was another file than the one that is held. */
export async function asChanged(thrown: unknown, url: string, host: Host): Promise<unknown> {
  const found = isAgentprotoError(thrown) ? otherFile(thrown) : undefined
  const held = found === undefined ? undefined : await heldSha256(url, host)
  return found === undefined || held === undefined ? thrown : changedDownload({ url, held, found, cause: thrown })
}

/** The SHA-256 of a download that was refused. */
function otherFile({ parts: { data } }: AgentprotoError): string | undefined {
  const attempts = refusedAttempts.safeParse(data)
  return attempts.success ? attempts.data.attempts.find(({ sha256 }) => sha256 !== undefined)?.sha256 : undefined
}

const refusedAttempts = z.object({ attempts: z.array(z.object({ sha256: z.string().optional() })) })

interface Changed {
  readonly url: string
  readonly held: string
  readonly found: string
  readonly cause?: unknown
}

const changedDownload = ({ url, held, found, cause }: Changed): AgentprotoError =>
  new AgentprotoError(
    'install_failed',
    `Another file is at ${url} than the one that was first downloaded from there; it was not run`,
    {
      expected: `SHA-256 ${held}`,
      given: found,
      hint: `If you know why it changed, take it by the same command with --sha256 ${found}`,
      data: { sha256: found },
      cause,
    },
  )

/** Enough for years of versions; its owner can remove old ones. */
const HELD_MAX = 1_000

const tooMany = (host: Host): AgentprotoError =>
  new AgentprotoError(
    'install_failed',
    `The checksums of ${HELD_MAX} downloads are held; no first download is accepted`,
    {
      hint: `Give its checksum with --sha256, or remove what you no longer need from ${homeLayout(host.home).heldDownloads}`,
    },
  )

/** The part after `#` is not sent: the same file would have many addresses. */
function addressOf(url: string): string {
  const address = new URL(url)
  address.hash = ''
  return address.href
}

const heldSchema = z.strictObject({
  version: z.literal(1),
  downloads: z.array(
    z.strictObject({ url: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/), at: z.string() }).readonly(),
  ),
})
type Held = z.infer<typeof heldSchema>

const heldFile = ({ home, clock }: Host): JsonFile<Held> =>
  new JsonFile({
    path: homeLayout(home).heldDownloads,
    what: 'file of held downloads',
    schema: heldSchema,
    empty: { version: 1, downloads: [] },
    clock,
  })

/** One that cannot be understood is not moved aside: any file would be taken for the first one then. */
async function readHeld(file: JsonFile<Held>, { home }: Host): Promise<Held> {
  const { content, problem } = await file.read()
  if (problem === undefined) return content
  const path = homeLayout(home).heldDownloads
  throw new AgentprotoError(
    'storage_failed',
    `Which downloads are held is not known: ${path} cannot be read: ${problem}`,
    {
      hint: 'Repair it. If you remove it, the next download from each address counts as the first one',
    },
  )
}
