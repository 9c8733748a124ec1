import { visibleWorkspaces } from '@agentproto/contracts'
import * as z from 'zod'
import { defineTool } from '../tool.js'
import type { Tool } from '../tool.js'
import type { ToolAdapters, ToolWorkspaces } from '../tool-services.js'

/** The tools that tell what start_agent_session takes. */
export function catalogTools(adapters: ToolAdapters, workspaces: ToolWorkspaces): readonly Tool[] {
  return [listAdapters(adapters), listWorkspaces(workspaces)]
}

const listAdapters = (adapters: ToolAdapters): Tool =>
  defineTool({
    name: 'list_agent_adapters',
    description: 'List the agents that can be started, whether they are installed, and their modes.',
    input: z.strictObject({}),
    output: z.looseObject({ adapters: z.array(z.looseObject({ slug: z.string(), installed: z.boolean() })) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async () => ({ adapters: await adapters.list() }),
  })

const listWorkspaces = (workspaces: ToolWorkspaces): Tool =>
  defineTool({
    name: 'list_agent_workspaces',
    description: 'List the named folders and which is active.',
    input: z.strictObject({}),
    output: z.looseObject({ workspaces: z.array(z.looseObject({ slug: z.string(), path: z.string() })) }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    run: async (_args, { by }) => visibleWorkspaces(await workspaces.list(), by),
  })
