import { useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { Problem } from '../parts/problem.js'
import { messageOf } from '../parts/use-answer.js'
import { PROMPT_BYTES, promptSize, type TextFile } from './start-request.js'
import { readTextFile } from './text-file.js'

interface PromptFilesProps {
  readonly files: readonly TextFile[]
  readonly onChange: (files: readonly TextFile[]) => void
}

/** The first prompt, and text files that are sent with it: chosen, dropped or pasted. */
export function PromptFiles({ files, onChange }: PromptFilesProps) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  const add = async (list: FileList | null | undefined): Promise<void> => {
    setProblem('')
    try {
      onChange([...files, ...(await Promise.all([...(list ?? [])].map(readTextFile)))])
    } catch (thrown) {
      setProblem(messageOf(thrown))
    }
  }
  const onTransfer = (event: Event, transfer: DataTransfer | null): void => {
    if (transfer === null || transfer.files.length === 0) return
    event.preventDefault()
    void add(transfer.files)
  }
  const isTooLong = promptSize(text, files) > PROMPT_BYTES
  return (
    <div
      class="prompt-files"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => onTransfer(event, event.dataTransfer)}
      onPaste={(event) => onTransfer(event, event.clipboardData)}
    >
      <label>
        Prompt
        <textarea name="prompt" rows={5} value={text} onInput={({ currentTarget }) => setText(currentTarget.value)} />
      </label>
      <label>
        Text files, here or dropped{' '}
        <input
          type="file"
          multiple
          onChange={({ currentTarget }) => {
            void add(currentTarget.files).then(() => void (currentTarget.value = ''))
          }}
        />
      </label>
      <ul class="rows">
        {files.map(({ name }, index) => (
          <li key={index}>
            <Outside text={name} />{' '}
            <button type="button" onClick={() => onChange(files.filter((_, at) => at !== index))}>
              Remove <Outside text={name} />
            </button>
          </li>
        ))}
      </ul>
      <Problem text={isTooLong ? 'The prompt is longer than 4 MiB with its files.' : problem} />
    </div>
  )
}
