import { mcpArm } from '@agentproto/arm-mcp'
import type { McpProfileInput } from '@agentproto/arm-mcp'
import { fixtureLaunch } from '@agentproto/arm-testing'
import type { ArmSubject } from '@agentproto/arm-testing'

/** What a manifest of the fixture agent says of its notifications and questions. */
export const profile: McpProfileInput = {
  transport: 'stdio',
  data: {
    events: [
      {
        method: 'fixture/event',
        kind: 'event.said',
        call: 'call',
        session: 'thread',
        map: {
          say: { event: 'text-delta', text: 'event.text' },
          think: { event: 'thought', text: 'event.text' },
          tool: {
            event: 'tool-call',
            toolCallId: 'event.id',
            title: 'event.title',
            kind: 'read',
            status: 'in_progress',
          },
          'tool-end': {
            event: 'tool-result',
            toolCallId: 'event.id',
            title: 'event.title',
            output: 'event.output',
            succeeded: { at: 'event.status', is: 'completed' },
          },
        },
      },
    ],
    permissions: [
      {
        when: { fixture: 'permission' },
        call: 'call',
        toolCall: { toolCallId: 'toolCallId', title: 'message', kind: 'edit' },
        options: [
          { optionId: 'yes', kind: 'allow_once', reply: { action: 'accept', decision: 'yes', content: {} } },
          { optionId: 'no', kind: 'reject_once', reply: { action: 'decline', decision: 'no' } },
        ],
        cancelled: { action: 'cancel', decision: 'abort' },
      },
    ],
  },
}

export const subject: ArmSubject = {
  arm: mcpArm,
  start: (how) => ({ launch: fixtureLaunch('mcp', how), profile }),
}
