import {
  hostText,
  type PermissionRequest,
  planText,
  type RequestFacts,
  type RequestPath,
  TOOL_KIND_TEXT,
  type ToolContent,
  toolContentText,
  toolInputText,
} from '@agentproto/contracts'
import type { ComponentChildren } from 'preact'
import { Outside, OutsideBlock } from '../parts/outside.js'
import { Difference } from '../parts/patch.js'

interface PermissionContentProps {
  readonly request: PermissionRequest
  readonly facts: RequestFacts | undefined
}

/** All that a permission is about: what the gateway found out first, then the words of the agent, marked as such. */
export function PermissionContent({ request: { toolCall }, facts }: PermissionContentProps) {
  const plan = planText(toolCall.input)
  return (
    <>
      {facts === undefined ? (
        <p class="warning">The gateway did not look into this call: only the words of the agent follow.</p>
      ) : (
        <FoundOut facts={facts} />
      )}
      {(toolCall.content ?? []).map((content, index) =>
        content.type === 'diff' ? <Change key={index} content={content} /> : null,
      )}
      {plan === undefined ? null : (
        <>
          <h3>The plan</h3>
          <OutsideBlock label="The plan" text={plan} />
        </>
      )}
      <h3>In the words of the agent</h3>
      <blockquote class="words">
        <OutsideBlock
          label="Title"
          text={[toolCall.title, toolCall.toolName].filter(Boolean).join(' · ') || 'no title'}
        />
        {(toolCall.content ?? []).map((content, index) =>
          content.type === 'diff' ? null : <OutsideBlock key={index} text={toolContentText(content)} />,
        )}
        {(toolCall.locations ?? []).length === 0 || facts !== undefined ? null : (
          <OutsideBlock label="Files" text={(toolCall.locations ?? []).map(({ path }) => path).join('\n')} />
        )}
        <OutsideBlock label="Input" text={toolInputText(toolCall.input)} />
      </blockquote>
    </>
  )
}

function FoundOut({ facts }: { readonly facts: RequestFacts }) {
  const { toolKind, statedKind, commands, paths, urls, unclear } = facts
  const isContradicted = statedKind !== undefined && statedKind !== toolKind
  return (
    <>
      <dl class="facts">
        <Fact label="It" isBad={isContradicted}>
          {toolKind === undefined ? 'unknown, the agent does not say' : TOOL_KIND_TEXT[toolKind]}
          {isContradicted ? ` (the agent says: ${statedKind})` : ''}
        </Fact>
        <WhatRuns facts={facts} />
        {paths.map((path, index) => (
          <PathFact key={index} label="Path" path={path} />
        ))}
        {urls.map((url, index) => (
          <AddressFact key={index} url={url} />
        ))}
      </dl>
      {unclear ? (
        <p class="warning">Not all of this call can be judged: it may do more than these lines say. Read its input.</p>
      ) : null}
      {toolKind === 'execute' && commands.length === 0 ? (
        <p class="problem">It does not say which command it runs.</p>
      ) : null}
    </>
  )
}

function WhatRuns({ facts: { commands, environment = [], folders } }: { readonly facts: RequestFacts }) {
  return (
    <>
      {commands.map((command, index) => (
        <Fact key={index} label="Command">
          <OutsideBlock label="Command" text={command} />
        </Fact>
      ))}
      {environment.map(({ name, value }, index) => (
        <Fact key={index} label="Variable" isBad>
          <OutsideBlock label="Variable" text={`${name}=${value}`} />
        </Fact>
      ))}
      {folders.map((folder, index) => (
        <PathFact key={index} label="Runs in" path={folder} />
      ))}
    </>
  )
}

interface FactProps {
  readonly label: string
  readonly isBad?: boolean
  readonly children: ComponentChildren
}

function Fact({ label, isBad = false, children }: FactProps) {
  return (
    <>
      <dt>{label}</dt>
      <dd {...(isBad ? { class: 'problem' } : {})}>{children}</dd>
    </>
  )
}

/** Where a path leads, said where that differs from its name. */
function PathFact({ label, path }: { readonly label: string; readonly path: RequestPath }) {
  const { named, real, inside } = path
  const [first] = real
  if (first === undefined)
    return (
      <Fact label={label} isBad>
        <Outside text={named} /> (where this leads is unknown)
      </Fact>
    )
  return (
    <Fact label={label} isBad={!inside}>
      {real.map((each) => (
        <div key={each}>
          <Outside text={each} />
        </div>
      ))}
      {real.length === 1 && first === named ? null : (
        <div>
          named <Outside text={named} />
        </div>
      )}
      {inside ? null : <strong>OUTSIDE the session's folders</strong>}
    </Fact>
  )
}

/** An address with its host, and no link: what an agent would fetch is not for a person to open. */
export function AddressFact({ url }: { readonly url: string }) {
  return (
    <>
      <Fact label="Address">
        <Outside text={url} />
      </Fact>
      <Fact label="Host">
        <strong>
          <Outside text={hostText(url)} />
        </strong>
      </Fact>
    </>
  )
}

function Change({ content: { path, oldText, newText } }: { readonly content: Extract<ToolContent, { type: 'diff' }> }) {
  // An old text that already has a line hides it from the difference.
  const about = oldText ? 'its old text is not compared with the file' : 'new, or its old text was not sent'
  return (
    <>
      <h3>
        Change of <Outside text={path} />
        {`, as the agent shows it (${about})`}
      </h3>
      <Difference before={oldText ?? ''} after={newText} label="Change" />
    </>
  )
}
