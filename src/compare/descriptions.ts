import { changedParts } from '../diff/formats/prose.ts'
import { truncateText } from '../text.ts'
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
  /(?=\p{L}*\p{Script=Latin})(?=\p{L}*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Cherokee}\p{Script=Armenian}])[\p{L}]{3,64}/gu,
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

/** Things that a tool has no business with, unless it is about them. */
const SECRET =
  "(?:conversations?|chat (?:history|log)|(?:browsing|command|search|shell|(?:complete|entire|full|whole) (?:message|chat)) history|system prompt|(?:previous|prior|earlier|last) (?:messages?|tool (?:results?|outputs?))|credentials?(?: files?)?|passwords?|passphrases?|api[- _]?keys?|(?:access|auth|bearer|session|refresh|oauth)[- _]?tokens?|secrets?|private[- _]?keys?|ssh[- _]keys?|seed phrase|cookies?|clipboard|keystrokes|contacts?|env(?:ironment)?[- ]?(?:variables?|vars?)|personal (?:data|information)|(?:text|contents?) of (?:all|every|the) (?:open |other |current )?files?|user(?:'s|s')? (?:data|e-?mails?|messages?|files?|name|input|query|prompt|password|address|location|contacts?|question|clipboard)|(?:private|internal|confidential) (?:repositor(?:y|ies)|files?|data|documents?|notes?))"
/** Contents that are harmless to return, and not harmless to pass on. */
const CONTENT =
  '(?:(?:full |entire |complete |raw |file |its )?contents? of|files? contents?|(?:the|its|their) contents?|everything|all (?:emails?|messages?|files?|data|results?|notes?|of the)|tool (?:list|outputs?|results?|responses?)|(?:complete|entire|full|whole) (?:message|chat|conversation)\\w*)'
const PASS_ON =
  '(?:send|sends|forward|upload|transmit|exfiltrate|copy|e-?mail|bcc|cc|leak|submit|relay|share|attach|append|include|embed|insert|pass(?: along| on)?|paste|put|prepend|post|deliver|dump|mirror|replicate|sync|pipe)'
const LEAK = `(?:${PASS_ON}|encode|base64|supply|enter|fill in|type in|collect|gather|look (?:in|for|up)|search for|use|needs?|requires?|wants|expects|extract|retrieve|repeat|reveal|disclose|output|store|save|summari[sz]e|add|report|log|record|provide|read|write|return)`

/** Sentences that tell a model what to do besides calling the tool. `key` groups spellings, so that a reworded one is not new. */
const INSTRUCTIONS: readonly { readonly key: string; readonly pattern: RegExp }[] = [
  {
    key: 'override',
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass|supersede|discard|drop)s?\b[^.\n]{0,40}\b(?:previous|prior|earlier|above|preceding|other|all|any|system|user(?:'s)?|safety|existing|your)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|guidelines?|messages?|requests?|polic(?:y|ies)|directives?|restrictions?|checks?|constraints?|warnings?)/giu,
  },
  {
    key: 'override',
    pattern:
      /\b(?:ignoriere|vergiss|missachte|ignora|olvida|ignorez|oublie[zr]?|ignore[zr])\b[^.\n]{0,60}\b(?:anweisung|instruccion|instrucciones|instructions|istruzioni|regeln|reglas|consignes)/giu,
  },
  { key: 'override', pattern: /(?:忽略|无视|忘记|無視)[^。\n]{0,20}(?:指令|指示|说明|提示|规则|命令)/gu },
  {
    key: 'secrecy',
    pattern:
      /\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|need not|needn't|avoid|without|no need to)\s+(?:ever |explicitly |also |be )?(?:tell|mention|inform|reveal|notify|disclos|alert|warn|explain|announc|acknowledg|confirm|ask|show|report|expos|surfac|discuss|describ|display|let)\w*\b[^.\n]{0,40}\b(?:user|human|anyone|anybody|them|person|operator|people|this step|this instruction|these instructions|that you|it to|this to|about (?:this|it)|this)\b/giu,
  },
  {
    key: 'secrecy',
    pattern:
      /\b(?:silently|secretly|covertly|quietly|stealthily|discreetly|invisibly)\b|\b(?:hidden|invisible|concealed|kept) from (?:the )?(?:user|human|operator)|\bkeep (?:this|it|that) (?:hidden|secret|confidential|private|to yourself)|\bwithout (?:the )?user(?:'s)? (?:knowledge|consent|approval|confirmation|noticing)|\bwithout (?:asking|telling|informing|notifying|prompting|confirm\w+|mention\w+|waiting for (?:user|approval|confirmation))|\bbehind the scenes\b|\bnot visible to (?:the )?user/giu,
  },
  {
    key: 'tag',
    pattern:
      /<\/?\s*(?:important|system|secret|hidden|instructions?|admin|assistant|critical|override|directive|internal|priority|mandatory|prompt|note_to_(?:ai|model|assistant))\b[^>]{0,80}>|<\|[a-z_]{2,30}\|>|\[\/?(?:system|inst|admin|assistant|instructions?|hidden)\]|^\s*#{0,4}\s*(?:system|assistant|developer)\s*(?:prompt|message|note|instruction)?\s*:|<!--|\{\{[^}]{0,80}\}\}|<<SYS>>/gimu,
  },
  {
    key: 'leak',
    pattern: new RegExp(
      `\\b${LEAK}\\b[^.\\n]{0,80}?\\b${SECRET}\\b[^.\\n]{0,120}?\\b(?:to|into|in|as|at|via|using|inside|within|for|with|before|first|parameter|argument|field)\\b`,
      'giu',
    ),
  },
  {
    key: 'leak',
    pattern: new RegExp(
      `\\b${PASS_ON}\\b[^.\\n]{0,60}?\\b${CONTENT}\\b[^.\\n]{0,100}?(?:\\b(?:to|into|in|as|at|via|inside|within|with|parameter|argument|field|and|of)\\b|[.\\w]+\\.(?:json|env|pem|key|yaml|toml)\\b)`,
      'giu',
    ),
  },
  {
    key: 'leak',
    pattern:
      /\b(?:your|the) system prompt\b|\bhidden instructions?\b|\b(?:invoke|call|use|run) (?:this|the) (?:tool|function) with (?:the |your )?(?:complete|entire|full|whole|previous|all)\b/giu,
  },
  {
    key: 'leak',
    pattern:
      /\b(?:tools?|all|any|every|other|their|its)\b[^.\n]{0,20}\b(?:results?|outputs?|calls?|responses?|messages?|requests?)\b[^.\n]{0,20}\b(?:must|should|shall|have to|need to|are to) (?:first )?be (?:piped|sent|passed|routed|forwarded|shared|copied|logged|shown|mirrored|reported)\b/giu,
  },
  {
    key: 'secrecy',
    pattern:
      /\bno (?:se lo )?(?:digas|menciones|informes?)\b|\bne (?:le |lui )?(?:dis|dites|mentionne\w*|informe\w*)(?:-\w+)? pas\b|\bsag\w* (?:es )?(?:dem|den) (?:be)?nutzern? nicht|не (?:сообщай|говори|упоминай|рассказывай)|不要告诉|不要通知|不要提及|ユーザーに(?:知らせ|伝え|言わ)/giu,
  },
  {
    key: 'steer',
    pattern:
      /\b(?:if|when(?:ever)?) (?:the user |they |users? |you are |anyone |someone |being )?(?:is |are )?ask(?:s|ed|ing)?\b[^.\n]{0,60}[,:]?\s*\b(?:say|tell|answer|respond|reply|claim|state|recommend|deny|refuse|pretend|always|never|lie)\b|\b(?:respond|reply|answer) (?:to (?:the )?(?:user|them|every|all|any)\b[^.\n]{0,20})?(?:only |always )?(?:with|that)\b|\bhide\b[^.\n]{0,30}\b(?:errors?|results?|this|from|outputs?|fact|warnings?)\b|\bregardless of (?:what|the result|the user|the answer|whether)/giu,
  },
  {
    key: 'model',
    pattern:
      /\b(?:instructions?|notes?|messages?|directives?|reminders?|rules?|attention) (?:for|to) (?:the |an? |any |all )?(?:model|assistant|ai|llm|agent|claude|gpt|language model)s?\b/giu,
  },
  {
    key: 'obey',
    pattern:
      /\b(?:instructions?|commands?|directions?|steps|rules)\b[^.\n]{0,40}\byou (?:should|must|have to|need to|are to|will) (?:follow|obey|execute|comply|carry out)|\b(?:follow|obey|execute|comply with|carry out) (?:the |all |any |every |its |these |those )?(?:instructions?|commands?|requests?|directives?)\b|\btreat\b[^.\n]{0,60}\bas (?:coming from|if|trusted|instructions?|the user|an? (?:user|system))|["'](?:role|speaker)["']\s*:\s*["'](?:system|developer|assistant)["']|\b(?:answer|respond to|reply to)\b[^.\n]{0,50}\b(?:with|by saying|that)\b\s*["“'`]/giu,
  },
  {
    key: 'privilege',
    pattern:
      /\b(?:disable|turn off|switch off|deactivate|bypass|circumvent)\b[^.\n]{0,30}\b(?:safety|logging|logs?|verification|auth\w*|confirmation|security|checks?|filters?|guardrails?|sandbox|warnings?|2fa|mfa|firewall)\b|\bgrant\b[^.\n]{0,40}\b(?:access|admin|permissions?|rights|ownership)\b[^.\n]{0,30}\bto\b|\btransfer\b[^.\n]{0,40}\b(?:funds?|money|balance|bitcoin|tokens?|payments?)\b[^.\n]{0,30}\bto\b|\b(?:use|pay to|instead) (?:the )?account [A-Z]{2}\d\d|\b0x[0-9a-f]{40}\b|\bimpersonat\w+|\bescalate\b[^.\n]{0,20}\bprivileges?\b|\badd\b[^.\n]{0,30}\bto (?:the )?(?:admins?|sudoers|allow-?list|trusted)\b/giu,
  },
  {
    key: 'leak',
    pattern:
      /\b(?:send|forward|upload|transmit|exfiltrate|bcc|cc|leak|relay|deliver|mirror|replicate|copy|e-?mail)\b[^.\n]{0,80}\b(?:to|at)\s+(?:https?:|wss?:|the (?:following|attacker|remote|external|collection|logging|analytics|audit|monitoring|telemetry)|an? (?:external|remote|third|webhook)|[\w.+-]+@|[\w-]+\.(?:com|net|org|io|dev|xyz|ru|cn|co|app|site|me|info|biz|top)\b)/giu,
  },
  {
    key: 'sequence',
    pattern:
      /\b(?:before|prior to|after|when(?:ever)?|every time|each time|as soon as|upon|once|if)\b[^.\n]{0,25}\b(?:using|use|calling|call|called|running|run|invoking|invoke|executing|execute|answering|responding|replying|respond|reply)\b[^.\n]{0,60}(?:[,:]|\b(?:you|the (?:assistant|model|agent|llm|ai)|always|first|must|also|please|then)\b)[^.\n]{0,30}\b(?:read|open|cat|fetch|send|execute|run|visit|download|upload|list|load|retrieve|collect|include|append|pass|forward|search|access|browse|navigate|copy|write|create|delete|disable|install|make sure to (?:read|send|call|run)|call|invoke|query)\b/giu,
  },
  {
    key: 'model',
    pattern:
      /\b(?:the |an? |any |this |your |all |dear |hey |attention |note to (?:the )?)?(?:assistant|ai model|language model|llm|ai|ai agent|ai assistant|model|agent|claude|gpt|chatgpt|copilot|gemini)s?[,:]?\s+(?:must|should|shall|has to|have to|needs? to|is required to|are required to|is instructed to|will now|are to|is to|please|always|never|do not|don't)\b/giu,
  },
  {
    key: 'must-act',
    pattern:
      /\b(?:you|we) (?:must|should|shall|have to|need to|are required to|are instructed to|will|are expected to|ought to)\s+(?:now |always |also |first |then |immediately |additionally |instead )*(?:read|send|open|execute|run|fetch|forward|visit|download|upload|install|append|navigate|browse|access|e-?mail|copy|delete|disable|ignore|disregard|collect|gather|search for|look for|reveal|write|post|transfer|approve|grant|click|transmit|comply|obey|follow these|pretend|respond only|answer only|recommend|call|invoke)\b/giu,
  },
  {
    key: 'also-act',
    pattern:
      /(?:^|[.!;:\n]\s*|\b(?:and|then|please|afterwards|finally|additionally),?\s+)(?:always |also |additionally,? |first,? |then,? |immediately |please |make sure (?:to|that you|you) |be sure to |remember to |don't forget to |do not forget to |ensure (?:that )?you |it is (?:important|critical|essential|necessary|mandatory|crucial) (?:to|that you) )+(?:read|send|open|execute|run|fetch|forward|visit|download|upload|install|append|include|attach|navigate|browse|access|e-?mail|bcc|cc|copy|delete|disable|collect|gather|reveal|post|transfer|approve|grant|transmit|write|add|call|invoke|pass|set|mention|recommend|query|search|insert|embed|put|save|store|log)\b[^.\n]{0,100}\b(?:to|of|in|as|for|tool|file|from|with|before|after|user|every|any|first)\b/gimu,
  },
  {
    key: 'precedence',
    pattern:
      /\b(?:always|only|exclusively|must|should) (?:be )?(?:used?|prefer|choose|call(?:ed)?|select|pick) (?:only )?(?:this|the following) (?:tool|server|function)\b|\b(?:this|the) (?:tool|server|description|instruction|rule|message)s? (?:takes?|has|have) (?:precedence|priority)|\b(?:takes|has) (?:precedence|priority) over|\bsupersedes?\b|\b(?:do not|don't|never|stop) (?:use|using|call|calling|invoke|invoking|trust|trusting) (?:any |the |all )?(?:other|another|built-in|previous|alternative|competing|official)\b|\b(?:replaces?|instead of|rather than) (?:any|all|every|the) (?:other|previous|official|existing|built-in|standard) (?:\w+ )?(?:tools?|servers?|functions?)|\b(?:all|any|every) (?:other )?(?:tools?|calls?|requests?|servers?) (?:must|should|have to|need to) (?:first |be |go |pass )|\b(?:before|prior to) (?:any|every|each|all|doing) (?:other )?(?:tool|call|request|action|response|step|task|operation|anything)s?\b|\b(?:after|on|with|for|in) (?:any|every|each) (?:other )?(?:tool call|tool|response|reply|answer|message)\b/giu,
  },
  {
    key: 'execute',
    pattern:
      /\b(?:run|execute|eval|paste|type) (?:this|the following|these|the below)\b|\b(?:curl|wget|iwr|invoke-webrequest)\s+(?:-|https?:|\$)|\|\s*(?:ba|z)?sh\b|\b(?:ba|z)?sh -c\b|\beval\(|\bbase64 (?:-d|--decode|-D)\b|\b(?:pip|npm|npx|brew|apt(?:-get)?) (?:install|i|-y)\b|\bchmod \+x\b|\bpowershell\b|\brm -rf\b|\bsudo\b|\bdownload and (?:run|execute|install)|\bnc -e\b|\bdecode and (?:follow|execute|run|obey)/giu,
  },
  {
    key: 'role',
    pattern:
      /\byou are now\b|\bact as (?:if|an?|the)\b|\bpretend (?:to|that|you)\b|\bfrom now on\b|\bnew (?:instructions?|directives?|rules?|system prompt)\b|\b(?:this is an?|as an?) (?:system|developer|administrator|admin|emergency|critical|mandatory|security|compliance)[- ](?:message|notice|update|requirement|policy|override|instruction|request|command|step|protocol)|\b(?:mandatory|required|critical|important) (?:security |compliance |system |pre-?|first |audit |setup |verification )*(?:step|check|requirement|protocol|procedure|instruction)s?\b[^.\n]{0,10}:|\bfor (?:compliance|audit(?:ing)?|logging|debugging|verification|security|telemetry|analytics|backup|quality|billing|training|authentication|diagnostic) (?:purposes|reasons)\b[^.\n]{0,20}[,:]?[^.\n]{0,30}\b(?:send|include|forward|read|pass|append|copy|upload|attach|call|provide|log|add|share|report)|\b(?:do|don't|do not) (?:not )?(?:question|refuse|hesitate|verify|validate|sanitize)\b|\bauthori[sz]ed by\b|\bjailbreak|\bdeveloper mode\b|\bhas (?:already |been )*(?:pre-?)?(?:approved|consented|authori[sz]ed)|\b(?:user|human|confirmation|approval|consent|permission)\b[^.\n]{0,20}\b(?:is|are) (?:not|no longer|never) (?:required|needed|necessary)|\bskip (?:the |any |all )?(?:confirmation|approval|consent|verification|permission|validation|safety|security)|\bauto-?(?:approve|confirm|accept)\b/giu,
  },
  {
    key: 'steer',
    pattern:
      /\b(?:tell|convince|persuade|urge|instruct|advise|encourage|ask) (?:the )?(?:users?|humans?|customers?|people|them)\b[^.\n]{0,20}\b(?:to|that)\b|\b(?:in|with|to) (?:all|every|each|any|your|the final|your final) (?:\w+ )?(?:responses?|answers?|repl(?:y|ies)|outputs?|messages?)\b[^.\n]{0,30}\b(?:include|add|append|recommend|mention|insert|embed|say|promote)|\b(?:include|add|append|recommend|mention|insert|embed|promote|end|begin)\b[^.\n]{0,50}\b(?:in|to|with|at) (?:all|every|each|any|your) (?:\w+ )?(?:responses?|answers?|repl(?:y|ies)|outputs?|code|commits?|files?)\b|\brespond (?:only )?(?:with|as)\b|\balways (?:answer|respond|reply|say|claim|recommend|return|report|approve|transfer|agree)\b/giu,
  },
]

function instructions(before: string, after: string): readonly Suspicion[] {
  const earlier = new Map<string, number>()
  for (const { key, pattern } of INSTRUCTIONS)
    earlier.set(key, (earlier.get(key) ?? 0) + (before.match(pattern)?.length ?? 0))
  const known = normalized(before)
  const found: Suspicion[] = []
  for (const { key, pattern } of INSTRUCTIONS) {
    const matches = (after.match(pattern) ?? []).filter((text) => !known.includes(normalized(text)))
    const left = earlier.get(key) ?? 0
    earlier.set(key, left - matches.length)
    const [first] = matches
    if (first === undefined || matches.length <= Math.max(0, left)) continue
    found.push({ rule: 'description-instruction', excerpt: sentenceAround(after, first) })
    break
  }
  return found
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

const WEB_ADDRESS = /\b(?:https?|wss?|ftp|file|data|javascript):\/{0,2}[^\s"'<>)\]}`,]+/giu
const MAIL = /[\w.+-]+@[\w-]+\.[a-z]{2,}/giu
const HOST =
  /(?<![\w@/.-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:com|net|org|io|dev|xyz|ru|cn|app|site|info|biz|top|cloud|online|ngrok|sh|me|tk|onion|link|live)\b(?:\/[^\s"'<>)]*)?|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/giu

function addresses(before: string, after: string): readonly Suspicion[] {
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
  const rest = address.toLowerCase().replace(/^[a-z]+:\/{0,2}/u, '')
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
  if (/^(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1|(?:[\w-]+\.)*example(?:\.(?:com|org|net|io))?)$/u.test(host))
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
  const [then, now] = [before, after].map((text) => text.replaceAll(/(?<=[a-z])_(?=ssh|aws|env\b)/gu, ' .'))
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

/** Text that shadows a tool changes how it is used, whoever offers it. */
const SHADOWS =
  /\b(?:instead of|rather than|do not (?:use|call)|don't (?:use|call)|never (?:use|call)|when(?:ever)?|before|after|every|any|must|always|also|modif|redirect|intercept|replace|change|set|recipient|override|wrapper|disabled|deprecated|broken|unsafe|insecure)\b/iu
const FOREIGN_TOOL =
  /\b(?:the |any |every )?[`"']?([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+)[`"']?(?:\(\))? (?:tool|function)\b|\b(?:call|calls|calling|invoke|invokes|invoking|using|use) (?:the )?[`"']?([a-z][a-z0-9]*(?:_[a-z0-9]+)+)[`"']?(?:\(\)| tool| function)/giu

function otherTools(
  before: string,
  after: string,
  { others, ownTools = [] }: DescriptionContext,
): readonly Suspicion[] {
  const found: Suspicion[] = []
  for (const name of others) {
    if (mentions(before, name) || !mentions(after, name)) continue
    const sentence = sentenceAround(after, name)
    const level: FindingLevel | undefined =
      SHADOWS.test(sentence) && isCommand(sentence) ? undefined : 'change'
    found.push({ rule: 'description-other-tool', excerpt: sentence, ...(level && { level }) })
  }
  const known = new Set([...others, ...ownTools])
  const earlier = new Set(Array.from(before.matchAll(FOREIGN_TOOL), ([, one, other]) => one ?? other))
  for (const [text, one, other] of after.matchAll(FOREIGN_TOOL)) {
    const name = one ?? other ?? ''
    if (known.has(name) || earlier.has(name) || isPhrase(name)) continue
    earlier.add(name)
    found.push({ rule: 'description-other-tool', excerpt: sentenceAround(after, text) })
  }
  return found.slice(0, MOST_EXCERPTS)
}

/** A sentence about what the other tool is for is documentation; one about what has to be done with it is not. */
function isCommand(sentence: string): boolean {
  if (
    /\b(?:when(?:ever)?|if|once|every time|each time|as soon as)\b[^.]{0,40}\b(?:is|are|was|gets?|been) (?:called|used|invoked|available|run)\b/iu.test(
      sentence,
    )
  )
    return true
  return /\b(?:must|always|never|every|any|also|modif\w*|redirect|intercept|override|recipient|disabled|broken|unsafe|insecure|do not|don't)\b/iu.test(
    sentence,
  )
}

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
    : `[\`"'*]${escaped}[\`"'*]|\\b(?:tool|call|calling|calls|invoke|invoking|use the) ${escaped}\\b|\\b${escaped}(?:\\(\\)| tool\\b)`
  return new RegExp(pattern, isDistinct ? 'u' : 'iu').test(text)
}

const ENCODED: readonly RegExp[] = [
  /(?<![\w+/=-])(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*[0-9+/=])[A-Za-z0-9+/_-]{32,}={0,2}/gu,
  /(?<![\w+/=-])(?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)/gu,
  /\b[0-9a-f]{40,}\b|\b(?:[0-9a-f]{2}[ :]){15,}[0-9a-f]{2}\b/giu,
  /(?:\\x[0-9a-f]{2}){6,}|(?:\\u[0-9a-f]{4}){6,}|(?:%[0-9a-f]{2}){8,}|(?:&#x?[0-9a-f]{2,5};){6,}/giu,
  /(?:\b\d{2,3}\b[ ,;]+){15,}\d{2,3}/gu,
  /\b[01]{8}(?: [01]{8}){5,}\b|\b(?:[A-Z2-7]{8}){5,}=*/gu,
]

function encodedTexts(before: string, after: string): readonly Suspicion[] {
  // What is inside of an address is reported with the address.
  const [then, now] = [before, after].map((text) => text.replaceAll(WEB_ADDRESS, ' '))
  const added = ENCODED.flatMap((pattern) => newMatches(then ?? '', now ?? '', pattern)).filter(
    (text) => !isRepeated(text),
  )
  const [text] = added.toSorted((one, other) => Number(isHash(one, after)) - Number(isHash(other, after)))
  if (text === undefined) return []
  return [
    { rule: 'description-encoded-text', excerpt: text, ...(isHash(text, after) && { level: 'change' }) },
  ]
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
