import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAdapter } from '@agentproto/provisioning'
import { expect, test } from 'vitest'
import { ledgerFile } from '../src/ledger.ts'
import { type RemoveAdapter, removeAdapter } from '../src/remove-adapter.ts'
import { adapterOf, folder, hostOf, textAt } from './test-host.ts'

/** A home with the adapter `tool`, its installed agent and its ledger. */
async function homeWithTool(): Promise<string> {
  const host = hostOf()
  await addAdapter((await adapterOf({})).directory, host, new AbortController().signal)
  mkdirSync(join(host.home, 'agents/tool/bin'), { recursive: true })
  await ledgerFile('tool', host).change((ledger) => [{ ...ledger }, undefined])
  return host.home
}

const remove = (home: string, slug: string, more: Partial<RemoveAdapter> = {}): Promise<boolean> =>
  removeAdapter(slug, { home, otherSource: async () => undefined, liveSessions: async () => [], ...more })

test('12.C7 an adapter of the home is removed with its agent and the record of its setup', async () => {
  const home = await homeWithTool()
  expect(await remove(home, 'tool')).toBe(true)
  for (const place of ['adapters', 'agents', 'provisioning']) expect(readdirSync(join(home, place))).toEqual([])
  await expect(remove(home, 'tool')).rejects.toMatchObject({ code: 'adapter_not_found' })
})

test('12.C7 the agent stays where another adapter has the name, and one with a broken manifest is removed too', async () => {
  const home = await homeWithTool()
  writeFileSync(join(home, 'adapters/tool/AGENT-CLI.md'), 'nothing')
  expect(await remove(home, 'tool', { otherSource: async () => 'bundled' })).toBe(false)
  expect([existsSync(join(home, 'adapters/tool')), existsSync(join(home, 'agents/tool/bin'))]).toEqual([false, true])
  expect(readdirSync(join(home, 'provisioning'))).toEqual(['tool.json'])
})

test('12.C7 what is not of the home is refused with its source, and no name leads out of the folder', async () => {
  const home = await homeWithTool()
  const refused = (message: string) => ({ code: 'adapter_not_found', message: expect.stringContaining(message) })
  await expect(remove(home, 'codex', { otherSource: async () => 'bundled' })).rejects.toMatchObject(
    refused('it ships with agentproto'),
  )
  await expect(remove(home, 'shop', { otherSource: async () => 'workspace' })).rejects.toMatchObject(
    refused('in the folder of a workspace'),
  )
  for (const slug of ['..', '.', '', '../agents/tool', 'tool/..', '.old-tool-00000000', 'tool/bin', 'TOOL', 'a\0b'])
    await expect(remove(home, slug)).rejects.toMatchObject(refused('there is none of that name'))
  expect(existsSync(join(home, 'adapters/tool/AGENT-CLI.md'))).toBe(true)
})

test('12.C7 of a link in the home, the link is removed and not what it leads to', async () => {
  const home = await homeWithTool()
  const elsewhere = folder('elsewhere')
  writeFileSync(join(elsewhere, 'AGENT-CLI.md'), 'mine')
  symlinkSync(elsewhere, join(home, 'adapters/linked'))
  await remove(home, 'linked')
  expect([readdirSync(elsewhere), readdirSync(join(home, 'adapters'))]).toEqual([['AGENT-CLI.md'], ['tool']])
})

test('12.C7 an adapter that a session runs, or that is being installed, stays', async () => {
  const home = await homeWithTool()
  await expect(remove(home, 'tool', { liveSessions: async () => ['ses_1'] })).rejects.toMatchObject({
    code: 'session_live',
    message: expect.stringContaining('ses_1'),
  })
  await ledgerFile('tool', { home }).locked(async () => {
    await expect(remove(home, 'tool')).rejects.toMatchObject({ code: 'provisioning_busy' })
  })
  expect(existsSync(join(home, 'adapters/tool/AGENT-CLI.md'))).toBe(true)
})

test('12.C5 an adapter is removed by its id, not by the name of its folder', async () => {
  const home = await homeWithTool()
  const folderOfOther = join(home, 'adapters/other')
  renameSync(join(home, 'adapters/tool'), folderOfOther)
  const manifest = join(folderOfOther, 'AGENT-CLI.md')
  writeFileSync(manifest, textAt(manifest).replace('"name":"tool"', '"name":"other"'))
  await expect(remove(home, 'other')).rejects.toMatchObject({ code: 'adapter_not_found' })
  expect(await remove(home, 'tool')).toBe(true)
  expect(readdirSync(join(home, 'adapters'))).toEqual([])
})
