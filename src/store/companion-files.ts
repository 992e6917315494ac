import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'
import { isObject } from '../protocol/message.ts'
import { readCompanionFile, type CompanionFile } from './settings-file.ts'

/** The matching rules that stand beside a tape: `search.match.yaml` beside `search.tape.jsonl`. */
export function readMatchFile(tapePath: string): Promise<CompanionFile | undefined> {
  return readCompanionFile(MATCH_EXTENSIONS.map((ending) => companionPath(tapePath, ending)))
}

/** Writes the rules beside a tape; what else stands in the file stays, comments included. */
export async function writeMatchRules(tapePath: string, rules: readonly string[]): Promise<string> {
  const file = await readMatchFile(tapePath)
  const path = file?.path ?? companionPath(tapePath, MATCH_EXTENSIONS[0])
  const before = file === undefined ? undefined : await readFile(path, 'utf8')
  const text = path.endsWith('.json') ? rulesAsJson(file?.value, rules) : await rulesAsYaml(before, rules)
  await replaceSettingsFile(path, text)
  return path
}

const MATCH_EXTENSIONS = ['.match.yaml', '.match.yml', '.match.json'] as const

function companionPath(tapePath: string, ending: string): string {
  return tapePath.replace(/(\.tape)?\.jsonl$/, '') + ending
}

function rulesAsJson(value: unknown, rules: readonly string[]): string {
  return `${JSON.stringify({ ...(isObject(value) ? value : {}), rules }, null, 2)}\n`
}

const MATCH_FILE_COMMENT =
  ' How requests are compared with the tape of this name: reelay match add, list, remove'

// What stays is not written anew, so that its comments stay with it.
async function rulesAsYaml(before: string | undefined, rules: readonly string[]): Promise<string> {
  const { Document, isScalar, isSeq, parseDocument } = await import('yaml')
  const document = before === undefined ? new Document({}) : parseDocument(before)
  if (before === undefined) document.commentBefore = MATCH_FILE_COMMENT
  if (!isSeq(document.get('rules'))) document.set('rules', document.createNode([]))
  const list = document.get('rules')
  if (!isSeq(list)) throw new TypeError('a list that was just made is none')
  list.flow = false // an empty list is written as [], and would go on like that
  const kept = list.items.filter((item) => isScalar(item) && rules.includes(String(item.value)))
  const known = new Set(kept.map((item) => (isScalar(item) ? String(item.value) : '')))
  list.items = [...kept, ...rules.filter((rule) => !known.has(rule)).map((rule) => document.createNode(rule))]
  return document.toString({ lineWidth: 0 })
}

/** A reader sees the old file or the new one, never a part. */
async function replaceSettingsFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`
  try {
    await writeFile(fresh, text)
    await rename(fresh, path)
  } catch (cause) {
    await rm(fresh, { force: true })
    throw new ReelayError('SETTINGS_UNWRITABLE', `${path} cannot be written: ${String(cause)}`, {
      hint: 'check that the folder is there and may be written to',
      cause,
    })
  }
}
