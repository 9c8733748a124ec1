import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { finished } from './support/finished-process.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

// Each ```ts block of the guide is a whole program. It is compiled and run as a user would, against the packages' `dist`.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const GUIDE = readFileSync(join(ROOT, 'docs/guides/embed.md'), 'utf8')
const PROGRAMS = [...GUIDE.matchAll(/^## (.+)$(?:(?!^## )[\s\S])*?^```ts\n([\s\S]*?)^```$/gm)].map(
  ([, title = '', text = '']) => ({ title, text }),
)

const STRICT = {
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noUnusedLocals: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
}

const PRINTED: Readonly<Record<string, readonly string[]>> = {
  'Send a prompt': ['end_turn: echo: hello'],
  'Decide what the agent may do': [
    'I was allowed to write docs/made.txt.',
    'I was not allowed to write package.json. Reason: only the files in docs may be edited',
  ],
  'Follow what it does': ['plan: ', 'uses ', 'writes '],
  'Serve it to other programs': ['echo: hello', 'turn-end'],
}

test('every program of the guide is compiled and run', () => {
  expect(PROGRAMS.map(({ title }) => title)).toEqual(Object.keys(PRINTED))
  expect(GUIDE.match(/^```(?:ts|js)$/gm)).toHaveLength(PROGRAMS.length)
})

test('14.4.7 the programs of the guide compile strictly, and run', async () => {
  const folder = userProject()
  for (const [index, { text }] of PROGRAMS.entries()) writeFileSync(join(folder, `program-${index + 1}.ts`), text)
  expect(await compiled(folder)).toEqual({ code: 0, stdout: '', stderr: '' })
  for (const [index, { title }] of PROGRAMS.entries())
    await runs(folder, `program-${index + 1}.js`, PRINTED[title] ?? [])
})

const compiled = (folder: string) =>
  finished([join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: folder })

/** A project outside of the workspace, with what `npm install` would have put there. */
function userProject(): string {
  const folder = temporaryFolder('embed-guide')
  mkdirSync(join(folder, 'docs'))
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT }))
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}\n')
  for (const [name, target] of [
    ['@agentproto/runtime', 'packages/runtime'],
    ['@agentproto/client', 'packages/client'],
    ['@types/node', 'node_modules/@types/node'],
  ] as const) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, target), link)
  }
  return folder
}

async function runs(folder: string, file: string, printed: readonly string[]): Promise<void> {
  const mark = newMark()
  const env = { ...process.env, ...mark.env, HOME: folder, AGENTPROTO_HOME: join(folder, 'home') }
  const { code, stdout, stderr } = await finished([file], { cwd: folder, env })
  expect({ file, code, stderr }).toEqual({ file, code: 0, stderr: '' })
  for (const text of printed) expect(stdout).toContain(text)
  expect(mark.living()).toEqual([])
}
