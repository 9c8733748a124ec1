#!/usr/bin/env node
// Runs a program in a terminal: `pty-host.mjs COLUMNS COMMAND ARGUMENTS…`. Output is written as lines of JSON to stdout,
// `{"data"}`; keys are read as lines of JSON from stdin, `{"type"}`. This is a process of its own so that the program's
// process tree can be ended like that of any other agent.
import { createInterface } from 'node:readline'
import { spawn } from '@lydell/node-pty'

const [columns = '200', command = '', ...args] = process.argv.slice(2)
const { TERM = 'dumb' } = process.env
const terminal = spawn(command, args, {
  name: TERM,
  cols: Number(columns),
  rows: 50,
  cwd: process.cwd(),
  env: process.env,
})

terminal.onData((data) => {
  if (process.stdout.write(`${JSON.stringify({ data })}\n`)) return
  terminal.pause()
  process.stdout.once('drain', () => terminal.resume())
})

terminal.onExit(({ exitCode, signal }) => {
  process.stdout.write('', () => {
    // Exit like the program did. 0 means no signal.
    if (signal) {
      process.removeAllListeners('SIGTERM')
      process.kill(process.pid, signal)
      setTimeout(() => process.exit(128 + signal), 100)
    } else {
      process.exit(exitCode)
    }
  })
})

// The gateway closed the pipe.
const hangUp = () => terminal.kill('SIGHUP')
createInterface({ input: process.stdin })
  .on('line', (line) => terminal.write(JSON.parse(line).type))
  .on('close', hangUp)
process.on('SIGTERM', hangUp)
process.stdout.on('error', () => {})
