import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface CurlRequest {
  readonly method?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
}

export interface CurlAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came. */
  readonly text: string
}

/** A request of `curl` in its own process, to its end. */
export async function curl(url: string, request: CurlRequest = {}): Promise<CurlAnswer> {
  const child = spawn('curl', ['-sS', '-i', ...wordsOf(request), url], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  await once(child, 'close')
  if (child.exitCode !== 0) throw new Error(`curl ${url} ended with ${child.exitCode}: ${stderr}`)
  return parsed(stdout)
}

function wordsOf({ method = 'GET', token, headers = {}, body }: CurlRequest): string[] {
  const sent = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...headers,
  }
  return [
    '-X',
    method,
    ...Object.entries(sent).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['--data-binary', JSON.stringify(body)]),
  ]
}

function parsed(printed: string): CurlAnswer {
  const end = printed.indexOf('\r\n\r\n')
  const [first = '', ...lines] = printed.slice(0, end).split('\r\n')
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), text: printed.slice(end + 4) }
}
