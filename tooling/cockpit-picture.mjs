// Writes docs/cockpit.svg, the screen of `sessions --watch` with forty sessions that an end-to-end test captured from the real
// program: node tooling/cockpit-picture.mjs. A test checks that the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { screenPicture } from './screen-picture.mjs'

const SCREEN = new URL('../packages/cli/test/golden/cockpit.txt', import.meta.url)
const PICTURE = new URL('../docs/cockpit.svg', import.meta.url)

/** Beginnings of rows, and their colours: the capture has no colours. */
const COLOURS = [
  [/^\d+ needs? you/, '#e3b341', 'bold'],
  [/^ {2}STATE/, '#e6edf3', 'bold'],
  [/^[❯ ] waiting/, '#e3b341'],
  [/^[❯ ] busy/, '#7ee787'],
  [/^Enter/, '#7d8590'],
]

export const cockpitPicture = () =>
  screenPicture(readFileSync(SCREEN, 'utf8'), {
    label: 'agentproto sessions --watch: forty sessions, of which three wait for an answer',
    colours: COLOURS,
  })

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PICTURE, cockpitPicture())
