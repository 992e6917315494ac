// Builds ui/ into dist/ui/report.html: one page without data, whose policy names its only script and style by their hashes.
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runTool } from './run.mjs'

/** Writes the page, and returns the exit code. The report writer puts the data in the place of the comment. */
export function writePage(dist) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-ui-'))
  try {
    const code = runTool('vite', ['build', '--config', join('ui', 'vite.config.mjs'), '--outDir', folder])
    if (code !== 0) return code
    const [script, style] = ['page.js', 'page.css'].map((name) =>
      readFileSync(join(folder, name), 'utf8').trim(),
    )
    if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('the page would end early')
    mkdirSync(join(dist, 'ui'), { recursive: true })
    writeFileSync(join(dist, 'ui', 'report.html'), page(script, style))
    return 0
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function page(script, style) {
  const policy = [
    "default-src 'none'",
    `script-src '${hash(script)}'`,
    `style-src '${hash(style)}'`,
    'img-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Reelay</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report needs JavaScript. It loads nothing from the network.</noscript>
<!-- data -->
<script>${script}</script>
</body>
</html>
`
}

function hash(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
