import type { AgentRequest, Session, StreamEvent } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { AttachScreen } from '../src/attach/attach-screen.js'
import { createPaint } from '../src/render/paint.js'
import { AttachDriver, ctrl, key, NOW, prompted } from './attach-driver.js'
import { session } from './samples.js'

// An attach to a session of another host.

const lost = (hostId: string, fields: Partial<Session> = {}): Session => ({
  ...session({ hostId, ...fields }),
  state: 'unreachable',
})

const permission: AgentRequest = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'Write a.txt' },
  options: [
    { optionId: 'once', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
}
const asked: StreamEvent = { type: 'agent-prompt', requestId: 'r1', request: permission }

const screenOf = (of: Session): AttachScreen =>
  new AttachScreen({ session: of, ownHost: 'desk', paint: createPaint(false), width: () => 120, height: () => 24 })

test('17.6 a host that is lost and comes back is reported once each, with what to do', () => {
  const driver = new AttachDriver({ hostId: 'tower' }, { width: 120 })
  driver.screen.setSession(session({ hostId: 'tower' }))
  expect(driver.said).toBe('')
  for (let times = 0; times < 2; times += 1) driver.screen.setSession(lost('tower'))
  expect(driver.said.replaceAll(/\n {2}/g, ' ')).toBe(
    '! The host tower is not heard from. The session continues here when it is back: start its gateway, or its network. See: agentproto hosts',
  )
  expect(driver.text).toContain('tower is not heard from   Ctrl-D detaches')
  driver.screen.setSession(session({ hostId: 'tower' }))
  expect(driver.said).toBe('! The host tower is back.')
  expect(driver.text).toContain('idle   /help')
})

test('17.6 while the host is lost nothing is sent, and the line, the queue and the question are kept', () => {
  const driver = new AttachDriver({ hostId: 'tower' }, { width: 120 })
  driver.show(prompted(), asked)
  expect(driver.text).toContain('[y]')
  driver.screen.setSession(lost('tower'))
  expect(driver.text).not.toContain('[y]')
  expect(driver.press('y')).toBeUndefined()
  expect(driver.press('\n')).toBeUndefined()
  expect(driver.text).toContain('The host tower is not heard from; your line is kept.\n')
  expect(driver.text).toContain('❯ y')
  expect(driver.press(ctrl('s'))).toBeUndefined()
  expect(driver.press(key('escape'))).toBeUndefined()
  expect(driver.press(ctrl('c'))).toBeUndefined()
  driver.screen.setSession(session({ hostId: 'tower' }))
  expect(driver.text).toContain('[y]')
})

test('17.6 a session that another host continues says so, and its status row names the host', () => {
  const tried = screenOf(session({ hostId: 'tower' }))
  expect(tried.live(NOW).rows[0]).toContain(' · on tower · ')
  tried.setSession(lost('tower', { onHostLoss: 'move' }))
  expect(tried.takeFinished().join(' ')).toContain('Another host continues the session when it stays away.')
  tried.setSession(session({ hostId: 'desk' }))
  expect(tried.takeFinished().join('')).toBe('! The host desk continues the session, which tower had.')
  expect(tried.live(NOW).rows[0]).not.toContain(' on ')
})

test('17.6 an attach to a session whose host is away begins with that', () => {
  expect(screenOf(lost('tower')).takeFinished()[0]).toContain('The host tower is not heard from.')
})
