import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BIN, cli, environment, folder, serve } from './cli-process.js'
import { needs } from '../../../tooling/needs.ts'

/** A home with a session and a workspace, and a PATH on which `agentproto` is. */
async function shellSetup(): Promise<{ home: string; env: NodeJS.ProcessEnv }> {
  const home = folder()
  await serve(home)
  await cli(['workspace', 'add', home, '--slug', 'shop'], { home })
  await cli(['sessions', 'start', 'demo', '--label', 'my-session', '--cwd', home], { home })
  const bin = folder('bin')
  symlinkSync(BIN, join(bin, 'agentproto'))
  return { home, env: environment({ home, env: { PATH: `${bin}:${process.env['PATH']}` } }) }
}

function shell(program: string, script: string, { home, env }: { home: string; env: NodeJS.ProcessEnv }): string {
  const path = join(home, 'script')
  writeFileSync(path, script)
  const { stdout, stderr, status } = spawnSync(program, [path], { encoding: 'utf8', env, cwd: home })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
}

test('bash completes commands, options, values and names', needs('bash'), async () => {
  const complete = `
source <(agentproto completion bash)
ask() {
  COMP_WORDS=(agentproto "$@")
  COMP_CWORD=$#
  _agentproto
  echo "\${COMPREPLY[*]}"
}
ask sessions pro
ask sessions prompt my
ask sessions prompt my-session --when-busy int
ask workspace use ''
ask run dem
ask config get sessions.idle
ask --nothing
complete -p agentproto
`
  expect(shell('bash', complete, await shellSetup())).toBe(
    [
      'prompt',
      'my-session',
      'interrupt',
      'shop',
      'demo',
      'sessions.idleMs',
      '',
      'complete -o default -F _agentproto agentproto',
      '',
    ].join('\n'),
  )
})

test('zsh completes, with descriptions', needs('zsh'), async () => {
  const complete = `
compdef() { : }
_describe() { shift; local name=$1; print -l -- "\${(@)described}" }
_files() { print files }
source <(agentproto completion zsh)
ask() { local -a words; words=(agentproto "$@"); local CURRENT=$(( $# + 1 )); _agentproto }
ask workspace use ''
ask sessions prompt my
ask sessions start demo --cwd ''
`
  const at = await shellSetup()
  expect(shell('zsh', complete, at)).toBe(`shop:${at.home}\nmy-session:demo, running\nfiles\n`)
})

test('fish completes, with descriptions', needs('fish'), async () => {
  const complete = `
agentproto completion fish | source
complete -C 'agentproto workspace use sh'
complete -C 'agentproto sessions interr'
`
  const at = await shellSetup()
  expect(shell('fish', complete, at)).toBe(
    `shop\t${at.home}\ninterrupt\tinterrupt the running turn; the session keeps running\n`,
  )
})
