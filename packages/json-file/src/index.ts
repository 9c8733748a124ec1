// A JSON file that several processes share. This file is the package's contract: every export is named here.
export { type Changed, JsonFile, type JsonFileOptions, type LockRules } from './json-file.js'
