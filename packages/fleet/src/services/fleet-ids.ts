import type { FleetIds } from '@agentproto/contracts/wire'
import type { SessionDirectory } from '../directory/session-directory.js'

/** Another host may have any id: none is free for an import, which gets a new one. */
export const NOT_KNOWN: FleetIds = { reserve: async () => false, release: async () => undefined }

export interface FleetIdsOptions {
  readonly directory: Pick<SessionDirectory, 'reserve' | 'forget'>
  readonly onProblem: (problem: string) => void
}

/** The ids of the directory. What cannot be asked now is not free: a new id is always right. */
export const fleetIds = ({ directory, onProblem }: FleetIdsOptions): FleetIds => ({
  reserve: (session) => directory.reserve(session).catch(() => false),
  release: (id) =>
    directory.forget(id).catch((thrown: unknown) => {
      onProblem(`The fleet keeps the id ${id} of an import that failed until the next start: ${String(thrown)}`)
    }),
})
