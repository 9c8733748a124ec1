import { readFileSync } from 'node:fs'
import { AgentprotoError } from '@agentproto/contracts'
import { type GatewayConfig, type ManifestProblem, parseConfig } from '@agentproto/manifest'

/**
 * The owner's config.json.
 * @throws `invalid_request` with the first problem in its sentence and all in `problems`: a gateway never runs with
 * half of its settings
 */
export function readConfig(path: string): GatewayConfig {
  const result = parseConfig(read(path), { path })
  if (result.ok) return result.manifest
  throw refusal(result.problems)
}

function refusal(problems: readonly ManifestProblem[]): AgentprotoError {
  const first = problems.find(({ severity }) => severity === 'error')
  const place = first === undefined ? '' : `${first.file}:${first.line}:${first.column}: ${first.message}`
  const more = problems.length > 1 ? ` (${problems.length} problems in all)` : ''
  return new AgentprotoError('invalid_request', `The configuration is not valid${more}: ${place}`, {
    ...(first?.expected === undefined ? {} : { expected: first.expected }),
    ...(first?.given === undefined ? {} : { given: first.given }),
    ...(first?.suggestion === undefined ? {} : { hint: `Did you mean ${first.suggestion}?` }),
    data: { problems },
  })
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AgentprotoError('invalid_request', `The configuration ${path} cannot be read`, { cause })
  }
}
