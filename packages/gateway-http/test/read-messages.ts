export interface Message {
  readonly id?: string
  readonly event?: string
  readonly data?: unknown
}

/** Parses a whole text of server-sent events; comments and retry are left out. */
export function parseMessages(text: string): Message[] {
  const blocks = text.split('\n\n').filter((block) => /^(?:id|event|data):/m.test(block))
  return blocks.map((block) => {
    const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]))
    const { id, event, data } = fields
    return {
      ...(id === undefined ? {} : { id }),
      ...(event === undefined ? {} : { event }),
      data: JSON.parse(data ?? 'null') as unknown,
    }
  })
}

/** Reads a stream to its end. */
export const readMessages = async (response: Response): Promise<Message[]> => parseMessages(await response.text())
