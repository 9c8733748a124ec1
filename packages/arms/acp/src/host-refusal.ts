/** JSON-RPC codes of what the host does not do for an agent. */
const CODES = { invalid: -32602, absent: -32002, failed: -32603 } as const

/** Why the host did not do what an agent asked it to; told to the agent, and nobody else. */
export class HostRefusal extends Error {
  readonly code: number

  constructor(kind: keyof typeof CODES, message: string) {
    super(message)
    this.name = 'HostRefusal'
    this.code = CODES[kind]
  }
}
