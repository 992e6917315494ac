// Texts in which nothing should be replaced. Packages also contain made-up passwords and tokens, so the values are shown.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ephemeralKey } from './leaks.mjs'
import { fromDist } from './fakes.mjs'
import { root } from '../run.mjs'

const MAX_FILES = 9000
const MAX_BYTES = 200_000
const SHOWN = 80

/** Prints how many files of the installed packages and of this repository are changed, and by what values. */
export async function changedTexts() {
  const { Redactor } = await fromDist('redact', 'redactor.js')
  const files = [...textFiles(join(root, 'node_modules')), join(root, 'package-lock.json')]
  const changed = files.flatMap((file) => {
    const redactor = new Redactor({ key: ephemeralKey() })
    const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result: readFileSync(file, 'utf8') })
    return redactor.text(text) === text ? [] : [{ file, values: redactor.replacedValues }]
  })
  console.log(`\nordinary texts: ${files.length} files of installed packages, ${changed.length} changed`)
  for (const { file, values } of changed.slice(0, SHOWN))
    console.log(`  ${file.slice(root.length + 1)}: ${values.slice(0, 4).map(shortened).join(', ')}`)
  return changed.length
}

function shortened(value) {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)
}

function textFiles(folder) {
  const files = []
  const folders = [folder]
  while (folders.length > 0 && files.length < MAX_FILES) {
    const current = folders.pop()
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const path = join(current, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (
        entry.isFile() &&
        /\.(?:md|json|[cm]?[jt]s|ya?ml|txt)$/.test(entry.name) &&
        statSync(path).size < MAX_BYTES
      )
        files.push(path)
    }
  }
  return files.slice(0, MAX_FILES)
}
