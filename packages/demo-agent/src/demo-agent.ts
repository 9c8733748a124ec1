import { helpText, parseCommandLine, versionText } from './command-line.js'
import { serveStdio } from './serve-stdio.js'

/** Entry of the executable: answers `--help` and `--version`, else speaks ACP until its client goes away. */
function main(argv: readonly string[]): void {
  const command = parseCommandLine(argv)
  switch (command.run) {
    case 'help':
      process.stdout.write(helpText())
      return
    case 'version':
      process.stdout.write(`${versionText()}\n`)
      return
    case 'refuse':
      process.stderr.write(`${command.message}\n`)
      process.exitCode = 2
      return
    case 'serve':
      serveStdio({ ...command.defaults, mcpHttp: command.mcpHttp, version: versionText() })
  }
}

main(process.argv.slice(2))
