// The page of the HTML report: one script and one style, which scripts/page.mjs puts into one file.
export default {
  root: import.meta.dirname,
  logLevel: 'error',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    cssCodeSplit: false,
    modulePreload: false,
    emptyOutDir: true,
    rolldownOptions: {
      input: 'ui/main.tsx',
      output: { format: 'iife', entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
    },
  },
}
