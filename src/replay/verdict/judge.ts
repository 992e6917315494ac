import { NOTHING_FOUND, type Finding } from './finding.ts'
import { judgeIsError } from './is-error.ts'
import { judgeJsonRpc } from './json-rpc.ts'
import type { Judged } from './judged.ts'
import type { OfficialJudge, OfficialSchemaUse } from './official.ts'
import { judgeOrder } from './order.ts'
import type { QuestionsJudge } from './questions.ts'
import type { SchemaJudge } from './schema.ts'
import { judgeTiming } from './timing.ts'
import { judgeTransport } from './transport.ts'
import type { ValidationRule } from './validation-rule.ts'
import type { ValuesJudge } from './values.ts'

/** What the judges are to know beside the two answers. */
export interface Judging {
  /** Off: answers are taken as they come. */
  readonly validate?: boolean
  /** Paths in answers that are not compared. */
  readonly ignore?: readonly string[]
  /** Names of members that are not compared, wherever in an answer they stand. */
  readonly ignoreFields?: readonly string[]
  /** Paths of arrays whose order means nothing. */
  readonly unordered?: readonly string[]
  /** The relative difference that two numbers may have. */
  readonly numeric?: number
  /** Milliseconds by which an answer may be slower than recorded. */
  readonly slower?: number
  /** How the values of some answers are compared, where it is not exactly. */
  readonly validation?: readonly ValidationRule[]
  /** What to do with answers that break the official schema of their revision; `changed` by default. */
  readonly officialSchema?: OfficialSchemaUse
  /** Warnings count as errors. */
  readonly strict?: boolean
}

export interface Judges {
  readonly schema: SchemaJudge
  readonly official: OfficialJudge
  readonly values: ValuesJudge
  readonly questions: QuestionsJudge
  readonly judging: Judging
}

/** What was found, and the names of the rules by which values were compared. */
export interface Judgement {
  readonly findings: readonly Finding[]
  readonly judgedBy: readonly string[]
}

/** The layers of a verdict in their order: where one finds the answers to be of different kinds, those below have nothing to say. */
export function judge(judged: Judged, judges: Judges): Judgement {
  // Whether the answer would have been as recorded, nobody knows.
  if (judges.judging.validate === false || judged.end.kind === 'given-up')
    return { findings: [], judgedBy: [] }
  const findings = judgeLayers(judged, judges)
  return {
    findings: judges.judging.strict === true ? findings.map(strictly) : findings,
    judgedBy: judges.values.namesFor(judged),
  }
}

function strictly(finding: Finding): Finding {
  return finding.level === 'warn' ? { ...finding, level: 'error' } : finding
}

function judgeLayers(
  judged: Judged,
  { schema, official, values, questions, judging }: Judges,
): readonly Finding[] {
  const { slower } = judging
  const timing = slower === undefined ? NO_BOUND : { timing: slower }
  const told =
    judged.asides.length === 0 ? NOTHING_FOUND : joined(official.judgeAsides(judged), questions.judge(judged))
  const aside = joined(told, joined(judgeOrder(judged), judgeTiming(judged, timing)))
  if (judged.end.kind === 'answered' && judged.end.asRecorded && judged.live !== undefined)
    return joined(official.judge(judged), joined(values.judgeSame(judged), aside))
  const kind = [judgeTransport, judgeJsonRpc, judgeIsError].map((layer) => layer(judged)).find(hasFound)
  if (kind !== undefined) return kind
  return [...schema.judge(judged), ...official.judge(judged), ...values.judge(judged), ...aside]
}

const NO_BOUND = {}

// Mostly there is nothing, of which no list has to be made.
function joined(some: readonly Finding[], more: readonly Finding[]): readonly Finding[] {
  if (some.length === 0) return more
  return more.length === 0 ? some : [...some, ...more]
}

function hasFound(findings: readonly Finding[]): boolean {
  return findings.length > 0
}
