import { rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { tapeHeader } from '../../record/tape-header.ts'
import { jsonDocument, jsonValue } from '../../report/json-text.ts'
import { listTapes, type ListedTape } from '../../store/file/list.ts'
import { mergeTapes } from '../../store/file/merge.ts'
import { openTape } from '../../store/file/read.ts'
import { checkTape, repairTape, type TapeCheck } from '../../store/file/validate.ts'
import { requireNewTape } from '../../store/file/write.ts'
import { resolveTape, tapeFolder } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, usageError } from '../options/option.ts'
import { countValue, switchOn, textValue } from '../options/option-types.ts'
import { jsonOption, overwriteOption, sinceValue } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { clearProgress, showProgress } from '../output/progress.ts'

interface ValidateFlags {
  readonly fix?: true
  readonly maxAge?: number
  readonly json?: true
}

export const validateCommand: CommandDefinition = defineCommand<ValidateFlags>({
  name: 'validate',
  usage: '[options] [tapes…]',
  arguments: { '[tapes...]': 'Tapes to check; by default all in the tape folder' },
  options: {
    fix: option('--fix', switchOn, 'Leave out lines that cannot be read, and add a missing end'),
    maxAge: option(
      '--max-age',
      { ...sinceValue, placeholder: 'age', expected: 'an age such as 90d, 12h or 45m, or a date' },
      'Fail if a tape was recorded longer ago than this, e.g. 90d',
    ),
    json: jsonOption,
  },
  run: async (names, { fix, maxAge, json }) => {
    const paths = await namedOrAll(names)
    const checks: TapeCheck[] = []
    for (const [at, path] of paths.entries()) {
      showProgress(`checking tape ${at + 1} of ${paths.length}`)
      const check = await checkTape(path)
      checks.push(check)
      if (fix && !isValid(check) && check.unreadable === undefined) await repairTape(check)
    }
    clearProgress()
    const isFixed = (check: TapeCheck): boolean => fix === true && check.unreadable === undefined
    const isExpired = ({ started }: TapeCheck): boolean =>
      maxAge !== undefined && started !== undefined && Date.parse(started) < maxAge
    const asJson = (check: TapeCheck): object => ({
      ...check,
      isValid: isValid(check),
      ...(maxAge !== undefined && { isExpired: isExpired(check) }),
    })
    print(
      json
        ? jsonDocument({ tapes: checks.map((check) => jsonValue(asJson(check))) })
        : checks
            .map((check) => checkText(check, isFixed(check)) + (isExpired(check) ? expiredText(check) : ''))
            .join(''),
    )
    process.exitCode = checks.every((check) => (isValid(check) || isFixed(check)) && !isExpired(check))
      ? 0
      : 1
  },
})

const DAY_MS = 86_400_000

function expiredText({ path, started = '' }: TapeCheck): string {
  const days = Math.floor((Date.now() - Date.parse(started)) / DAY_MS)
  const age = `recorded ${started.slice(0, 10)}, ${days} ${days === 1 ? 'day' : 'days'} ago`
  return escapeControlChars(`expired  ${path}  ${age}; record it again`) + '\n'
}

async function namedOrAll(names: readonly string[]): Promise<readonly string[]> {
  if (names.length > 0) return names.map((name) => resolveTape(name))
  return (await listTapes(tapeFolder())).map(({ path }) => path)
}

function isValid({ ended, problems, unreadable }: TapeCheck): boolean {
  return ended && problems.length === 0 && unreadable === undefined
}

function checkText(check: TapeCheck, isFixed: boolean): string {
  const { path, frames, ended, problems, unreadable, hint } = check
  if (isValid(check)) return `valid    ${escapeControlChars(path)}  ${frames} frames\n`
  const lines = [
    ...(unreadable === undefined ? [] : [unreadable]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
    ...problems.map(({ line, why }) => `line ${line}: ${why}`),
    ...(ended || unreadable !== undefined ? [] : ['no end: cut off, or still being recorded']),
  ]
  const word = isFixed ? 'fixed  ' : 'invalid'
  return [`${word}  ${path}`, ...lines.map((line) => `  ${line}`)]
    .map((line) => `${escapeControlChars(line)}\n`)
    .join('')
}

export const removeCommand: CommandDefinition = defineCommand({
  name: 'rm',
  arguments: { '<tapes...>': 'Tapes to delete' },
  options: {},
  run: async (names) => {
    const paths = names.map((name) => resolveTape(name))
    for (const path of paths) await openTape(path) // throws unless it is a tape
    for (const path of paths) {
      rmSync(path)
      print(`deleted ${escapeControlChars(path)}\n`)
    }
  },
})

interface PruneFlags {
  readonly before?: number
  readonly keep?: number
  readonly yes?: true
}

export const pruneCommand: CommandDefinition = defineCommand<PruneFlags>({
  name: 'prune',
  options: {
    before: option('--before', sinceValue, 'Delete tapes that were recorded before then'),
    keep: option('--keep', countValue(), 'Keep this many of the newest tapes, whatever their age'),
    yes: option('--yes', switchOn, 'Delete them; without it they are only listed'),
  },
  run: async (_, { before, keep = 0, yes }) => {
    if (before === undefined && keep === 0)
      throw usageError('prune needs to know which tapes to delete', 'add --before 30d, --keep 20, or both')
    const tapes = (await listTapes(tapeFolder())).filter((each): each is ListedTape => each.kind === 'tape')
    const chosen = tapes
      .slice(keep)
      .filter(({ started, ended }) => ended && (before === undefined || Date.parse(started) < before))
    const bytes = chosen.reduce((sum, { path }) => sum + statSync(path).size, 0)
    for (const { path } of chosen) {
      if (yes) rmSync(path)
      print(`${yes ? 'deleted' : 'would delete'} ${escapeControlChars(path)}\n`)
    }
    const summary = `${chosen.length} of ${tapes.length} tapes, ${(bytes / 1e6).toFixed(1)} MB`
    process.stderr.write(yes || chosen.length === 0 ? `${summary}\n` : `${summary}; --yes deletes them\n`)
  },
})

interface MergeFlags {
  readonly output?: string
  readonly deduplicate?: true
  readonly overwrite?: true
}

export const mergeCommand: CommandDefinition = defineCommand<MergeFlags>({
  name: 'merge',
  usage: '[options] -o <tape> <tapes…>',
  arguments: { '<tapes...>': 'Tapes to put together, in any order' },
  options: {
    output: option('-o, --output <tape>', textValue, 'Write the new tape to this name or path'),
    deduplicate: option(
      '--deduplicate',
      switchOn,
      'Leave out exchanges with the same request and the same outcome as an earlier one',
    ),
    overwrite: overwriteOption,
  },
  run: async (names, { output, deduplicate, overwrite }) => {
    if (output === undefined)
      throw usageError('merge needs a tape to write to', 'add -o and a name or path, as in -o all')
    const paths = names.map((name) => resolveTape(name))
    const target = resolveTape(output)
    if (paths.some((path) => resolve(path) === resolve(target)))
      throw usageError(`${output} is one of the tapes to merge`, 'write to another file')
    requireNewTape(target, overwrite)
    const { frames, exchanges, duplicates } = await mergeTapes(paths, {
      output: target,
      ...(deduplicate && { deduplicate }),
      header: tapeHeader,
    })
    const left = deduplicate ? `, ${duplicates} duplicates left out` : ''
    print(
      `merged ${paths.length} tapes: ${exchanges} exchanges, ${frames} frames${left}: ${escapeControlChars(target)}\n`,
    )
  },
})
