/** What nearly every command takes. */
export interface JsonOption {
  readonly json?: boolean
}
