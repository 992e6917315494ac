import { ReelayError } from '../../errors.ts'
import { indentJson } from '../../report/layout-json.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { isObject, type Request } from '../../protocol/message.ts'
import { parseJson } from '../../json/parse.ts'
import { escapeControlChars, escapeControlCharsInJson } from '../../text.ts'
import { askOneQuestion } from '../output/terminal.ts'
import { createOutputRedactor } from '../output/redact-output.ts'

/** Shows what the server asks to whoever sits at the terminal, and gives their answer. */
export function askOnTerminal(stop: AbortSignal): (request: Request) => Promise<object> {
  if (!process.stdin.isTTY)
    throw new ReelayError('USAGE', '--on-ask ask needs a terminal, and there is none', {
      hint: 'choose --on-ask decline or --on-ask fail',
    })
  return async ({ method, params }) => {
    const asked = indentJson(escapeControlCharsInJson(canonicalJson(params)))
    process.stderr.write(createOutputRedactor()(`the server asks ${escapeControlChars(method)}:\n${asked}\n`))
    for (;;) {
      const answer = await askOneQuestion('the result, as a JSON object: ', stop)
      if (answer === undefined) throw new Error('whoever was asked has left')
      const value = parseJson(answer)
      if (isObject(value)) return value
      process.stderr.write('that is no JSON object\n')
    }
  }
}
