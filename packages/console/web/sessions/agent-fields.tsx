import type { AdapterSummary } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { Described } from '../parts/described.js'
import { shown } from '../parts/shown-text.js'
import { addressOf } from '../place.js'
import { OptionFields } from './option-fields.js'
import type { AgentChoice, WorkspaceChoice } from './placement.js'
import { PERMISSION_TEXT } from './start-request.js'

interface AgentFieldsProps {
  readonly agents: readonly AgentChoice[]
  /** Whether they are those of the host that serves this page. */
  readonly isHere: boolean
}

/** Which agent, in which of its modes, and how its permission requests are answered. */
export function AgentFields({ agents, isHere }: AgentFieldsProps) {
  const firstInstalled = agents.find(({ isInstalled }) => isInstalled)?.slug ?? ''
  const [kept, setSlug] = useState(firstInstalled)
  // Another host may not have it: what is chosen stays, and is refused, rather than replaced by another agent.
  const slug = kept === '' ? firstInstalled : kept
  const chosen = agents.find((agent) => agent.slug === slug)
  const { adapter } = chosen ?? {}
  return (
    <>
      {slug === '' ? (
        <p class="note warning">
          No agent is installed: install one in <a href={addressOf({ name: 'settings' })}>Settings</a>
          {isHere ? '' : ' of that host'}.
        </p>
      ) : null}
      <label>
        Agent
        <select name="adapter" required value={slug} onChange={({ currentTarget }) => setSlug(currentTarget.value)}>
          {chosen === undefined && slug !== '' ? <option value={slug}>{shown(slug)} (not installed)</option> : null}
          {agents.map((agent) => (
            <option key={agent.slug} value={agent.slug} disabled={!agent.isInstalled && agent.slug !== slug}>
              {shown(agent.name)}
              {agent.isInstalled ? '' : ' (not installed)'}
            </option>
          ))}
        </select>
      </label>
      <p class="note">
        Not here? <code>agentproto adapters search</code> finds the agents of the registry, and{' '}
        <code>agentproto adapters add acp:…</code> adds one{isHere ? '' : ' on that host'}.
      </p>
      {adapter === undefined ? null : <ModeField key={`mode ${slug}`} adapter={adapter} />}
      <label>
        Permission requests
        <select name="permissionMode">
          {Object.entries(PERMISSION_TEXT).map(([mode, words]) => (
            <option key={mode} value={mode}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {adapter === undefined ? null : <OptionFields key={`options ${slug}`} adapter={adapter} />}
    </>
  )
}

/** The modes of the agent, and what the chosen one does. */
function ModeField({ adapter: { modes, modeDescriptions } }: { readonly adapter: AdapterSummary }) {
  const [chosen, setChosen] = useState('')
  if (modes.length === 0) return null
  return (
    // A mode may have the name of something that every object has.
    <Described text={Object.hasOwn(modeDescriptions, chosen) ? modeDescriptions[chosen] : undefined}>
      {(about) => (
        <label>
          Mode
          <select
            name="mode"
            value={chosen}
            onChange={({ currentTarget }) => setChosen(currentTarget.value)}
            {...about}
          >
            <option value="">as the agent starts</option>
            {modes.map((mode) => (
              <option key={mode} value={mode}>
                {shown(mode)}
              </option>
            ))}
          </select>
        </label>
      )}
    </Described>
  )
}

interface PlaceFieldsProps {
  readonly workspaces: readonly WorkspaceChoice[]
  /** The one that is chosen until the person chooses; empty for none. */
  readonly active: string
}

/** The folder that it runs in. */
export function PlaceFields({ workspaces, active }: PlaceFieldsProps) {
  const [isWorktree, setIsWorktree] = useState(false)
  return (
    <>
      <WorkspaceField workspaces={workspaces} active={active} />
      <label>
        Folder instead <input name="cwd" placeholder="/path/of/a/folder" autocomplete="off" spellcheck={false} />
      </label>
      <label class="check">
        <input
          type="checkbox"
          name="worktree"
          checked={isWorktree}
          onChange={({ currentTarget }) => setIsWorktree(currentTarget.checked)}
        />{' '}
        in a git worktree of its own
      </label>
      {isWorktree ? (
        <div class="pair-of-fields">
          <label>
            Branch <input name="branch" placeholder="a new one" autocomplete="off" spellcheck={false} />
          </label>
          <label>
            Starts from <input name="base" placeholder="what is checked out" autocomplete="off" spellcheck={false} />
          </label>
        </div>
      ) : null}
      <label>
        Label <input name="label" maxLength={200} autocomplete="off" />
      </label>
    </>
  )
}

/** What the person has chosen stays when another host does not have it. */
function WorkspaceField({ workspaces, active }: PlaceFieldsProps) {
  const [chosen, setChosen] = useState<string>()
  const has = (slug: string): boolean => workspaces.some((each) => each.slug === slug)
  if (workspaces.length === 0 && chosen === undefined) return null
  const value = chosen ?? (has(active) ? active : (workspaces[0]?.slug ?? ''))
  return (
    <label>
      Workspace
      <select name="workspace" value={value} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
        {has(value) ? null : <option value={value}>{shown(value)} (not there)</option>}
        {workspaces.map(({ slug, text }) => (
          <option key={slug} value={slug} selected={slug === value}>
            {shown(text)}
          </option>
        ))}
      </select>
    </label>
  )
}
