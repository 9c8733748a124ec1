import type { JsonOption } from '../json-option.js'

export interface SessionsOptions extends JsonOption {
  readonly watch?: boolean
  readonly attach?: string
  readonly alive?: boolean
  readonly tree?: boolean
}
