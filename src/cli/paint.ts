import { styleText } from 'node:util'

type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'cyan'

/** Text for stderr: coloured on a terminal, plain in a pipe. */
export function colourText(colour: Colour, text: string): string {
  return styleText(colour, text, { stream: process.stderr })
}

/** The miss report with its labels coloured. */
export function colourMissReport(report: string): string {
  return colourLines(report, [
    [/^REPLAY MISS/, 'red'],
    [/^ {2}~.*/, 'yellow'],
    [/^ {2}=.*/, 'dim'],
    [/^fix one.*/, 'green'],
    [/^ {13}.*/, 'green'],
    [/^\w+/, 'cyan'],
  ])
}

/** The drift report, what was not as recorded in colour. */
export function colourDriftReport(report: string): string {
  return colourLines(report, [
    [/^(skipped a baseline step|missed):/, 'yellow'],
    [/^note:/, 'dim'],
  ])
}

type ColourRule = readonly [pattern: RegExp, colour: Colour]

function colourLines(report: string, rules: readonly ColourRule[]): string {
  return report
    .split('\n')
    .map((line) => colourLine(line, rules))
    .join('\n')
}

function colourLine(line: string, rules: readonly ColourRule[]): string {
  const [pattern, colour] = rules.find(([candidate]) => candidate.test(line)) ?? []
  if (pattern === undefined || colour === undefined) return line
  return line.replace(pattern, (part) => colourText(colour, part))
}
