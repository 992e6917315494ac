import { NO_FINDINGS, type StepFinding, type JudgedAnswer } from './judged-answer.ts'
import { judgeIsError } from './is-error.ts'
import { judgeJsonRpc } from './json-rpc.ts'
import type { OfficialJudge } from './official-schema.ts'
import { judgeOrder } from './order.ts'
import type { ServerRequestJudge } from './server-requests.ts'
import type { OutputSchemaJudge } from './output-schema.ts'
import { judgeTiming } from './timing.ts'
import { judgeTransport } from './transport.ts'
import type { JudgeOptions } from './comparison-rules.ts'
import type { ValuesJudge } from './values.ts'

export interface Judges {
  readonly schema: OutputSchemaJudge
  readonly official: OfficialJudge
  readonly values: ValuesJudge
  readonly serverRequests: ServerRequestJudge
  readonly judging: JudgeOptions
}

/** What was found, and the names of the rules by which values were compared. */
export interface StepJudgement {
  readonly findings: readonly StepFinding[]
  readonly judgedBy: readonly string[]
}

/** The layers of a verdict in their order: where one finds the answers to be of different kinds, those below have nothing to say. */
export function judgeAnswer(judged: JudgedAnswer, judges: Judges): StepJudgement {
  // Whether the answer would have been as recorded, nobody knows.
  if (judges.judging.validate === false || judged.end.kind === 'given-up')
    return { findings: [], judgedBy: [] }
  const findings = judgeLayers(judged, judges)
  return {
    findings: judges.judging.strict === true ? findings.map(asError) : findings,
    judgedBy: judges.values.namesFor(judged),
  }
}

function asError(finding: StepFinding): StepFinding {
  return finding.level === 'warn' ? { ...finding, level: 'error' } : finding
}

function judgeLayers(
  judged: JudgedAnswer,
  { schema, official, values, serverRequests, judging }: Judges,
): readonly StepFinding[] {
  const { slower } = judging
  const timing = slower === undefined ? NO_BOUND : { timing: slower }
  const told =
    judged.asides.length === 0
      ? NO_FINDINGS
      : concatFindings(official.judgeMessages(judged), serverRequests.judge(judged))
  const aside = concatFindings(told, concatFindings(judgeOrder(judged), judgeTiming(judged, timing)))
  if (judged.end.kind === 'answered' && judged.end.asRecorded && judged.live !== undefined)
    return concatFindings(official.judge(judged), concatFindings(values.judgeSame(judged), aside))
  const kind = [judgeTransport, judgeJsonRpc, judgeIsError].map((layer) => layer(judged)).find(hasFound)
  if (kind !== undefined) return kind
  return [...schema.judge(judged), ...official.judge(judged), ...values.judge(judged), ...aside]
}

const NO_BOUND = {}

// Mostly there is nothing, of which no list has to be made.
function concatFindings(some: readonly StepFinding[], more: readonly StepFinding[]): readonly StepFinding[] {
  if (some.length === 0) return more
  return more.length === 0 ? some : [...some, ...more]
}

function hasFound(findings: readonly StepFinding[]): boolean {
  return findings.length > 0
}
