// Checks the manifests of the catalogue and writes them to one file, which is what readCatalogue() reads.
import { writeFileSync } from 'node:fs'
import { checkCatalogue } from './dist/check-catalogue.js'

writeFileSync(new URL('dist/catalogue.json', import.meta.url), JSON.stringify(await checkCatalogue()))
