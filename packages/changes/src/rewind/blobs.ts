import { AgentprotoError } from '@agentproto/contracts'
import type { Git } from '../git/git.js'

export interface BlobRequest {
  readonly oids: readonly string[]
  readonly signal: AbortSignal
}

/** @throws `checkpoint_failed` where the store lacks one */
export async function checkBlobs(git: Git, { oids, signal }: BlobRequest): Promise<void> {
  if (oids.length === 0) return
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)']
  const { stdout } = await git.run({ args, input: lines(oids), signal })
  const missing = stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(' blob'))
  if (missing.length > 0)
    throw new AgentprotoError(
      'checkpoint_failed',
      `The checkpoint is damaged: ${missing.length} files are missing in it.`,
      {
        hint: 'Choose another checkpoint.',
      },
    )
}

/** Their contents, in the same order. */
export async function* readBlobs(git: Git, { oids, signal }: BlobRequest): AsyncGenerator<Buffer> {
  if (oids.length === 0) return
  const input = new Input(git.stream({ args: ['cat-file', '--batch'], input: lines(oids), signal }))
  try {
    for (const oid of oids) {
      const header = await input.line()
      const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(header) ?? []
      if (size === undefined)
        throw new AgentprotoError('checkpoint_failed', `The content ${oid} cannot be read: ${header}`)
      const content = await input.take(Number(size))
      await input.take(1)
      yield content
    }
  } finally {
    await input.close()
  }
}

function* lines(oids: readonly string[]): Generator<Buffer> {
  for (let from = 0; from < oids.length; from += 500) yield Buffer.from(`${oids.slice(from, from + 500).join('\n')}\n`)
}

/** Bytes of an output, as many as are wanted. */
class Input {
  readonly #output: AsyncGenerator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(output: AsyncGenerator<Buffer>) {
    this.#output = output
  }

  async line(): Promise<string> {
    let end = this.#rest.indexOf(10)
    while (end < 0) {
      await this.#more()
      end = this.#rest.indexOf(10)
    }
    const line = this.#rest.toString('latin1', 0, end)
    this.#rest = this.#rest.subarray(end + 1)
    return line
  }

  async take(size: number): Promise<Buffer> {
    const chunks = [this.#rest]
    let length = this.#rest.length
    while (length < size) {
      const chunk = await this.#next()
      chunks.push(chunk)
      length += chunk.length
    }
    const all = chunks.length === 1 ? this.#rest : Buffer.concat(chunks)
    this.#rest = all.subarray(size)
    return all.subarray(0, size)
  }

  async close(): Promise<void> {
    await this.#output.return(undefined)
  }

  async #more(): Promise<void> {
    this.#rest = Buffer.concat([this.#rest, await this.#next()])
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#output.next()
    if (done === true) throw new AgentprotoError('checkpoint_failed', 'The output of git ended within a file.')
    return value
  }
}
