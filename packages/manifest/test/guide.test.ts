import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { checkManifestFiles } from '@agentproto/manifest/node'
import { tempFolder } from './temp-folder.js'

test('12.C7 the example of docs/guides/write-a-manifest.md has no error and no warning', async () => {
  const page = await readFile(new URL('../../../docs/guides/write-a-manifest.md', import.meta.url), 'utf8')
  const files = [...page.matchAll(/^cat > (\S+) <<'END'\n([\s\S]*?)^END$/gm)].map(([, path = '', text = '']) => [
    path,
    text,
  ])
  expect(files.map(([path]) => path)).toEqual(['my-agent/AGENT-CLI.md', 'my-agent/ACP.md'])
  const root = await tempFolder(Object.fromEntries(files))
  expect((await checkManifestFiles([root])).map(({ ok, problems }) => ({ ok, problems }))).toEqual([
    { ok: true, problems: [] },
  ])
})
