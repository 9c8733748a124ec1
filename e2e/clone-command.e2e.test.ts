import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from './support/temporary-folder.js'

// `bin/agentproto` is the command line of a clone, from any folder.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WRITE = ['run', 'demo', '--prompt', 'write here.txt hello', '--permissions', 'approve-all']

test('14.3.5 one word runs the command line of a clone in the folder where you stand', async () => {
  const home = temporaryFolder('clone')
  const cwd = newFolder(home, 'my shop')
  const added = await run(join(ROOT, 'bin/agentproto'), ['workspace', 'add', '.'], { cwd, home })
  expect(added).toMatchObject({ code: 0, stdout: 'my-shop\n' })
  const { workspaces } = JSON.parse(readFileSync(join(home, 'own/workspaces.json'), 'utf8')) as {
    workspaces: readonly { readonly path: string }[]
  }
  expect(workspaces.map(({ path }) => path)).toEqual([cwd])
})

test('14.3.5 it is found on PATH through links to links, whatever the names of the folders', async () => {
  const home = temporaryFolder('clone')
  builtClone(home)
  symlinkSync("my clone's $folder/bin/agentproto", join(home, 'first link'))
  const bin = newFolder(home, 'own bin')
  symlinkSync('../first link', join(bin, 'agentproto'))
  symlinkSync('own bin', join(home, 'bin link'))
  const cwd = newFolder(home, '-p')
  const path = `${join(home, 'bin link')}:${process.env['PATH']}`
  expect(await run('agentproto', WRITE, { cwd, home, env: { PATH: path, CDPATH: home } })).toMatchObject({ code: 0 })
  expect(readFileSync(join(cwd, 'here.txt'), 'utf8')).toContain('hello')
})

test('14.3.5 a clone that is not built is built first, and stdout has only the result', async () => {
  const home = temporaryFolder('clone')
  const clone = newClone(home)
  const path = pathWithNpx(home, 'mkdir -p packages/cli/bin packages/cli/dist', [
    `echo 'console.log("ran", ...process.argv.slice(2))' > packages/cli/bin/agentproto.mjs`,
    'touch packages/cli/dist/main.js',
    'echo "$PWD $*" > built',
    'echo what the build prints',
  ])
  const command = join(clone, 'bin/agentproto')
  const first = await run(command, ['a b', 'c'], { cwd: home, home, env: { PATH: path } })
  expect(first).toMatchObject({ code: 0, stdout: 'ran a b c\n' })
  expect(first.stderr).toContain('what the build prints')
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { packageManager: string }
  expect(readFileSync(join(clone, 'built'), 'utf8')).toBe(`${clone} -y ${packageManager} run build\n`)
  expect(await run(command, ['d'], { cwd: home, home, env: { PATH: path } })).toEqual({
    code: 0,
    stdout: 'ran d\n',
    stderr: '',
  })
})

test('14.3.5 a build that fails is reported with the command to run again', async () => {
  const home = temporaryFolder('clone')
  const clone = newClone(home)
  const path = pathWithNpx(home, 'exit 7', [])
  const { code, stdout, stderr } = await run(join(clone, 'bin/agentproto'), [], {
    cwd: home,
    home,
    env: { PATH: path },
  })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`In ${clone}, run: npx -y pnpm@`)
  expect(existsSync(join(clone, 'packages'))).toBe(false)
})

interface Place {
  readonly cwd: string
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
}

async function run(program: string, args: readonly string[], { cwd, home, env = {} }: Place) {
  const variables = { ...process.env, HOME: home, AGENTPROTO_HOME: join(home, 'own'), ...env }
  const child = spawn(program, args, { cwd, env: variables, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** A clone as it is before its first build. */
function newClone(parent: string): string {
  const clone = newFolder(parent, "my clone's $folder")
  newFolder(clone, 'bin')
  for (const file of ['bin/agentproto', 'package.json']) copyFileSync(join(ROOT, file), join(clone, file))
  return clone
}

function builtClone(parent: string): void {
  symlinkSync(join(ROOT, 'packages'), join(newClone(parent), 'packages'))
}

function newFolder(parent: string, name: string): string {
  const folder = join(parent, name)
  mkdirSync(folder)
  return folder
}

/** A PATH on which the build is this script: a real one takes minutes and a network. */
function pathWithNpx(home: string, first: string, more: readonly string[]): string {
  const folder = newFolder(home, 'programs')
  writeFileSync(join(folder, 'npx'), ['#!/bin/sh', 'set -e', first, ...more, ''].join('\n'), { mode: 0o755 })
  return `${folder}:${process.env['PATH']}`
}
