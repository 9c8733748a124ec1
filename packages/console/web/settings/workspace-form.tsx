import type { AddWorkspaceRequest } from '@agentproto/contracts/wire'

interface WorkspaceFormProps {
  readonly isBusy: boolean
  readonly onAdd: (request: AddWorkspaceRequest) => void
}

/** Gives a folder on the machine of the gateway a name. */
export function WorkspaceForm({ isBusy, onAdd }: WorkspaceFormProps) {
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault()
        onAdd(requestOf(new FormData(event.currentTarget)))
      }}
    >
      <label>
        Folder <input name="path" required placeholder="/path/of/a/folder" autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Name{' '}
        <input
          name="slug"
          placeholder="that of the folder"
          pattern="[a-z0-9][a-z0-9\-]*"
          maxLength={80}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <label>
        Description <input name="label" maxLength={200} autocomplete="off" />
      </label>
      <button type="submit" disabled={isBusy}>
        Add workspace
      </button>
    </form>
  )
}

function requestOf(data: FormData): AddWorkspaceRequest {
  const field = (name: string): string => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const [path, slug, label] = [field('path'), field('slug'), field('label')]
  return { path, ...(slug !== '' && { slug }), ...(label !== '' && { label }) }
}
