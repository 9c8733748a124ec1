import { spawn, type ChildProcess } from 'node:child_process'
import { cutText } from '../bounded-text.js'
import type { Turn } from '../turn.js'
import { callTool, textContent, type ToolOutcome } from './tool-call.js'

const MAX_OUTPUT_CHARS = 64 * 1024

export async function run(turn: Turn, argument: string): Promise<void> {
  if (turn.session.state.modeId === 'plan') return turn.say(`I would run ${argument}.`)
  const title = cutText(`Run ${argument}`, 200)
  const start = { title, kind: 'execute', input: { command: argument } } as const
  const done = await callTool(turn, start, () => runTool(turn, argument))
  turn.say(done ? 'The command succeeded.' : 'The command failed.')
}

/** Runs in a process group of its own, as real agents' tools do, so that a cancel ends all of it. */
function runTool(turn: Turn, command: string): Promise<ToolOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      cwd: turn.session.state.cwd,
      shell: true,
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const killOnCancel = (): void => killGroup(child)
    turn.signal.addEventListener('abort', killOnCancel, { once: true })
    const output = collectOutput(child)
    child.once('error', reject)
    child.once('close', (exitCode, signal) => {
      turn.signal.removeEventListener('abort', killOnCancel)
      const text = output()
      resolve({ content: [textContent(text)], output: { exitCode, signal, text }, failed: exitCode !== 0 })
    })
  })
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL')
  } catch {
    // It ended by itself in the meantime.
  }
}

/** Both streams in the order of arrival; what is beyond the bound is dropped. */
function collectOutput(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      if (text.length <= MAX_OUTPUT_CHARS) text += chunk
    })
  }
  return () => cutText(text, MAX_OUTPUT_CHARS)
}
