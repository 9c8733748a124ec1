import type { AdapterSummary, WorkspacesFile } from '@agentproto/client'
import { useState } from 'preact/hooks'
import { Described } from '../parts/described.js'
import { shown } from '../parts/shown-text.js'
import { addressOf } from '../router.js'
import { OptionFields } from './option-fields.js'
import { PERMISSION_TEXT } from './start-request.js'

/** Which agent, in which of its modes, and how its permission requests are answered. */
export function AgentFields({ adapters }: { readonly adapters: readonly AdapterSummary[] }) {
  const sorted = adapters.toSorted((a, b) => Number(b.installed) - Number(a.installed) || a.name.localeCompare(b.name))
  const [slug, setSlug] = useState(sorted.find(({ installed }) => installed)?.slug ?? '')
  const chosen = sorted.find((adapter) => adapter.slug === slug)
  return (
    <>
      {slug === '' ? (
        <p class="note warning">
          No agent is installed: install one in <a href={addressOf({ name: 'settings' })}>Settings</a>.
        </p>
      ) : null}
      <label>
        Agent
        <select name="adapter" required value={slug} onChange={({ currentTarget }) => setSlug(currentTarget.value)}>
          {sorted.map((adapter) => (
            <option key={adapter.slug} value={adapter.slug} disabled={!adapter.installed}>
              {shown(adapter.name)}
              {adapter.installed ? '' : ' (not installed)'}
            </option>
          ))}
        </select>
      </label>
      {chosen === undefined ? null : <ModeField key={`mode ${slug}`} adapter={chosen} />}
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
      {chosen === undefined ? null : <OptionFields key={`options ${slug}`} adapter={chosen} />}
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

/** Where it runs. */
export function PlaceFields({ workspaces: { workspaces, active } }: { readonly workspaces: WorkspacesFile }) {
  const [isWorktree, setIsWorktree] = useState(false)
  return (
    <>
      {workspaces.length === 0 ? null : (
        <label>
          Workspace
          <select name="workspace" defaultValue={active ?? ''}>
            {workspaces.map(({ slug, path }) => (
              <option key={slug} value={slug} selected={slug === active}>
                {shown(`${slug} (${path})`)}
              </option>
            ))}
          </select>
        </label>
      )}
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
