import { type PermissionRule, TOOL_KIND_TEXT, type ToolKind } from '@agentproto/contracts'
import { useState } from 'preact/hooks'
import { Outside } from '../parts/outside.js'
import { shown } from '../parts/shown-text.js'
import { coverText, decisionText, ofWorkspace } from './rule-words.js'

type NewRule = Pick<PermissionRule, 'decision'> & PermissionRule['match']

interface RuleFormProps {
  readonly workspaces: readonly string[]
  readonly isBusy: boolean
  readonly onAdd: (workspace: string, rule: NewRule) => void
}

/** Makes a rule of a workspace. All that it will cover is shown above the button that makes it. */
export function RuleForm({ workspaces, isBusy, onAdd }: RuleFormProps) {
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({})
  const rule = ruleOf(fields)
  const workspace = workspaces.find((slug) => slug === fields['workspace']) ?? workspaces[0] ?? ''
  return (
    <details class="rule-form">
      <summary>Make a rule</summary>
      <form
        onInput={({ currentTarget }) => setFields(fieldsOf(currentTarget))}
        onSubmit={(event) => {
          event.preventDefault()
          if (rule !== undefined) onAdd(workspace, rule)
        }}
      >
        <Choice
          label="It"
          name="decision"
          values={[
            ['deny', 'denies'],
            ['allow', 'allows'],
          ]}
        />
        <Choice label="Workspace" name="workspace" values={workspaces.map((slug) => [slug, slug])} />
        <Choice
          label="Calls of the agent"
          name="toolKind"
          values={[['', 'any that match below'], ...Object.entries(TOOL_KIND_TEXT)]}
        />
        <label>
          Command <input name="command" placeholder="npm run *" autocomplete="off" spellcheck={false} />
        </label>
        <label>
          Path <input name="path" placeholder="src/**" autocomplete="off" spellcheck={false} />
        </label>
        <p role="status">
          {rule === undefined ? (
            'Choose a kind of call, a command or a path.'
          ) : (
            <Outside text={`${decisionText(rule.decision)} ${coverOf(rule)}: ${ofWorkspace(workspace)}.`} />
          )}
        </p>
        <button type="submit" disabled={isBusy || rule === undefined}>
          Make this rule
        </button>
      </form>
    </details>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly name: string
  readonly values: readonly (readonly [value: string, words: string])[]
}

function Choice({ label, name, values }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select name={name}>
        {values.map(([value, words]) => (
          <option key={value} value={value}>
            {shown(words)}
          </option>
        ))}
      </select>
    </label>
  )
}

function fieldsOf(form: HTMLFormElement): Readonly<Record<string, string>> {
  const entries = [...new FormData(form)].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return Object.fromEntries(entries) as Readonly<Record<string, string>>
}

const coverOf = ({ decision, ...match }: NewRule): string => coverText({ decision, match })

/** @returns undefined while it would cover everything */
function ruleOf(fields: Readonly<Record<string, string>>): NewRule | undefined {
  const [command = '', path = '', toolKind = ''] = ['command', 'path', 'toolKind'].map((name) => fields[name]?.trim())
  if (command === '' && path === '' && toolKind === '') return undefined
  return {
    decision: fields['decision'] === 'allow' ? 'allow' : 'deny',
    ...(command !== '' && { command }),
    ...(path !== '' && { path }),
    ...(isToolKind(toolKind) && { toolKind }),
  }
}

const isToolKind = (word: string): word is ToolKind => Object.hasOwn(TOOL_KIND_TEXT, word)
