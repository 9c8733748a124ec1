/** The answer to a JSON-RPC request. */
export type RpcAnswer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

/** The answer to a request that its sender has withdrawn. */
export const WITHDRAWN: RpcAnswer = { error: { code: -32800, message: 'Request cancelled' } }
