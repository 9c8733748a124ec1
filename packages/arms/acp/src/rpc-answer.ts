export type RpcAnswer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

/** The answer to a request that its sender has withdrawn. */
export const WITHDRAWN: RpcAnswer = { error: { code: -32800, message: 'Request cancelled' } }

/** The answer to a request that was dropped. */
export const UNREADABLE: RpcAnswer = { error: { code: -32600, message: 'The request could not be read' } }

/** JSON-RPC codes of what the host does not do for an agent. */
const CODES = { invalid: -32602, absent: -32002, failed: -32603 } as const

/** Why the host refused a request of the agent; it is sent to the agent only. */
export class HostRefusal extends Error {
  readonly code: number

  constructor(kind: keyof typeof CODES, message: string) {
    super(message)
    this.name = 'HostRefusal'
    this.code = CODES[kind]
  }
}
