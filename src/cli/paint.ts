import { styleText } from 'node:util'

type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'cyan'

/** Text for stderr: coloured on a terminal, plain in a pipe. */
export function paint(colour: Colour, text: string): string {
  return styleText(colour, text, { stream: process.stderr })
}

/** The miss report with its labels coloured. */
export function paintMiss(report: string): string {
  return paintLines(report, [
    [/^REPLAY MISS/, 'red'],
    [/^ {2}~.*/, 'yellow'],
    [/^ {2}=.*/, 'dim'],
    [/^fix one.*/, 'green'],
    [/^ {13}.*/, 'green'],
    [/^\w+/, 'cyan'],
  ])
}

/** The drift report, what was not as recorded in colour. */
export function paintDrift(report: string): string {
  return paintLines(report, [
    [/^(skipped a baseline step|missed):/, 'yellow'],
    [/^note:/, 'dim'],
  ])
}

type Rule = readonly [pattern: RegExp, colour: Colour]

function paintLines(report: string, rules: readonly Rule[]): string {
  return report
    .split('\n')
    .map((line) => paintLine(line, rules))
    .join('\n')
}

function paintLine(line: string, rules: readonly Rule[]): string {
  const [pattern, colour] = rules.find(([candidate]) => candidate.test(line)) ?? []
  if (pattern === undefined || colour === undefined) return line
  return line.replace(pattern, (part) => paint(colour, part))
}
