import { changedParts } from '../diff/formats/prose.ts'
import { truncateText } from '../text.ts'
import { foreignInstruction, INSTRUCTIONS, LEAK } from './instruction-patterns.ts'
import { finding, type CompareRuleId, type Finding, type FindingLevel } from './rules.ts'

export interface DescriptionContext {
  readonly subject: string
  /** What the text is, such as `description`. */
  readonly path: string
  /** Names of other tools of the same server. */
  readonly others: readonly string[]
  /** Names of tools that the text may mention, because it is about all of them. */
  readonly ownTools?: readonly string[]
}

/**
 * Classes a changed description by what was added to it. What the earlier text already had is not held against the new one, so that a
 * description that always told the model to call another tool first can be reworded. A change that adds none of the listed things is wording.
 */
export function descriptionFindings(
  before: string,
  after: string,
  context: DescriptionContext,
): readonly Finding[] {
  if (before === after) return []
  const { subject, path } = context
  const suspicions = addedSuspicions(clipped(before), clipped(after), context)
  const found = suspicions.map(({ rule, level, excerpt }) =>
    finding(rule, {
      subject,
      path,
      message: `${TITLES[rule] ?? ''}: ${quoted(excerpt)}`,
      ...(level !== undefined && { level }),
      after: truncateText(excerpt, 200),
    }),
  )
  if (found.length > 0 || before === '') return found
  const [part] = changedParts(before, after)
  const message =
    part === undefined ? 'is worded differently' : `${quoted(part.expected)} is now ${quoted(part.actual)}`
  return [finding('description-wording', { subject, path, message, after: truncateText(after, 400) })]
}

/** What a text has that an earlier text had not. */
interface Suspicion {
  readonly rule: CompareRuleId
  readonly level?: FindingLevel
  readonly excerpt: string
}

const TITLES: Partial<Record<CompareRuleId, string>> = {
  'description-instruction': 'gained an instruction to the model',
  'description-address': 'gained an address',
  'description-path': 'gained a path',
  'description-hidden-characters': 'gained hidden characters',
  'description-other-tool': 'gained a reference to another tool',
  'description-encoded-text': 'gained an encoded text',
}

function quoted(text: string): string {
  return JSON.stringify(truncateText(text.trim(), 100))
}

/** A hostile text may be long. What comes later is unlikely to be read by a model. */
const LONGEST_TEXT = 100_000

function clipped(text: string): string {
  return text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text
}

function addedSuspicions(before: string, after: string, context: DescriptionContext): readonly Suspicion[] {
  const [then, now] = [visible(before), visible(after)]
  return [
    ...hiddenCharacters(before, after),
    ...instructions(then, now),
    ...disguisedInstructions(then, now),
    ...addresses(then, now),
    ...privatePaths(then, now),
    ...otherTools(then, now, context),
    ...encodedTexts(then, now),
  ]
}

/** The text as a model reads it: without invisible characters, with hidden tag characters as the letters that they stand for. */
function visible(text: string): string {
  return text
    .replace(/[\u{e0020}-\u{e007e}]/gu, (char) => String.fromCodePoint((char.codePointAt(0) ?? 0) - 0xe0000))
    .replace(INVISIBLE, '')
    .normalize('NFKC')
}

const INVISIBLE =
  /[\p{Cf}\u115f\u1160\u3164\uffa0]|[\u{fe00}-\u{fe0f}]|[\u{e0100}-\u{e01ef}]|\u034f|[\u17b4\u17b5]/gu

/** Hidden characters: formats, controls, tags, variation selectors, words that mix alphabets, and text pushed out of sight. */
const HIDDEN: readonly RegExp[] = [
  /(?:\u034f|[\u{e0100}-\u{e01ef}]|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}])+/gu,
  // A joiner, or a variation selector, belongs to an emoji or to a script that needs it.
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\u{fe0f}\p{Script=Devanagari}\p{Script=Arabic}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}])\u200d/gu,
  /(?<![\p{Emoji}\p{Script=Han}\p{Script=Mongolian}\p{Sm}\p{So}\u2190-\u21ff])[\ufe00-\ufe0f]/gu,
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/gu,
  /(?<!\p{L})(?=\p{L}{0,200}\p{Script=Latin})(?=\p{L}{0,200}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Cherokee}\p{Script=Armenian}])[\p{L}]{3,200}/gu,
  // Markup that a page does not show, and escape sequences of terminals.
  /<[a-z]+\b[^>]{0,200}\b(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0|color\s*:\s*(?:white|transparent|#fff))[^>]{0,100}>|<[a-z]+\s+hidden\b/giu,
  /(?:[ \t\u00a0\u2000-\u200a\u3000]{60}|\n(?:[ \t]*\n){14})\s*\S/gu,
]

function hiddenCharacters(before: string, after: string): readonly Suspicion[] {
  for (const pattern of HIDDEN) {
    const counts = countOf(before.match(pattern) ?? [])
    const added = (after.match(pattern) ?? []).find((text) => {
      const left = (counts.get(text) ?? 0) - 1
      counts.set(text, left)
      return left < 0
    })
    if (added === undefined) continue
    const at = after.indexOf(added)
    return [{ rule: 'description-hidden-characters', excerpt: after.slice(Math.max(0, at - 10), at + 30) }]
  }
  return []
}

function countOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

function instructions(before: string, after: string): readonly Suspicion[] {
  const earlier = new Map<string, number>()
  for (const { key, pattern } of INSTRUCTIONS)
    earlier.set(key, (earlier.get(key) ?? 0) + (before.match(pattern)?.length ?? 0))
  const words = normalized(before)
  const isKnown = (text: string): boolean =>
    normalized(text) === '' ? before.includes(text) : words.includes(normalized(text))
  const found: Suspicion[] = []
  for (const { key, pattern } of INSTRUCTIONS) {
    const matches = (after.match(pattern) ?? []).filter((text) => !isKnown(text))
    const left = earlier.get(key) ?? 0
    earlier.set(key, left - matches.length)
    const [first] = matches
    if (first === undefined || matches.length <= Math.max(0, left)) continue
    found.push({ rule: 'description-instruction', excerpt: sentenceAround(after, first) })
    break
  }
  const foreign = found.length > 0 ? undefined : foreignInstruction(before, after)
  if (foreign !== undefined) found.push({ rule: 'description-instruction', excerpt: foreign })
  return found
}

/** Instructions that are spelled so that people and filters do not read them: with digits, spaced out, backwards or rotated. */
function disguisedInstructions(before: string, after: string): readonly Suspicion[] {
  const added = after
    .split(/(?<=[.!?])\s+|\n+/u)
    .filter((sentence) => !before.includes(sentence))
    .join(' ')
  for (const [disguise, uncover] of DISGUISES) {
    if (!disguise.test(added)) continue
    const isSpacedOut = disguise === SPACED_OUT
    const plain = uncover(added)
    const isCovered = INSTRUCTIONS.some(
      ({ key, pattern }) => (isSpacedOut || GRAVE.has(key)) && plain.search(pattern) >= 0,
    )
    if (isCovered) return [{ rule: 'description-encoded-text', excerpt: added }]
  }
  return []
}

const SPACED_OUT = /(?:\b\p{L}[ ._-]+){7}/u

/** Which texts may be disguised, and how they are read. */
const DISGUISES: readonly (readonly [RegExp, (text: string) => string])[] = [
  [/\p{L}[0134578@$]+\p{L}/u, withLetters],
  [SPACED_OUT, (text) => text.replaceAll(/(?<=\b\p{L})[ ._-](?=\p{L}\b)/gu, '').replaceAll(/ {2,}/gu, ' ')],
  [/\p{L}{3}/u, (text) => Array.from(text).toReversed().join('')],
  [/\p{L}{3}/u, (text) => text.replaceAll(/[a-z]/giu, rotated)],
]
const GRAVE: ReadonlySet<string> = new Set(['override', 'leak', 'secrecy'])

function withLetters(text: string): string {
  return text.replaceAll(/(?=[0134578@$]*\p{L})[\p{L}0134578@$]{2,}/gu, (word) =>
    word.replaceAll(/[0134578@$]/gu, (char) => LETTERS[char] ?? char),
  )
}

const LETTERS: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
}

function rotated(letter: string): string {
  const first = letter < 'a' ? 65 : 97
  return String.fromCodePoint((((letter.codePointAt(0) ?? 0) - first + 13) % 26) + first)
}

function normalized(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

function sentenceAround(text: string, part: string): string {
  const at = Math.max(0, text.indexOf(part))
  const start = Math.max(text.lastIndexOf('. ', at) + 1, text.lastIndexOf('\n', at) + 1, 0)
  const ends = ['. ', '\n'].map((end) => text.indexOf(end, at + part.length)).filter((end) => end >= 0)
  return text.slice(start, Math.min(...ends, at + part.length + 80))
}

const WEB_ADDRESS =
  /\b(?:h(?:tt|xx)ps?|wss?|s?ftp|file|data|javascript|s3|gs|gcs|abfss?|smb|ssh|rsync|ldaps?|irc|tcp|udp|socks[45]?|magnet):\/{0,2}[^\s"'<>)\]}`,]+/giu
const MAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[a-z]{2,}/giu
const HOST =
  /(?:(?<![\w@/.-])|(?<![^\s"'`(])\/\/)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:com|net|org|io|dev|xyz|ru|cn|app|site|info|biz|top|cloud|online|ngrok|sh|me|tk|onion|link|live)\b(?:\/[^\s"'<>)]*)?|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/giu

function addresses(then: string, now: string): readonly Suspicion[] {
  // Brackets keep an address from being recognized by programs.
  const [before, after] = [then, now].map((text) =>
    text.replaceAll(/\s?(?:\[(?:\.|dot)\]|\((?:\.|dot)\)|\sdot(?=\s[a-z]{2,6}\b))\s?/giu, '.'),
  ) as [string, string]
  const earlier = new Set(
    [WEB_ADDRESS, MAIL, HOST].flatMap((pattern) => (before.match(pattern) ?? []).map(hostOf)),
  )
  const found: Suspicion[] = []
  for (const pattern of [WEB_ADDRESS, MAIL, HOST])
    for (const match of after.matchAll(pattern)) {
      const [address] = match
      const host = hostOf(address)
      if (host === '' || earlier.has(host)) continue
      earlier.add(host)
      const sentence = sentenceAround(after, address)
      const level = isHarmlessAddress(host, sentence, after.slice(Math.max(0, match.index - 60), match.index))
        ? 'change'
        : undefined
      found.push({ rule: 'description-address', excerpt: sentence, ...(level && { level }) })
    }
  return found.slice(0, MOST_EXCERPTS)
}

const MOST_EXCERPTS = 5

/** The host of a URL, the domain of an e-mail address. */
function hostOf(address: string): string {
  const rest = address.toLowerCase().replace(/^(?:[a-z]+:)?\/{0,2}/u, '')
  return (
    rest
      .split(/[/?#]/u)[0]
      ?.replace(/^.*@/u, '')
      .replace(/[.:]+$/u, '')
      .replace(/:\d+$/u, '')
      .replace(/^www\./u, '') ?? ''
  )
}

/** A link to documentation, or an example of a value. */
function isHarmlessAddress(host: string, sentence: string, before: string): boolean {
  if (new RegExp(`\\b${LEAK}\\b[^.]{0,60}\\bto\\b`, 'iu').test(sentence) && SENDS.test(sentence)) return false
  if (
    /^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1|(?:(?:api|docs|mail|my|your|app|host|server|\w)\.)?example(?:\.(?:com|org|net|io))?)$/u.test(
      host,
    )
  )
    return true
  return (
    /\b(?:see|docs?|documentation|refer(?:ence)?|more (?:info|information|details)|spec(?:ification)?|guide|learn|described|defined|format|syntax|per|according|rfc|standard|homepage|website|source|based on|powered by|e\.?g\.?|example|such as|like|for instance|default(?:s)?(?: to)?|using the|via the|api (?:at|of|from))\b[^\n]{0,50}$/iu.test(
      before,
    ) ||
    /(?:\/docs?\b|\/reference|\/wiki|\/spec|developer|readthedocs|github\.com|docs\.|wikipedia|rfc)/iu.test(
      sentence,
    )
  )
}

const SENDS =
  /\b(?:send|forward|upload|transmit|exfiltrate|bcc|cc|leak|relay|post|submit|e-?mail|report|deliver|copy)\b/iu

const PRIVATE_PATH =
  /(?:~|\$HOME|%APPDATA%|%USERPROFILE%|\$\{HOME\})[/\\][\w./\\-]*|(?:(?<=\/)|(?<![\w/]))\.(?:config\/(?:gcloud|gh|op)|ssh|aws|env|npmrc|pypirc|netrc|gnupg|kube|docker|git-credentials|cursor|claude|codex|gemini|bash_history|zsh_history|bashrc|zshrc|config\/gcloud|password-store)\b[\w./-]*|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\/etc\/(?:passwd|shadow|sudoers|hosts|ssh)\b|\/proc\/(?:self|\d+)\/\w+|\/root\/[\w./-]*|\/var\/run\/secrets[\w./-]*|\/run\/secrets[\w./-]*|\b(?:mcp|claude_desktop_config|settings\.local)\.json\b|\bcredentials\.json\b|\bwallet\.dat\b|\blogin data\b|\bkeychain\b|[A-Z]:\\Users\\[^\s"']*|\bprocess\.env\b|\bos\.environ\b|\$\{?[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)\b/giu

const PLAIN_PATH = /(?<![\w./:~-])\/(?:[\w.-]+\/)+[\w.-]+/gu

function privatePaths(before: string, after: string): readonly Suspicion[] {
  // Names of arguments have underscores where texts have blanks and dots.
  const [then, now] = [before, after].map((text) =>
    text.replaceAll(/(?<![\w/-]\w*)(?<=[a-z])_(?=(?:ssh|aws|env)\b(?!\/))/gu, ' .'),
  )
  const added = newMatches(then ?? '', now ?? '', PRIVATE_PATH).map((path): Suspicion => ({
    rule: 'description-path',
    excerpt: sentenceAround(now ?? '', path),
  }))
  if (added.length > 0) return added.slice(0, 1)
  return newMatches(before, after, PLAIN_PATH)
    .slice(0, 1)
    .map((path): Suspicion => ({
      rule: 'description-path',
      level: 'change',
      excerpt: sentenceAround(after, path),
    }))
}

function newMatches(before: string, after: string, pattern: RegExp): readonly string[] {
  const earlier = new Set((before.match(pattern) ?? []).map((text) => text.toLowerCase()))
  return (after.match(pattern) ?? []).filter((text) => !earlier.has(text.toLowerCase()))
}

const FOREIGN_TOOL =
  /\b(?:the |any |every )?[`"']?([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+)[`"']?(?:\(\))? (?:tool|function)\b|\b(?:call|calls|calling|invoke|invokes|invoking|using|use) (?:the )?[`"']?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`"']?(?:\(\)| tool| function)|\b(?:run|execute|trigger|invoke) (?:the )?[`"']([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`"']/giu

function otherTools(
  before: string,
  after: string,
  { others, ownTools = [] }: DescriptionContext,
): readonly Suspicion[] {
  const found: Suspicion[] = []
  for (const name of others) {
    if (mentions(before, name) || !mentions(after, name)) continue
    const sentence = sentenceAround(after, name)
    const level: FindingLevel | undefined = isShadowing(sentence, name) ? undefined : 'change'
    found.push({ rule: 'description-other-tool', excerpt: sentence, ...(level && { level }) })
  }
  const known = new Set([...others, ...ownTools])
  const earlier = new Set(
    Array.from(before.matchAll(FOREIGN_TOOL), ([, one, other, third]) => one ?? other ?? third),
  )
  for (const [text, one, other, third] of after.matchAll(FOREIGN_TOOL)) {
    const name = one ?? other ?? third ?? ''
    if (known.has(name) || earlier.has(name) || isPhrase(name)) continue
    earlier.add(name)
    found.push({ rule: 'description-other-tool', excerpt: sentenceAround(after, text) })
  }
  return found.slice(0, MOST_EXCERPTS)
}

/** Text about how another tool behaves or has to be called changes how that is used. Text that says what it is for is documentation. */
function isShadowing(sentence: string, name: string): boolean {
  const [lead = '', rest = ''] = sentence.split(name)
  if (/^\W*(?:the )?\W*$/iu.test(lead) && !PLAIN_PREDICATE.test(rest)) return true
  if (
    /\b(?:before|after|while)\s+(?:the )?\W*$/iu.test(lead) &&
    /^\W*(?:tool )?(?:runs|starts|is|executes|sends|finish|complet)/iu.test(rest)
  )
    return true
  if (
    /\b(?:parameters?|arguments?|results?|outputs?|inputs?|responses?|calls?) (?:of|to|for|from) \W*$/iu.test(
      lead,
    ) &&
    /^\W*(?:are|is|get|must|should|will|have|has)\b/iu.test(rest)
  )
    return true
  if (
    /\b(?:replac|overrid|supersed|modif|alter|rewrit|redirect|intercept|correct|shadow|hijack|hook|impersonat)\w*\b/iu.test(
      lead,
    )
  )
    return true
  if (
    /\b(?:when(?:ever)?|if|once|while|every time|each time|as soon as|any (?:call|use)|(?:calls?|uses?) (?:of|to))\b[^.]*$/iu.test(
      lead,
    )
  )
    if (/^\W*(?:\(\))?\W*\b(?:is|are|was|gets?|has|tool|must|should|carr|needs?)\b|^\W*$|^\W*,/iu.test(rest))
      return true
  if (
    /^\W*(?:tool |function )?(?:must|should|has to|have to|needs?|requires?|returns? (?:stale|wrong|old|outdated|incorrect|false)|is (?:(?:also|now|currently) )?(?:un\w+|in(?:secure|correct|accurate)|broken|disabled|deprecated|outdated|stale|slow|malicious|not )|fails|leaks?|cannot be trusted)\b/iu.test(
      rest,
    ) &&
    !DOCUMENTS.test(lead)
  )
    return true
  if (
    new RegExp(
      `\\b(?:call|invoke|run|execute|trigger|follow up with|finish with|start with)\\b[^.]{0,20}$`,
      'iu',
    ).test(lead) &&
    ACTS.test(name)
  )
    return true
  if (
    /\bto (?:obtain|get|find|resolve|learn|discover|look up|see|know|list)\b/iu.test(sentence) &&
    !ACTS.test(name)
  )
    return false
  return /\b(?:must|always|never|every|any|also|modif\w*|redirect|intercept|override|recipient|disabled|broken|unsafe|insecure|do not|don't)\b/iu.test(
    sentence,
  )
}

/** What is said about a tool to say what it is for. */
const PLAIN_PREDICATE =
  /^\W*(?:tool |function )?(?:is (?:better|faster|preferred|recommended|more|the|for|also|available|intended|meant|used|similar|cheaper|suited|deprecated)|can|may|lists?|returns?|reads?|gives?|has|supports?|does|offers?|takes?|shows?|works?|finds?|gets?|creates?)\b|^\W*$|^\W*[,:(]/iu

const DOCUMENTS = /\b(?:see|use|using|via|by|from|for)\s+(?:the )?[`"']?$/iu
/** Names of tools that change something. */
const ACTS =
  /(?:^|[_\-. ])(?:send|transfer|pay|delete|create|write|execute|exec|run|post|publish|upload|update|remove|grant|commit|push|e?mail|buy|order|drop|set|invite|share|move|store)(?:$|[_\-. ])/iu

/** Such as `read-only tool`: words of English that are joined by hyphens. */
function isPhrase(name: string): boolean {
  return name.includes('-') && !name.includes('_')
}

function mentions(text: string, name: string): boolean {
  if (name.length < 3) return false
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`)
  const isDistinct = /[_\-./]|[a-z][A-Z]|\d/u.test(name)
  const pattern = isDistinct
    ? `(?<![\\w-])${escaped}(?![\\w-])`
    : `[\`"'*]${escaped}[\`"'*]|\\b(?:tool|call|calling|calls|invoke|invoking|use the) ${escaped}\\b|\\b(?:when(?:ever)?|while|once|before|after) ${escaped} (?:is|gets|was|runs|returns)\\b|\\b${escaped}(?:\\(\\)| tool\\b)`
  return new RegExp(pattern, isDistinct ? 'u' : 'iu').test(text)
}

const ENCODED: readonly RegExp[] = [
  /(?<![\w+/=-])(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*[0-9+=])[A-Za-z0-9+/_-]{32,}={0,2}/gu,
  /(?<![\w+/=-])(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)/gu,
  /\b[0-9a-f]{40,}\b|\b(?:[0-9a-f]{2}[ :]){15,}[0-9a-f]{2}\b/giu,
  /(?:\\x[0-9a-f]{2}){6,}|(?:\\u[0-9a-f]{4}){6,}|(?:%[0-9a-f]{2}){8,}|(?:&#x?[0-9a-f]{2,5};){6,}/giu,
  /(?:\b\d{2,3}\b[ ,;]+){15,}\d{2,3}/gu,
  /\b[01]{8}(?: [01]{8}){5,}\b|\b(?:[A-Z2-7]{8}){5,}=*/gu,
]

function encodedTexts(before: string, after: string): readonly Suspicion[] {
  // What is inside of an address is reported with the address.
  const [then, now] = [before, after].map((text) => text.replaceAll(WEB_ADDRESS, ' '))
  const added: string[] = ENCODED.flatMap((pattern) => newMatches(then ?? '', now ?? '', pattern)).filter(
    (text) => !isRepeated(text) && !isName(text),
  )
  added.push(...newMatches(then ?? '', now ?? '', /[A-Za-z0-9+/]{12,}={0,2}/gu).filter(isReadableBase64))
  const [text] = added.toSorted((one, other) => Number(isHash(one, after)) - Number(isHash(other, after)))
  if (text === undefined) return []
  return [
    { rule: 'description-encoded-text', excerpt: text, ...(isHash(text, after) && { level: 'change' }) },
  ]
}

/** A name of words that is given a value, such as `ignoreWindowMinutes=`. */
function isName(text: string): boolean {
  return /^[a-z]{3,}(?:[A-Z][a-z]{2,})+=$/u.test(text)
}

/** A short text in base64 looks like a name, but a name is nothing readable in base64. */
function isReadableBase64(text: string): boolean {
  if (!/[a-z][A-Z]|[A-Z]{2}[a-z]|\d[A-Z]/u.test(text)) return false
  try {
    return /^[\w ,.;:!?'"/~@=-]*[a-z]{2,} [a-z]{2,}[\w ,.;:!?'"/~@=-]*$/iu.test(atob(text))
  } catch {
    return false
  }
}

/** The example of a hash or of the id of a commit hides nothing. */
function isHash(text: string, all: string): boolean {
  const at = all.indexOf(text)
  return (
    /^[0-9a-f]{32,64}$/iu.test(text) &&
    /\b(?:hash|sha-?\d*|md5|digest|checksum|commit|e\.g\.|example|such as)\b[^\n]{0,60}$/iu.test(
      all.slice(Math.max(0, at - 90), at),
    )
  )
}

/** A ruler such as `----` or `AAAA` encodes nothing, and neither does a path or a long name of words. */
function isRepeated(text: string): boolean {
  if ((text.match(/[/_-]/gu)?.length ?? 0) > text.length / 14) return true
  return new Set(text).size < 6 && !/^[\d ,;01]+$/u.test(text)
}
