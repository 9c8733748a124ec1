/** An agent of the registry, as it is named on the command line: `acp:<id>`, or `acp:<id>@<version>`. */
export interface AgentSource {
  readonly id: string
  readonly version?: string
}

/** Undefined for a source of another kind. */
export function agentSource(source: string): AgentSource | undefined {
  const [, id, version] = /^acp:([^@]*)(?:@(.+))?$/.exec(source) ?? []
  if (id === undefined) return undefined
  return version === undefined ? { id } : { id, version }
}
