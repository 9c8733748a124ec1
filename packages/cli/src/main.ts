import type { CliContext } from './cli-context.js'
import { version } from './version.js'

/** Entry of the executable. `--version` is answered before anything else is loaded. */
async function main(argv: readonly string[]): Promise<number> {
  const context: CliContext = {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
  }
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`${version()}\n`)
    return 0
  }
  const { runProgram } = await import('./program.js')
  return runProgram(context, argv)
}

// `agentproto … | head` closes stdout early, which is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})
process.exitCode = await main(process.argv.slice(2))
