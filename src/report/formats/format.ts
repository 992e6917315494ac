import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describeValue } from '../../match/describe-request.ts'
import { escapeControlChars } from '../../text.ts'
import type { ReportDocument, ReportFinding } from '../document.ts'

/** A report format that works for every command, because it reads a document. */
export interface DocumentFormat {
  readonly name: string
  readonly help: string
  readonly render: (document: ReportDocument, options: FormatOptions) => Iterable<string>
}

interface FormatOptions {
  /** The limit of formats for models. */
  readonly maxTokens: number
}

/** A finding on one line, safe to show on a terminal: `result.text: differs, recorded "a", now "b"`. */
export function findingLine({ path, message, before, after }: ReportFinding, width = 80): string {
  const [then, now] = [before, after].map((value) =>
    value === undefined ? undefined : describeValue(value, width),
  )
  const isQuoted = [then, now].some((text) => text !== undefined && message.includes(text))
  const values =
    isQuoted || (then === undefined && now === undefined)
      ? []
      : [`${then ?? 'nothing'} → ${now ?? 'nothing'}`]
  const where = path === undefined ? '' : `${path}: `
  return escapeControlChars(where + [message, ...values].join(', '))
}

/** A path as reports of code hosts expect it: relative with slashes if the file is below the working directory, otherwise a URL. */
export function reportPath(file: string): string {
  const below = relative(process.cwd(), file)
  if (below !== '' && !below.startsWith('..') && !isAbsolute(below)) return below.split(sep).join('/')
  return pathToFileURL(file).href
}
