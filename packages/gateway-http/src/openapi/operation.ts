import type { ErrorCode } from '@agentproto/contracts'
import type * as z from 'zod'

/** What the OpenAPI document says of one method of one path. */
export interface Operation {
  /** `operationId`: what generated clients call it. */
  readonly id: string
  readonly summary: string
  /** The schema that the handler parses the query with. */
  readonly query?: z.ZodObject
  /** The schema that the handler parses the body with. */
  readonly body?: z.ZodType
  /** Successful answers by status. */
  readonly answers: Readonly<Record<number, Answer>>
  /** Codes of the problem documents that are its own, beside those that every route has. */
  readonly problems?: readonly ErrorCode[]
  /** Anyone may call it. */
  readonly open?: boolean
}

/** `METHOD /path/:param` → what there is to say of it. */
export type Operations = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`, Operation>>

export interface Answer {
  readonly description: string
  /** Of the JSON; none for an answer without a body. */
  readonly schema?: z.ZodType
  /** What the messages are, where the same answer comes as server-sent events too. */
  readonly stream?: string
  /** Comes as server-sent events alone. */
  readonly streamOnly?: boolean
  /** The media types of a text that is no JSON. */
  readonly text?: string | readonly string[]
  readonly headers?: readonly ('ETag' | 'Location' | 'Set-Cookie')[]
}

/** A JSON answer. */
export const answer = (description: string, schema: z.ZodType, more: Partial<Answer> = {}): Answer => ({
  description,
  schema,
  ...more,
})

/** The answers of a read that bears an `ETag`. */
export const tagged = (description: string, schema: z.ZodType): Operation['answers'] => ({
  200: answer(description, schema, { headers: ['ETag'] }),
  304: { description: 'It is as the `If-None-Match` says', headers: ['ETag'] },
})
