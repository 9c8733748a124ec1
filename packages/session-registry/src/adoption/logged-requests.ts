import { isDeepStrictEqual } from 'node:util'
import type { AgentRequest, Json } from '@agentproto/contracts'

/** The requests that the log has since the mark, in order. An agent that asks again is known by what it asks. */
export class LoggedRequests {
  readonly #waiting: { readonly requestId: string; readonly request: unknown }[]

  constructor(logged: readonly { readonly requestId: string; readonly request: unknown }[]) {
    this.#waiting = [...logged]
  }

  /**
   * The id of the request that is asked again, or that was answered; undefined for one that the log does not have.
   * @param request as the log would have it
   */
  take(request: Json): string | undefined {
    const at = this.#waiting.findIndex((each) => isDeepStrictEqual(each.request, request))
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]?.requestId
  }
}

/** A request as the log would have it. */
export const loggedRequest = (request: AgentRequest, redact: (text: string) => string = (text) => text): Json =>
  JSON.parse(redact(JSON.stringify(request))) as Json
