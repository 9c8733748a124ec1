// The catalogue of adapters. This file is the package's contract: every export is named here.
export { catalogPath } from './catalog-path.js'
export { readCatalogue } from './read-catalogue.js'
