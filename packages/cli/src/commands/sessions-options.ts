import type { JsonOption } from '../json-option.js'
import type { SortKey } from '../render/session-order.js'

export interface SessionsOptions extends JsonOption {
  readonly watch?: boolean
  readonly attach?: string
  readonly alive?: boolean
  readonly tree?: boolean
  readonly sort?: SortKey
}
