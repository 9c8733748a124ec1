import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { cli, folder } from './cli-process.js'

const demo = fileURLToPath(new URL('../../demo-agent/bin/demo-agent.mjs', import.meta.url))

test('12.C7 manifest init writes a template that validates, and replaces nothing', async () => {
  const [home, cwd] = [folder(), folder()]
  expect(await cli(['manifest', 'init', 'my-agent'], { home, cwd })).toMatchObject({ code: 0 })
  expect(readdirSync(join(cwd, 'my-agent')).toSorted()).toEqual(['ACP.md', 'AGENT-CLI.md'])
  const checked = await cli(['manifest', 'validate', 'my-agent', '--format', 'json'], { home, cwd })
  expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true, files: [{ problems: [] }] })
  const again = await cli(['manifest', 'init', 'my-agent'], { home, cwd })
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('not empty')])
  expect((await cli(['manifest', 'init', 'My Agent'], { home, cwd })).code).toBe(2)
})

test('12.C7 manifest init --from writes what a running agent answers', async () => {
  const [home, cwd] = [folder(), folder()]
  const made = await cli(['manifest', 'init', 'other', '--from', process.execPath, demo, '--', '--mode', 'plan'], {
    home,
    cwd,
  })
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('manifest validate')])
  const text = readFileSync(join(cwd, 'other/AGENT-CLI.md'), 'utf8')
  expect(text).toContain('resumable: true')
  expect(text).toMatch(/modes:\n {2}- id: default/)
  expect(readFileSync(join(cwd, 'other/ACP.md'), 'utf8')).toContain('loadSession: true')
  expect((await cli(['manifest', 'validate', 'other'], { home, cwd })).code).toBe(0)
  const failed = await cli(['manifest', 'init', 'third', '--from', '/bin/false'], { home, cwd })
  expect([failed.code, existsSync(join(cwd, 'third'))]).toEqual([1, false])
})

test('12.C7 manifest validate reads from stdin, with the kind of --as', async () => {
  const [home, cwd] = [folder(), folder()]
  await cli(['manifest', 'init', 'my-agent'], { home, cwd })
  const at = join(cwd, 'my-agent')
  const input = readFileSync(join(at, 'AGENT-CLI.md'), 'utf8')
  expect(await cli(['manifest', 'validate', '-'], { home, cwd: at, input })).toMatchObject({ code: 0 })
  const broken = await cli(['manifest', 'validate', '-'], { home, cwd: at, input: input.replace('"*"', '>=1.0.0') })
  expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining("try: range: '>=1.0.0'")])
  expect(broken.stdout).toContain('<stdin>:')
  const acp = readFileSync(join(at, 'ACP.md'), 'utf8')
  expect(await cli(['manifest', 'validate', '-', '--as', 'ACP.md'], { home, cwd, input: acp })).toMatchObject({
    code: 0,
  })
})

test('12.C7 manifest schema prints each schema, and where its file is', async () => {
  const home = folder()
  const names = (await cli(['manifest', 'schema'], { home })).stdout.trim().split('\n')
  expect(names).toContain('agent-cli')
  for (const name of names) {
    expect(JSON.parse((await cli(['manifest', 'schema', name], { home })).stdout)).toMatchObject({
      $id: `${name}.schema.json`,
    })
    const path = (await cli(['manifest', 'schema', name, '--path'], { home })).stdout.trim()
    expect(existsSync(path)).toBe(true)
  }
  expect((await cli(['manifest', 'schema', 'agent'], { home })).code).toBe(2)
})
