import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runProgram } from '../src/program.js'
import { environment, type Ended, type Options } from './cli-process.js'

/** Runs a command to its end inside the test's process, which takes milliseconds. It cannot start a gateway. */
export async function runHere(args: readonly string[], options: Options): Promise<Ended> {
  const stdin = new PassThrough()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  stdin.end(options.input ?? '')
  const written = Promise.all([text(stdout), text(stderr)])
  const context = { stdin, stdout, stderr, env: environment(options), cwd: options.cwd ?? options.home }
  const code = await runProgram(context, args)
  stdout.end()
  stderr.end()
  const [out, err] = await written
  return { code, stdout: out, stderr: err }
}
