import { AgentprotoError, isAgentprotoError, type DaemonRecord } from '@agentproto/contracts'

/** Adds to `daemon_running` where the other gateway answers; passes any other error on. */
export function nameOwner(readRecord: () => Promise<DaemonRecord | undefined>): (thrown: unknown) => Promise<never> {
  return async (thrown) => {
    if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_running') throw thrown
    const record = await readRecord()
    if (record === undefined) throw thrown
    throw new AgentprotoError(
      'daemon_running',
      `A gateway serves this home already: ${record.url}, process ${record.pid}`,
      {
        hint: 'Use it (agentproto status), stop it, or name another home with AGENTPROTO_HOME',
        data: { url: record.url, pid: record.pid },
        cause: thrown,
      },
    )
  }
}
