import type { AgentRequest, RequestFacts, SessionRequest } from '@agentproto/contracts'
import { messageOf } from '../lifecycle/ending.js'
import { denial, type PolicyAnswer } from '../permissions/permission-policy.js'
import { requestFacts } from '../permissions/request-facts.js'
import { misfitOf } from '../requests/request-answer.js'
import type { GateVerdict } from '../requests/request-gate.js'
import type { SessionHost } from '../session-host.js'
import type { Verdict } from './input.js'
import type { SessionHandle } from './session-handle.js'

/** Asks the gate of the host, then the rules and the permission mode, about what an agent requests. */
export class Judge {
  readonly #session: SessionHandle
  readonly #host: Pick<SessionHost, 'gate' | 'onProblem'>
  /** Counts changes of the rules and the mode. */
  #reviews = 0

  constructor(session: SessionHandle, host: Pick<SessionHost, 'gate' | 'onProblem'>) {
    this.#session = session
    this.#host = host
  }

  /** Posts the verdict on a new request. What cannot be judged is left to a person. */
  async decide({ requestId, request }: { readonly requestId: string; readonly request: AgentRequest }): Promise<void> {
    const verdict = await this.#verdict(request).catch((error: unknown) => {
      this.#host.onProblem(`A request of session ${this.#session.id} could not be judged: ${messageOf(error)}`)
      return { said: undefined, isForPerson: true }
    })
    await this.#session.post({ type: 'judged', requestId, verdict })
  }

  /** Posts what a changed rule or mode says about requests that wait. */
  async review(pending: readonly SessionRequest[]): Promise<void> {
    this.#reviews += 1
    await Promise.all(
      pending.map(async ({ requestId, request }) => {
        const said = await this.#session.permissions.decide(request)
        if (said !== undefined) await this.#session.post({ type: 'policy-answer', requestId, said })
      }),
    )
  }

  async #verdict(request: AgentRequest): Promise<Verdict> {
    const verdict = await this.#host.gate?.(this.#session.snapshot(), request)
    if (verdict === undefined) return this.#ofPolicy(request)
    const said = saidByGate(request, verdict)
    return said === undefined
      ? { said, isForPerson: true, facts: await this.#facts(request) }
      : { said, isForPerson: false }
  }

  /** What was left to a person before a change is decided again: the rule of that change may answer it. */
  async #ofPolicy(request: AgentRequest): Promise<Verdict> {
    for (;;) {
      const reviews = this.#reviews
      const said = await this.#session.permissions.decide(request)
      if (said !== undefined) return { said, isForPerson: false }
      const facts = await this.#facts(request)
      if (reviews === this.#reviews) return { said, isForPerson: false, facts }
    }
  }

  #facts(request: AgentRequest): Promise<RequestFacts> | undefined {
    const { permissions } = this.#session
    return request.kind === 'permission' ? requestFacts(request, permissions.folders) : undefined
  }
}

/** Undefined leaves it to a person. */
function saidByGate(request: AgentRequest, verdict: NonNullable<GateVerdict>): PolicyAnswer | undefined {
  if ('person' in verdict) return undefined
  const answer = 'deny' in verdict ? denial(request, verdict.deny) : verdict.answer
  return misfitOf(request, answer) === undefined ? { answer, rule: 'hook onRequest' } : undefined
}
