import type { AdapterSummary } from '@agentproto/client'
import type { ProvisionRequest } from '@agentproto/contracts/wire'
import { useState } from 'preact/hooks'
import { ConfirmButton } from '../parts/confirm-button.js'
import { shown } from '../parts/shown-text.js'

interface InstallBarProps {
  readonly adapter: AdapterSummary
  readonly isBusy: boolean
  readonly onInstall: (request: ProvisionRequest) => Promise<void>
  readonly onCheck: (live: boolean) => Promise<void>
  readonly onRemove: () => void
}

/** Installs, renews, checks and removes an agent. */
export function InstallBar({ adapter, isBusy, onInstall, onCheck, onRemove }: InstallBarProps) {
  const { slug, installed, source } = adapter
  const [allowUnverified, setAllowUnverified] = useState(false)
  const name = shown(adapter.name)
  const install = (more: Partial<ProvisionRequest> = {}): void =>
    void onInstall({ until: 'install', allowUnverified, ...more })
  return (
    <>
      <div class="bar">
        <button type="button" disabled={isBusy} onClick={() => install(installed ? { force: true } : {})}>
          {installed ? `Install ${name} again` : `Install ${name}`}
        </button>
        <button type="button" disabled={isBusy} onClick={() => install({ latest: true })}>
          {installed ? `Upgrade ${name} to the newest version` : `Install the newest version of ${name}`}
        </button>
        <button type="button" disabled={isBusy || !installed} onClick={() => void onCheck(false)}>
          Check {name}
        </button>
        <ConfirmButton
          label={`Check ${adapter.name} with a session`}
          question="Start it, prompt it, interrupt, resume and end it? Its model may cost money."
          isBusy={isBusy || !installed}
          onConfirm={() => void onCheck(true)}
        />
        {source === 'user' ? (
          <ConfirmButton
            label={`Remove ${slug}`}
            question="Remove the adapter and its installed agent? Secrets and sessions stay."
            isBusy={isBusy}
            onConfirm={onRemove}
          />
        ) : null}
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={allowUnverified}
          onChange={({ currentTarget }) => setAllowUnverified(currentTarget.checked)}
        />{' '}
        Also run installers, and unpack downloads, that have no checksum
      </label>
    </>
  )
}
