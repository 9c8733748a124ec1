import type { Client } from '@agentproto/client'
import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts/wire'

export const LIVE_CHECKS = ['start', 'prompt', 'interrupt', 'end', 'resume', 'resumed-prompt'].map(
  (name) => `live.${name}`,
)

export async function examine(client: Client, slug: string, request: DoctorRequest = {}): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = []
  for await (const check of client.adapters.doctor(slug, request)) checks.push(check)
  return checks
}

export const wrong = (checks: readonly DoctorCheck[]): DoctorCheck[] =>
  checks.filter(({ verdict }) => verdict === 'fail')
export const verdictOf = (checks: readonly DoctorCheck[], id: string) =>
  checks.find((check) => check.id === id)?.verdict
