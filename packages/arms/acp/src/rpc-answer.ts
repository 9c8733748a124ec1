/** The answer to a JSON-RPC request. */
export type RpcAnswer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

/** Of a request that whoever sent it has taken back. */
export const WITHDRAWN: RpcAnswer = { error: { code: -32800, message: 'Request cancelled' } }
