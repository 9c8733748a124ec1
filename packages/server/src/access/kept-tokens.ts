import { readFileSync } from 'node:fs'
import { parseJson } from '@agentproto/contracts'
import writeAtomic from 'write-file-atomic'
import * as z from 'zod'

/** The token of an agent that may outlive the gateway; its value is nowhere. */
export interface KeptToken {
  readonly id: string
  readonly sessionId: string
  readonly delegates: boolean
  readonly digest: Buffer
}

const fileSchema = z.strictObject({
  version: z.literal(1),
  tokens: z.array(
    z.strictObject({
      id: z.string().regex(/^[0-9a-f]{16}$/),
      session: z.string().min(1),
      delegates: z.boolean(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
})

/** The digests of such tokens, in a file that only the owner reads. What cannot be read or written makes no token valid. */
export class KeptTokens {
  readonly #path: string
  readonly #onProblem: (problem: string) => void

  constructor(path: string, onProblem: (problem: string) => void) {
    this.#path = path
    this.#onProblem = onProblem
  }

  read(): readonly KeptToken[] {
    const text = this.#text()
    if (text === undefined) return []
    const file = fileSchema.safeParse(parseJson(text))
    if (!file.success) {
      this.#onProblem(`${this.#path} cannot be read: the agents that go on have no access to the gateway`)
      return []
    }
    return file.data.tokens.map(({ id, session, delegates, sha256 }) => ({
      id,
      sessionId: session,
      delegates,
      digest: Buffer.from(sha256, 'hex'),
    }))
  }

  write(tokens: readonly KeptToken[]): void {
    const stored = tokens.map(({ id, sessionId, delegates, digest }) => ({
      id,
      session: sessionId,
      delegates,
      sha256: digest.toString('hex'),
    }))
    try {
      writeAtomic.sync(this.#path, JSON.stringify({ version: 1, tokens: stored }), { mode: 0o600 })
    } catch (thrown) {
      this.#onProblem(`${this.#path} cannot be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }

  #text(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8')
    } catch (thrown) {
      const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
      if (!isMissing) this.#onProblem(`${this.#path} cannot be read: ${String(thrown)}`)
      return undefined
    }
  }
}
