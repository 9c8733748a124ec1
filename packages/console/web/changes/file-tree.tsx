import { useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { type ChangedFile, type ChangedFolder, nameOf } from './changed-files.js'

interface FileTreeProps {
  readonly folder: ChangedFolder
  readonly selected: string | undefined
  readonly onSelect: (file: ChangedFile) => void
}

/** So many files of a folder are shown at first, and so many more at each wish. */
const FILES = 200

/** The changed files below a folder. A closed folder has no elements, so that thousands of files are quick. */
export function FileTree({ folder, selected, onSelect }: FileTreeProps) {
  const [limit, setLimit] = useState(FILES)
  const more = folder.files.length - limit
  return (
    <ul class="tree">
      {folder.folders.map((below) => (
        <li key={below.path}>
          <Folder folder={below} selected={selected} onSelect={onSelect} />
        </li>
      ))}
      {folder.files.slice(0, limit).map((file) => (
        <li key={file.path}>
          <button
            type="button"
            class="file"
            aria-pressed={file.path === selected}
            onClick={() => onSelect(file)}
            title={file.status}
          >
            <span class={`status ${file.status}`}>{STATUS_WORDS[file.status]}</span>
            <Outside text={nameOf(file.path)} />
            <Counts of={file} />
          </button>
        </li>
      ))}
      {more <= 0 ? null : (
        <li>
          <button type="button" onClick={() => setLimit(limit + FILES)}>
            {more} more
          </button>
        </li>
      )}
    </ul>
  )
}

/** Folders with more than this are closed at first. */
const OPEN_FILES = 50

function Folder({ folder, ...rest }: FileTreeProps) {
  const [isOpen, setIsOpen] = useState(folder.files.length <= OPEN_FILES)
  return (
    <>
      <button type="button" class="file" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        <Outside text={`${folder.name}/`} />
        <Counts of={folder} />
      </button>
      {isOpen ? <FileTree folder={folder} {...rest} /> : null}
    </>
  )
}

type Counted = Pick<ChangedFile, 'additions' | 'deletions'>

function Counts({ of: { additions, deletions } }: { readonly of: Counted }) {
  return (
    <span class="counts">
      +{additions} −{deletions}
    </span>
  )
}

const STATUS_WORDS: Readonly<Record<ChangedFile['status'], string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  type_changed: 'T',
}
