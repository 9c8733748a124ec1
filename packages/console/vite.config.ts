import { defineConfig } from 'vite'

/** Relative addresses, so that the console works below any path prefix; nothing inline, as the gateway's CSP demands. */
export default defineConfig({
  root: 'web',
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../app',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
