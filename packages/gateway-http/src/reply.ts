/** Headers of every JSON answer: it may hold what an agent printed, so nobody keeps it. */
const JSON_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** A JSON answer. */
export const json = (body: unknown, status = 200, headers?: Readonly<Record<string, string>>): Response =>
  jsonText(JSON.stringify(body), status, headers)

/**
 * A JSON answer whose text is there already. Headers stay a plain object and the body a string: the Node
 * server then writes both at once, without a `Headers` or a stream in between.
 */
export const jsonText = (text: string, status = 200, headers?: Readonly<Record<string, string>>): Response =>
  new Response(text, { status, headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers } })
