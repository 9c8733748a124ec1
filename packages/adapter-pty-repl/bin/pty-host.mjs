#!/usr/bin/env node
// Runs a program in a terminal: `pty-host.mjs COLUMNS COMMAND ARGUMENTS…`. What it shows comes as lines of JSON on
// stdout, `{"data"}`; what is typed goes in as lines of JSON on stdin, `{"type"}`. A process of its own, so that the
// program's whole tree is ended like that of any other agent.
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
    // It ends as its program did. 0 is no signal.
    if (signal) {
      process.removeAllListeners('SIGTERM')
      process.kill(process.pid, signal)
      setTimeout(() => process.exit(128 + signal), 100)
    } else {
      process.exit(exitCode)
    }
  })
})

// The host has hung up.
const hangUp = () => terminal.kill('SIGHUP')
createInterface({ input: process.stdin })
  .on('line', (line) => terminal.write(JSON.parse(line).type))
  .on('close', hangUp)
process.on('SIGTERM', hangUp)
process.stdout.on('error', () => {})
