import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

const megabytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024

/** Watches what a process holds at most, beyond what it held before. */
export function watchMemory(pid: number): { readonly beyond: () => number } {
  const before = megabytes(pid)
  let most = before
  const timer = setInterval(() => (most = Math.max(most, megabytes(pid))), 50)
  onTestFinished(() => clearInterval(timer))
  return { beyond: () => most - before }
}

const text = (words: string): object[] => [{ type: 'text', text: words }]

/** Messages of which a client sends as many as it can, all about one session. */
export const STORMS: Readonly<Record<string, (sessionId: string) => (at: number) => object>> = {
  'of notifications that mean nothing': () => () => ({ jsonrpc: '2.0', method: 'nothing', params: {} }),
  'of answers to nothing': () => (id) => ({ jsonrpc: '2.0', id, result: {} }),
  'of requests that nobody knows': () => (id) => ({ jsonrpc: '2.0', id, method: 'nothing', params: {} }),
  'of requests under one id': () => () => ({ jsonrpc: '2.0', id: 7, method: 'session/list', params: {} }),
  'of cancels': (sessionId) => () => ({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } }),
  'of cancelled requests': () => (requestId) => ({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId } }),
  'of sessions that are loaded again': (sessionId) => (id) => ({
    jsonrpc: '2.0',
    id,
    method: 'session/load',
    params: { sessionId, cwd: '/', mcpServers: [] },
  }),
  'of prompts': (sessionId) => (id) => ({
    jsonrpc: '2.0',
    id,
    method: 'session/prompt',
    params: { sessionId, prompt: text('hang') },
  }),
}
