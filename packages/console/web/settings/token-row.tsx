import type { NamedToken } from '@agentproto/contracts'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Outside } from '../parts/outside.js'
import { SCOPE_TEXT } from './scope-text.js'

interface TokenRowProps {
  readonly token: NamedToken
  /** It is the login of this browser. */
  readonly isOwn: boolean
  readonly isBusy: boolean
  readonly onRotate: () => void
  readonly onRevoke: () => void
}

/** What a token may do and when it was used, and how it ends. A new value of its own login would lock this browser out. */
export function TokenRow({ token, isOwn, isBusy, onRotate, onRevoke }: TokenRowProps) {
  const { name } = token
  return (
    <>
      <div class="bar">
        <strong>
          <Outside text={name} />
        </strong>
        {isOwn ? <span class="own">the login of this browser</span> : null}
        {isOwn ? null : (
          <ConfirmButton
            label={`Rotate ${name}`}
            question="Give it a new value? The old one, and the tokens that it created, end."
            isBusy={isBusy}
            onConfirm={onRotate}
          />
        )}
        <ConfirmButton
          label={`Revoke ${name}`}
          question={
            isOwn
              ? 'Revoke the login of this browser, and the tokens that it created?'
              : 'Revoke it, and the tokens that it created?'
          }
          isBusy={isBusy}
          onConfirm={onRevoke}
        />
      </div>
      <p class="dim">
        <Outside text={aboutToken(token)} />
      </p>
    </>
  )
}

function aboutToken({
  scope,
  workspaces,
  lost = [],
  createdBy,
  createdAt,
  rotatedAt,
  lastUsedAt,
  expiresAt,
}: NamedToken): string {
  const places = workspaces?.map((slug) => (lost.includes(slug) ? `${slug} (lost)` : slug)).join(', ')
  return [
    `may ${SCOPE_TEXT[scope]}${places === undefined ? '' : ` in ${places}`}`,
    `created ${timeText(createdAt)} by ${createdBy ?? 'the owner'}`,
    ...(rotatedAt === undefined ? [] : [`new value ${timeText(rotatedAt)}`]),
    lastUsedAt === undefined ? 'never used' : `last used ${timeText(lastUsedAt)}`,
    expiresAt === undefined ? 'does not expire' : `expires ${timeText(expiresAt)}`,
  ].join('; ')
}

const timeText = (time: string): string => new Date(time).toLocaleString()
