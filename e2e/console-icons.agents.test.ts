import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { startGateway } from './support/gateway.js'
import { ownAdapter } from './support/own-adapter.js'

// The icon that the entry of an agent names: loaded by the gateway, cleaned, and shown as an image.

/** What the tests read of an image: they are compiled without the types of a browser. */
interface HTMLImage {
  readonly naturalWidth: number
}

const HOSTILE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" onload="alert(1)"><script>alert(1)</script>
<image href="https://example.com/track.png"/><path d="M0 0h16v16z" fill="url(https://example.com/x)"/></svg>`

/** An adapter as it is written from an entry whose icon is at the address. */
const withIcon = (icon: string): string => {
  const entry = { url: 'https://example.com/registry.json', id: 'own', name: 'Own', version: '1.0.0', icon, way: 'npx' }
  const registry = { ...entry, sha256: '0'.repeat(64), added_at: '2026-01-01T00:00:00.000Z' }
  return ownAdapter({ setup: [], metadata: { agentproto: { registry } } })
}

async function iconServer(svg: string): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(svg)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.svg`, asked }
}

test('an agent has its icon in the settings, and nothing of it is executed or loaded', needs('chromium'), async () => {
  const server = await iconServer(HOSTILE)
  const gateway = await startGateway()
  await gateway.client.adapters.add(withIcon(server.url))
  expect(await gateway.client.adapters.icon('own')).toBe(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M0 0h16v16z"></path></svg>',
  )
  const { page, problems } = await openConsole(gateway, { place: '/settings' })
  const loaded: string[] = []
  page.on('request', (request) => loaded.push(request.url()))
  await page.reload()
  await page.getByRole('searchbox', { name: 'Search in the agents' }).fill('behind a setup')
  const icon = page.getByRole('region', { name: 'Agents' }).locator('img')
  await expect
    .poll(() => icon.evaluate((image) => (image as unknown as HTMLImage).naturalWidth).catch(() => 0))
    .toBeGreaterThan(0)
  await page.getByText('from the registry').first().waitFor()
  expect(loaded.filter((url) => !url.startsWith(gateway.url))).toEqual([])
  expect(server.asked).toEqual(['/a.svg'])
  expect(problems).toEqual([])
})

test('an agent without an icon that can be shown has none, and the list works', needs('chromium'), async () => {
  const server = await iconServer('<html/>')
  const gateway = await startGateway()
  await gateway.client.adapters.add(withIcon(server.url))
  await expect(gateway.client.adapters.icon('own')).rejects.toMatchObject({ code: 'icon_not_found' })
  await expect(gateway.client.adapters.icon('demo')).rejects.toMatchObject({ code: 'icon_not_found' })
  const { page } = await openConsole(gateway, { place: '/settings' })
  await page.getByRole('searchbox', { name: 'Search in the agents' }).fill('behind a setup')
  await page.getByText(/^1 of \d+ agents$/).waitFor()
  expect(server.asked).toEqual(['/a.svg'])
})
