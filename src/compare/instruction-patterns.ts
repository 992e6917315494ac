/** Texts that tell a model what to do besides calling the tool that they describe. */

/** Things that a tool has no business with, unless it is about them. */
const SECRET =
  "(?:conversations?|chat (?:history|log)|(?:browsing|command|search|shell|(?:complete|entire|full|whole) (?:message|chat)) history|system prompt|(?:previous|prior|earlier|last) (?:messages?|tool (?:results?|outputs?))|credentials?(?: files?)?|passwords?|passphrases?|api[- _]?keys?|(?:access|auth|bearer|session|refresh|oauth)[- _]?tokens?|secrets?|private[- _]?keys?|ssh[- _]keys?|seed phrase|cookies?|clipboard|keystrokes|contacts?|env(?:ironment)?[- ]?(?:variables?|vars?)|personal (?:data|information)|(?:text|contents?) of (?:all|every|the) (?:open |other |current )?files?|user(?:'s|s')? (?:data|e-?mails?|messages?|files?|name|input|query|prompt|password|address|location|contacts?|question|clipboard)|(?:private|internal|confidential) (?:repositor(?:y|ies)|files?|data|documents?|notes?))"
/** Contents that are harmless to return, and not harmless to pass on. */
const CONTENT =
  '(?:(?:full |entire |complete |raw |file |its )?contents? of|files? contents?|(?:the|its|their) contents?|everything|all (?:emails?|messages?|files?|data|results?|notes?|of the)|tool (?:list|outputs?|results?|responses?)|(?:complete|entire|full|whole) (?:message|chat|conversation)\\w*)'
const PASS_ON =
  '(?:send|sends|forward|upload|transmit|exfiltrate|copy|e-?mail|bcc|cc|leak|submit|relay|share|attach|append|include|embed|insert|pass(?: along| on)?|paste|put|prepend|post|deliver|dump|mirror|replicate|sync|pipe)'
export const LEAK: string = `(?:${PASS_ON}|encode|base64|supply|enter|fill in|type in|collect|gather|look (?:in|for|up)|search for|use|needs?|requires?|wants|expects|extract|retrieve|repeat|reveal|disclose|output|store|save|summari[sz]e|add|report|log|record|provide|read|write|return)`

/** What a model knows and a tool does not need: what was said, and what the model was told. */
const OWN_TO_THE_MODEL =
  'transcripts?|(?:the|this|your|our|current|whole|entire|full|complete|ongoing) (?:chat|dialogue|dialog|conversation|discussion|context window|session so far)|(?:chat|conversation|dialogue|discussion) (?:so far|until now|up to (?:now|here)|log|text)|(?:everything|anything|all|whatever|what)(?: that)? (?:it|you|they|the (?:model|assistant|caller|agent|user|human|person|customer)) (?:(?:has|have|had|was|were) )?(?:remember|know|learn|has|have|typed?|said|says?|wrote|written|entered|told|shared|mention)\\w*|(?:remembers?|knows?|learned) about the (?:user|person|human|customer)|your (?:\\w+ )?(?:instructions?|prompts?|memory|memories|context|reasoning|thoughts)|(?:last|previous|other|any|every|recent) (?:\\w+ )?files? (?:you|that you|it|the user) (?:opened|read|edited|saw)|earlier (?:requests?|calls?|answers?|outputs?|results?) (?:headers?|tokens?)|(?:authorization|auth|cookie) headers?|headers? of (?:earlier|previous|other|the last)|(?:last|previous|first|any|latest|original|every) (?:messages?|prompts?|questions?|answers?|replies|requests?|turns?) (?:of|from|by) (?:the|a|your) (?:user|human|assistant|person|model)|open tabs|clipboard|ssh (?:folder|directory|config\\w*)|browser (?:data|profile|storage)'
const CARRIES =
  'fields?|param(?:eter)?s?|arguments?|args?|inputs?|headers?|payloads?|metadata|meta|send|sends|pass|passes|passed|include[sd]?|provides?|provided|attach\\w*|append\\w*|add(?:ed|s)?|hold|holds|contains?|carr(?:y|ies)|forward\\w*|upload\\w*|encode\\w*|supply|supplies|submit\\w*|store[sd]?|copy|copied|needs?|requires?|expects?|used? (?:it )?as|look(?:ed)? (?:at|into|in)|followed by|hand(?:s|ed|ing)?(?: \\w+)? over|giv(?:e|es|en|ing)|retry with|prefix\\w*|suffix\\w*|accompan\\w+|preceded|filled|set to'
/** What identifies a person or opens an account. */
const PERSONAL =
  "home address(?:es)?|date of birth|birth ?date|social security(?: number)?|ssn|passport (?:number|data)|bank (?:details|account|pin|card|login|password)|(?:their|your|the user's|a|the) pin|pin codes?|(?:credit|debit)[- ]card (?:number|details|data)s?|cvv|cvc|one-time (?:codes?|passwords?)|otp|2fa codes?|verification codes?|mother's maiden name|recovery (?:codes?|phrases?)|insurance (?:numbers?|ids?)|birthdays?|tax (?:numbers?|ids?)|account numbers?|(?:the |a )?user(?:.s) (?:real |current |true |exact )?(?:position|whereabouts|location|identity)|medical (?:records?|history)|real name"

/** What is around a tool, and is none of its business. */
const SURROUNDINGS =
  '(?:browser |session )cookies?|cookies? (?:of|from|in) (?:the|your|their|a) (?:browser|user|session|person)\\w*|(?:the|your|their|a|every) home (?:directory|folder)|(?:complete|entire|full|whole|current|running|ongoing|present|latest|recent) (?:chat|conversation|dialog(?:ue)?|transcript|session|thread|message) ?(?:log|history|text|so far)?|chat (?:log|history|transcript|messages?)|conversation (?:log|history|transcript|so far)|(?:last|previous|prior|past|recent) (?:\\w+ )?(?:messages?|turns|exchanges|prompts?|utterances)|(?:messages?|turns) (?:of|from) (?:the|this) (?:conversation|chat|session)|(?:list|set|names?|schemas?|descriptions?) of (?:\\w+ )?(?:available|other|all|your) tools?|(?:available|other|your|installed|connected) (?:tools?|servers?|connectors?)(?: with| and| list| schemas?| names?)|`?(?:env|printenv|whoami|hostname|ifconfig|ipconfig|uname)`(?: command)?|output of [`\'"]?(?:env|printenv|set|whoami|ps|ls|cat|history)\\b|environment of the (?:host|machine|process|client)|(?:home|user|profile|downloads|documents|desktop) (?:folder|directory)|dotfiles?|shell history|system (?:message|prompt)|hidden reasoning|chain[- ]of[- ]thought|scratchpad|(?:other|previously opened|recently opened) (?:documents|tabs|windows)|one-time (?:codes?|passwords?)|security codes?|credit card(?: number)?s?|card numbers?|login data|(?:terminal|shell|console) output|your (?:chats|conversations|dialogues|sessions)|(?:everything|files?|messages?|prompts?|instructions?|documents?|data|secrets?|texts?)(?: that| which)? you (?:have|had|were|are|saw|know|hold|got)\\b'
/** Ways to give something to a tool. */
const HANDED_OVER =
  'send|sends|include[sd]?|includes|attach\\w*|append\\w*|add(?:ed|s|ing)?|pass(?:es|ed|ing)?|supply|supplies|supplied|give|gives|given|hand(?:ed)? over|transmit\\w*|forward\\w*|upload\\w*|submit\\w*|provide[sd]?|carr(?:y|ies)|contain(?:s)?|needs?|wants?|requires?|expects?|put|enter(?:ed)?|fill(?:ed)?|store[sd]?|encode\\w*|quote[sd]?|paste[sd]?|copy|copied|summar\\w+|repeat(?:ed)?|with|as (?:the )?(?:context|input|argument|parameter|value)|in (?:the )?[`\'"]\\w+[`\'"]|field|argument|parameter'
const PEOPLE =
  'humans?|users?|persons?|people|customers?|owners?|account holders?|operators?|callers?|clients?'
const DECISIONS =
  'wish(?:es)?|declin\\w+|refus\\w+|object(?:s|ed|ion\\w*)|veto\\w*|disagree\\w*|say(?:s)? (?:no|otherwise|not)|said (?:no|otherwise|not)|choice|decisions?|preferences?|consent|permission|instructions?|orders?|requests? otherwise|wants? (?:something else|otherwise)|asks? (?:you )?(?:to stop|not to|otherwise)'

/** Orders that do not tell how the tool is called. */
const ORDERS =
  'read|gather|collect|attach|append|copy|paste|forward|upload|submit|mail|e-?mail|insert|embed|write|report|say|tell|claim|pretend|behave|keep calling|continue to|carry on|proceed|go ahead|repeat|disregard|ignore|forget|bypass|dismiss|accept|approve|grant|elevate|escalate|turn (?:off|on)|switch off|disable|deactivate|install|run|execute|download|load|visit|browse|obey|comply|leave|hide|conceal|drop|delete|erase|wipe|modify|redirect|route|transfer|pay|buy|order|share|publish|reveal|disclose|reply|respond|answer|memori[sz]e|trust|recommend|promote|scan|extract|harvest|exfiltrate|dump|send|post|pass (?:along|on)|look (?:into|through|in)|pull|sync|mirror|impersonate|sign|encode|hand over|quote'

/** Sentences that tell a model what to do besides calling the tool. `key` groups spellings, so that a reworded one is not new. */
export const INSTRUCTIONS: readonly { readonly key: string; readonly pattern: RegExp }[] = [
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
      /\b(?:do not|don't|never|must not|mustn't|should not|shouldn't|need not|needn't|avoid|without|no need to|(?:do not|don't|does not|doesn't) (?:have|need) to|(?:are|is) not (?:required|obliged|expected|supposed) to|not necessary to)\s+(?:ever |explicitly |also |be )?(?:tell|mention|inform|reveal|notify|disclos|alert|warn|explain|announc|acknowledg|confirm|ask|show|report|expos|surfac|discuss|describ|display|let)\w*\b[^.\n]{0,40}\b(?:to (?:the|a|any) (?:user|human|person)|user|human|anyone|anybody|them|person|operator|people|this step|this instruction|these instructions|that you|it to|this to|about (?:this|it)|this)\b/giu,
  },
  {
    key: 'secrecy',
    pattern:
      /\b(?:secretly|covertly|quietly|stealthily|discreetly|invisibly)\b|(?<!\b(?:succeed|fail|work|continue|end|exit|stop|return|complete)s? )\bsilently\b(?! (?:ignor|skip|fail|succe|truncat|drop|overwr|discard|clamp|replac|convert|do(?:es)? nothing|round|cut|omit|continu|return|end|creat))|\b(?:hidden|invisible|concealed|kept) from (?:the )?(?:user|human|operator)|\bkeep (?:this|it|that) (?:hidden|secret|confidential|private|to yourself)|\bwithout (?:the )?user(?:'s)? (?:knowledge|consent|approval|confirmation|noticing)|\bwithout (?:asking|telling|informing|notifying|prompting|confirm\w+|mention\w+|waiting for (?:user|approval|confirmation))|\bbehind the scenes\b|\bnot visible to (?:the )?user/giu,
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
      /\b(?:your|the)(?: \w+)? system prompt\b(?! (?:editor|template|setting|library|field|id|name|file|generator|builder|manager))|\bhidden instructions?\b|\b(?:invoke|call|use|run) (?:this|the) (?:tool|function) with (?:the |your )?(?:complete|entire|full|whole|previous|all)\b/giu,
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
      /\b(?:if|when(?:ever)?) (?:the user |they |users? |you are |anyone |someone |being )?(?:is |are )?ask(?:s|ed|ing)?\b[^.\n]{0,60}[,:]?\s*\b(?:say|tell|answer|respond|reply|claim|state|recommend|deny|refuse|pretend|always|never|lie)\b|(?<!\b(?:an?|the|its|your|this|each|every|short|final|direct) )\b(?:respond|reply|answer) (?:to (?:the )?(?:user|them|every|all|any)\b[^.\n]{0,20})?(?:only |always )?(?:with|that)\b|\bhide\b[^.\n]{0,30}\b(?:errors?|results?|this|from|outputs?|fact|warnings?)\b|\bregardless of (?:what|the result|the user|the answer|whether)/giu,
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
      /\b(?:you|we) (?:must|should|shall|have to|need to|are required to|are instructed to|will|are expected to|ought to)\s+(?:now |always |also |first |then |immediately |additionally |instead )*(?:read|send|open|execute|run|fetch|forward|visit|download|upload|install|append|navigate|browse|access|e-?mail|copy|delete|disable|ignore|disregard|collect|gather|search for|look for|reveal|write|post|transfer|approve|grant|click|transmit|comply|obey|follow these|pretend|respond only|answer only|recommend|(?:call|invoke)(?! (?:this|it)\b(?! (?:tool |function )?(?:with|before (?:any|every|each)|in (?:every|each)))))\b/giu,
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
      /\byou are now\b|\bact as (?:if|an?|the)\b|\bpretend (?:to|that|you)\b|\bfrom now on\b|\bnew (?:instructions?|directives?|rules?|system prompt)\b|\b(?:this is an?|as an?) (?:system|developer|administrator|admin|emergency|critical|mandatory|security|compliance)[- ](?:message|notice|update|requirement|policy|override|instruction|request|command|step|protocol)|\b(?:mandatory|required|critical|important) (?:security |compliance |system |pre-?|first |audit |setup |verification )*(?:step|check|requirement|protocol|procedure|instruction)s?\b[^.\n]{0,10}:|\bfor (?:compliance|audit(?:ing)?|logging|debugging|verification|security|telemetry|analytics|backup|quality|billing|training|authentication|diagnostic) (?:purposes|reasons)\b[^.\n]{0,20}[,:]?[^.\n]{0,30}\b(?:send|include|forward|read|pass|append|copy|upload|attach|call|provide|log|add|share|report)|\b(?:do|don't|do not) (?:not )?(?:question|refuse|verify|validate|sanitize)\b|\bauthori[sz]ed by\b|\bjailbreak|\bdeveloper mode\b|\bhas (?:already |been )*(?:pre-?)?(?:approved|consented|authori[sz]ed)|\b(?:user|human|confirmation|approval|consent|permission)\b[^.\n]{0,20}\b(?:is|are) (?:not|no longer|never) (?:required|needed|necessary)|\bskip (?:the |any |all )?(?:confirmation|approval|consent|verification|permission|validation|safety|security)|\bauto-?(?:approve|confirm|accept)\b/giu,
  },
  {
    key: 'steer',
    pattern:
      /\b(?:tell|convince|persuade|urge|instruct|advise|encourage|ask) (?:the )?(?:users?|humans?|customers?|people|them)\b[^.\n]{0,20}\b(?:to|that)\b|\b(?:in|with|to) (?:all|every|each|any|your|the final|your final) (?:\w+ )?(?:responses?|answers?|repl(?:y|ies)|outputs?|messages?)\b[^.\n]{0,30}\b(?:include|add|append|recommend|mention|insert|embed|say|promote)|\b(?:include|add|append|recommend|mention|insert|embed|promote|end|begin)\b[^.\n]{0,50}\b(?:in|to|with|at) (?:all|every|each|any|your) (?:\w+ )?(?:responses?|answers?|repl(?:y|ies)|outputs?|code|commits?|files?)\b|\brespond (?:only )?(?:with|as)\b|\balways (?:answer|respond|reply|say|claim|recommend|return|report|approve|transfer|agree)\b/giu,
  },
  {
    key: 'override',
    pattern:
      /\b(?:your|prior|earlier|previous|preceding|above|any other|all other) (?:\w+ )?(?:instructions?|guidance|guidelines?|directives?|rules|constraints|safeguards|prompts?|training)\b|\b(?:rules|guidance|guidelines|instructions|restrictions|safeguards|policies)\b[^.\n]{0,30}\b(?:no longer appl|do(?:es)? not apply|(?:is|are|as) (?:void|null|suspended|lifted|obsolete|cancelled|revoked|replaced|overridden))/giu,
  },
  {
    key: 'leak',
    pattern: new RegExp(
      `\\b(?:${OWN_TO_THE_MODEL})\\b[^.\\n]{0,80}\\b(?:${CARRIES})\\b|\\b(?:${CARRIES})\\b[^.\\n]{0,80}\\b(?:${OWN_TO_THE_MODEL})\\b`,
      'giu',
    ),
  },
  {
    key: 'leak',
    pattern: new RegExp(
      `\\b(?:${PERSONAL})\\b[^.\\n]{0,60}\\b(?:${CARRIES})\\b|\\b(?:ask|request|demand|obtain|require|need|collect|prompt|provide|pass|include|send)\\w*\\b[^.\\n]{0,50}\\b(?:${PERSONAL})\\b`,
      'giu',
    ),
  },
  {
    key: 'secrecy',
    pattern:
      /\b(?:no need to|need not|needn't|do not|don't|never|without|avoid|unnecessary to|rather than)\s+(?:to )?(?:trouble|bother|disturb|involv|burden|worry|consult|interrupt|wait for|alarm|confus)\w*\b[^.\n]{0,30}\b(?:user|human|person|people|customer|them|anyone|details?)\b|\b(?:(?:leave out|omit)(?= (?:any |all |the |every )?(?:mention|fees?|warnings?|risks?|fact))|hold back|withhold|suppress|conceal|play down|downplay|gloss over|no mention of|any mention of|spare the (?:user|person))\b[^.\n]{0,40}\b(?:mention|fees?|details?|errors?|warnings?|costs?|risks?|fact|this|call|user|person|step)\b|\b(?:no|without|any|leave no|remove|hide|erase|cover|delete) (?:a |any |the |your )?(?:trace|tracks|evidence)s?\b|\b(?:wipe|erase|clear|purge|delete|tamper with) (?:the |all |any |your )?(?:\w+ )?(?:log(?: file)?s?|traces?|history|audit trail)\b[^.\n]{0,20}\b(?:so|after|before|once|to|when|afterwards)\b/giu,
  },
  {
    key: 'privilege',
    pattern:
      /\b(?:even (?:if|when)|although|though) (?:nobody|no one|the user (?:did not|didn't|has not|never)|not) (?:has )?(?:been )?(?:ask|request|approv|agree|confirm|consent)\w*|\bwithout being (?:asked|told|prompted)\b|\b(?:confirmations?|approvals?|permissions?|consent|asking)\b[^.\n]{0,40}\b(?:slows?|unnecessary|superfluous|wast\w+|annoy\w*|optional|can be skipped|may be skipped|is implied|are implied|is assumed|is given)\b|\bno (?:confirmation|approval|permission|consent|prior approval)s? (?:is |are )?(?:needed|required|necessary)|\b(?:its|the|with|admin|user|root) password (?:is|=|:)\s+["'`]?[\w!$#-]*\d|\b(?:do not|don't|never) (?:share|discuss) (?:it|this|that|them) with\b|\bgo ahead\b[^.\n]{0,40}\b(?:right away|without|immediately|directly)\b|\b(?:act|buy|do|run|send|pay|delete) (?:it )?first\b[^.\n]{0,20}\b(?:ask|explain|confirm) (?:later|afterwards)/giu,
  },
  {
    key: 'tag',
    pattern:
      /(?:^|[.!?]\s+|\n\s*)(?:Human|User|Assistant|System|Developer|AI)\s*:\s|\bEND OF (?:THE )?(?:TOOLS?|TOOL LIST|DESCRIPTION|INSTRUCTIONS?|PROMPT|SYSTEM|CONTEXT|CONVERSATION|USER)\b|\bBEGIN (?:NEW )?(?:INSTRUCTIONS?|PROMPT|SYSTEM|CONVERSATION)\b/gu,
  },
  {
    key: 'model',
    pattern:
      /\b(?:assistants?|ai|llm|models?|agents?) (?:is|are) (?:expected|supposed|asked|told|obliged|encouraged|instructed|free|permitted) to\b|\b(?:assistant|ai|llm|model|agent)s? (?:agrees?|promises?|undertakes?|consents?|commits?) to\b|\ba (?:good|helpful|smart|proper|competent) (?:assistant|model|agent|ai)\b|\b(?:open|follow|visit|click) (?:the |any |every |all |each )?(?:links?|urls?) (?:in|from|of|that)\b/giu,
  },
  {
    key: 'precedence',
    pattern:
      /\b(?:higher|highest|top|absolute|greater) (?:priority|precedence|authority) (?:than|over|of)\b|\b(?:overrid|outrank|trump)(?:es|ing|s)? (?:any|all|every|other|the (?:system|user))\b|\b(?:other|rival|competing|alternative|third-party|competitors?'?) (?:\w+ )?(?:tools?|servers?|services?|brokers?|products?|providers?|vendors?)\b[^.\n]{0,50}\b(?:avoid\w*|vulnerab\w+|unsafe|insecure|compromised|outdated|malicious|broken|untrusted|not be (?:used|trusted|called)|never|unreliable|cite)\b|\b(?:answers?|responses?|replies) (?:should|must|shall|have to|need to|ought to) (?:not |never |always |only )?(?:cite|mention|recommend|include|contain|promote|name|refer|link|favou?r|praise|end|begin|start)\b|\b(?:prefer|choose|pick|select|recommend|favou?r|suggest) (?:the )?(?:most expensive|costliest|priciest|sponsored|our (?:own )?|premium|partner)\b/giu,
  },
  {
    // A description says what a tool does, in its first sentence often as an order. A later order to do something else is meant for the model.
    key: 'order',
    pattern: new RegExp(
      `(?<=[.!?:;]["'”)]?\\s+|\\n\\s*(?:[-*]\\s+|#+\\s*)?)(?:(?:please|then|also|now|finally|additionally|afterwards|next|kindly|in addition|instead|meanwhile|(?:before|after|when|whenever|if|once|should|while|in case|for|as|upon|on|whatever|no matter|every|each|until|unless)\\b[^.,\\n]{0,80}),?\\s+)*(?:${ORDERS})\\b(?!\\s*(?:[:;,.)]|\\w*s\\b|(?:only |just )?(?:when|if|for|to|is|are|the result|blank|empty)\\b|[\`"'])|\\s+of\\b)[^.\\n]{3,}`,
      'giu',
    ),
  },
  {
    key: 'steer',
    pattern:
      /\bas an? (?:ai|llm|language model|assistant|agent)\b|\bcarry (?:them|it|these|those) out\b|\b(?:executed|run|evaluated|interpreted) as (?:an? )?(?:shell|command|code|system|instruction)\w*|\b(?:user|human|person|people|anyone|nobody)\b[^.\n]{0,12}\b(?:never|not|cannot)\b[^.\n]{0,12}\b(?:finds? out|learn|know|see|notice|hear|realiz|suspect)\w*|\bkeep (?:calling|using|invoking|sending|asking|trying|buying|running)\b[^.\n]{0,40}\buntil\b|\b(?:elevate|escalate|switch|change) to (?:root|admin\w*|sudo|superuser)\b|\b(?:official|other|built-in|existing|original|standard) (?:\w+ )?(?:tools?|servers?|functions?)\b[^.\n]{0,40}\b(?:answered|replaced|handled|served|redirected|intercepted|routed)\b|\b(?:no matter|whatever|regardless of) (?:what|how|which|the)\b[^.\n]{0,40}\b(?:comes?|says?|result|returns?|answer|policy|error|outcome|user)\b|\bon (?:their|the user's|the user’s|his|her) behalf\b[^.\n]{0,20}(?:without|$)|\b(?:warnings?|errors?|alerts?|prompts?) can be (?:dismissed|ignored|skipped|accepted)|\b(?:unmentioned|unreported|undisclosed)\b|\b(?:carry on|continue|proceed|go on) (?:anyway|regardless|nevertheless|all the same)|\b(?:users?|humans?|people|they|nobody|no one) (?:need not|needn't|do not need to|don't need to|should not|shouldn't|must not|mustn't|never|will not|won't) (?:see|know|notice|hear|learn|be told|be aware|be asked)\b|\bthis (?:step|call|action|part) is (?:internal|private|confidential|invisible|hidden)\b|\bfrom this (?:point|moment)\b|\byou (?:now )?(?:report to|work for|belong to|serve|answer to)\b/giu,
  },
  {
    key: 'leak',
    pattern:
      /\b(?:jwts?|credentials?|api[- _]?keys?|passwords?|secrets?|private[- _]?keys?|(?:access|bearer|session|auth|refresh) tokens?)\b[^.\n]{0,60}\b(?:you (?:have|come|know|find|see|hold|remember)|of the (?:current|active|running) (?:login|session|user)|along\b|across\b)|\b(?:prior|previous|last|recent|earlier) (?:\w+ )?(?:user )?turns?\b|\bverbatim\b[^.\n]{0,30}\b(?:hint|context|field|argument|parameter|as)\b/giu,
  },
  {
    // What the model has and a tool is not about: the conversation, the other tools, the machine.
    key: 'leak',
    pattern: new RegExp(
      `\\b(?:${SURROUNDINGS})(?![\\w-])[^.\\n]{0,60}\\b(?:${HANDED_OVER})|\\b(?:${HANDED_OVER})\\b[^.\\n]{0,60}(?<![\\w-])(?:${SURROUNDINGS})(?![\\w-])`,
      'giu',
    ),
  },
  {
    key: 'privilege',
    pattern: new RegExp(
      `\\b(?:overrid|outweigh|outrank|trump|prevail|supersed|disregard|despite|regardless|even (?:if|when|though|after)|against|no matter|instead of|rather than|above|before)\\w*\\b[^.\\n]{0,30}\\b(?:${PEOPLE})\\b[^.\\n]{0,15}\\b(?:${DECISIONS})|\\b(?:${DECISIONS})\\w*\\b[^.\\n]{0,20}\\b(?:of|by|from) (?:the |a |any |your )?(?:${PEOPLE})\\b[^.\\n]{0,30}\\b(?:ignored|disregarded|overrul|overridd|irrelevant|not count|does not matter|unnecessary|void|secondary)`,
      'giu',
    ),
  },
  {
    key: 'privilege',
    pattern:
      /\b(?:admin\w*|developer|dev|debug|god|root|maintenance|unrestricted|privileged|elevated|sudo|superuser|jailbreak|trusted|emergency) (?:mode|access|rights|status|privileges)\b[^.\n]{0,15}\b(?:is|are|has been|have been) (?:now |already |hereby )?(?:on|enabled|active|activated|granted|in effect)|\b(?:safety|security|guardrails?|safeguards?|policy|policies|restrictions?|limits?|content filters?|ethic\w*)\b[^.\n]{0,40}\b(?:no longer|not|never|cease|stopped?)\b[^.\n]{0,15}\b(?:appl(?:y|ies)|bind|hold|bound|count|concern|exist)\b|\byou (?:are|have been) (?:now )?(?:free|exempt|released|unrestricted|allowed to bypass|no longer)\b|\b(?:pre-?approved|pre-?authori[sz]ed|approved in advance|already (?:approved|agreed|consented|authori[sz]ed|confirmed))\b/giu,
  },
  {
    key: 'precedence',
    pattern:
      /\b(?:other|another|any|all|every|each|those|rival|competing|native|built-in|similar) (?:\w+ )?(?:tools?|servers?|plugins?|integrations?|sources?|providers?)\b[^.\n]{0,60}\b(?:compromised|malicious|unsafe|insecure|unreliable|infected|fraudulent|fake|hacked|blocked|retired|obsolete|decommissioned|discontinued|return(?:s|ed)? (?:wrong|false|stale|bad|incorrect|outdated))|\b(?:route|redirect|channel|funnel|pass|send|forward|direct|deliver|hand)\b[^.\n]{0,60}\b(?:through|via|by way of) (?:this|it\b|here\b|me\b)|\b(?:call|use|invoke|run|consult|query) (?:this|it)(?: (?:tool|function|server))?\b[^.\n]{0,30}\b(?:after|before|on|in|with|for|at) (?:each|every|all|any)\b(?! (?:time|item|row|page|file|element|entry|record|batch|chunk)\b)|\b(?:tool|server|its|this) (?:outputs?|results?|responses?|answers?|descriptions?) (?:is|are) (?:authoritative|final|binding|law|the (?:only )?truth|to be (?:believed|obeyed|trusted))/giu,
  },
  {
    key: 'steer',
    pattern:
      /\b(?:prefer|recommend|choose|pick|select|favou?r|suggest|offer|book|buy|order|promote)\b[^.\n]{0,60}\b(?:even (?:if|when|though)|although|despite|whether or not|regardless)\b|\b(?:rate|review|praise|recommend|promote|endorse|advertise|upvote|star|mention|plug)\b[^.\n]{0,30}\b(?:this|our|the) (?:server|tool|product|service|company|app|plugin|brand|vendor|sponsor)\b|\b(?:five|5)[- ]stars?\b|\b(?:say|claim|state|insist|pretend|assert|answer|reply|report|tell \w+|inform \w+|explain|announce) (?:that )?(?:nothing|no one|nobody|there (?:is|are|was|were) no|no other|it (?:was|is) (?:sold|unavailable|the only)|everything (?:is|was|went) (?:fine|ok|well|normal))/giu,
  },
  {
    // What a tool reads is data. A text that makes it an order, or more than what the user says, is not about the tool.
    key: 'obey',
    pattern:
      /\b(?:commands?|instructions?|orders?|directives?|tasks?) (?:that |which )?(?:the )?(?:assistant|model|agent|ai|you) (?:must |should |will |then |also )?(?:carr|execut|follow|obey|perform|run|do\b|fulfil)\w*|\b(?:is|are|has|have) to be (?:fulfilled|followed|obeyed|carried out|complied with|believed)\b|\b(?:genuine|real|valid|legitimate|authentic|direct|trusted|verified) (?:requests?|commands?|instructions?|orders?|wishes) (?:of|from|by) (?:the |an? )?(?:user|developer|operator|system|admin\w*|owner)\b|\bthe (?:user|human|person|customer) is (?:mistaken|wrong|confused|lying|incorrect)\b|\b(?:outranks?|outweighs?|overrules?|beats?|prevails? over|counts? more than|takes? precedence over)\b[^.\n]{0,20}\b(?:user|human|person|system|developer|operator)\b/giu,
  },
  {
    key: 'secrecy',
    pattern:
      /\b(?:not|never|isn't|aren't|nothing(?: \w+)? is) (?:be )?(?:shown|told|visible|displayed|reported|mentioned|revealed|disclosed|presented) to (?:the |any |an? )?(?:users?|persons?|humans?|customers?|one who|callers?|people)\b|\bwithout (?:a|one|any|another|further) (?:word|mention|remark|hint|comment)\b|\b(?:keep|kept|leave|left)\b[^.\n]{0,40}\b(?:out of|unmentioned|off) (?:the |your |any )?(?:summary|answers?|reply|report|response|transcript)\b|\b(?:leave|keep)\b[^.\n]{0,30}\bunmentioned\b/giu,
  },
  {
    key: 'privilege',
    pattern:
      /\b(?:approval|confirmation|consent|permission|sign-off) (?:of|from|by) (?:the |an? |any )?(?:user|human|person|customer|owner|operator|account holder)s?\b[^.\n]{0,20}\b(?:is|are)(?: not|n't) (?:needed|required|necessary)|\b(?:your|all|any|safety|content|usual|normal) (?:restrictions?|limitations?|guardrails?|safeguards?|filters?|rules)\b[^.\n]{0,20}\b(?:lifted|suspended|waived|void|(?:no longer|not|n't) (?:apply|applies|in force|valid))|\b(?:whatever|no matter what|irrespective of what|regardless of what) (?:was|is|were|gets?|the (?:user|caller|person)|they|you|anyone) (?:\w+ )?(?:ask|request|said|says?|want|told|specif|order|instruct)\w*/giu,
  },
  {
    key: 'steer',
    pattern:
      /\b(?:never|do not|don't|must not) (?:flag|question|doubt|double-check|criticise|criticize|complain about)\b|\btools?\b[^.\n]{0,30}\b(?:malware|spyware|viruses|phishing|scam)\b|(?:réponds|répondez|dis|dites) toujours\b|\bresponde[r]? siempre\b|\bantworte(?:t|n)? immer\b|\brispondi sempre\b|\bresponda sempre\b|\bвсегда отвечай\b/giu,
  },
  {
    key: 'leak',
    pattern: /\b(?:forward|cop(?:y|ie)|bcc|cc|mirror)\w*\b[^.\n]{0,30}\bto\s+[\w.+-]+@[\w-]+\.\w/giu,
  },
  {
    key: 'tag',
    pattern: /[([]\s*(?:system|admin|developer|operator)(?:'s)? (?:note|message|notice|prompt|override)\b/giu,
  },
  {
    key: 'privilege',
    pattern:
      /\b(?:(?:do|does|is|are|need|needs)(?: not|n't)|without|never|no longer) (?:needs? |requires? |wait for |waiting for |have to |subject to )?(?:be )?(?:the |an? |any )?(?:(?:user|human|person|customer|owner|operator|account holder)(?:'s)? (?:approv|confirm|permi|consent|agree|sign-off)\w*|(?:approv|confirm|permi|consent|agree)\w* (?:of|from|by) (?:the |an? |any )?(?:user|human|person|customer|owner|operator|account holder))|\b(?:needs?|requires?|takes) no (?:\w+ )?(?:approval|confirmation|review|permission|consent|sign-off)\b|\bnotwithstanding\b|\bwithout (?:a |any |being |having been |further )?(?:read|reviewed|checked|inspected|looked at|examined|check|review|look|inspection|second thought)\b(?! (?:out|ing))|\b(?:are|is) safe and (?:may|can|should) be\b|\b(?:values?|secrets?|it|they|results?|contents?|output|answers?) (?:should|must|has to|have to|is to|are to|needs? to) (?:then |also |always |first |afterwards )*be (?:posted|sent|forwarded|uploaded|shared|published|mailed|e-?mailed|transmitted) (?:to|in|on)\b|\b(?:token|key|cookie|credentials?|password|secret) (?:from|of|in|inside) (?:your|the current|its) (?:\w+ )?(?:headers?|request|session|config\w*|environment)\b|\btool [\w-]+ (?:was|is|has been) [^.\n]{0,30}\bnow (?:deletes|leaks|fails|returns (?:wrong|false)|is (?:unsafe|broken|malicious))\b/giu,
  },
]

/**
 * Words of instructions in other languages, by what they are about. One of them says nothing: a tool that sends messages to users is described
 * with several. Verbs and things that are new together in one sentence tell a model what to do.
 */
const FOREIGN: readonly { readonly isVerb: boolean; readonly isGrave: boolean; readonly pattern: RegExp }[] =
  [
    {
      isVerb: true,
      isGrave: true,
      pattern: words(
        'ignor(?:a|ar|ad|en|i|ate|ieren?|ierst|eren|ez|uj|ujcie|era|er|ă|oi)|olvid[ae]|esquec[ae]|oubli(?:e|ez|er)|vergiss|vergesst|vergeet|dimentica|scorda|missacht\\w*|negeer|desconsider[ea]|descarta|zapomnij|zignoruj|görmezden|unut|yok say|abaikan|lupakan|bỏ qua|glöm|игнориру\\w*|проигнорируй\\w*|забудь\\w*|ігноруй\\w*|αγνόησε\\w*|ξέχνα\\w*',
        'تجاهل|انس |נתעלם|התעלם|忽略|无视|無視|忘记|忘記|忘れ|忘掉|무시|잊어|अनदेखा|ละเว้น|نادیده',
      ),
    },
    {
      isVerb: false,
      isGrave: true,
      pattern: words(
        'instrucci[oó]n\\w*|instruções|instrução|istruzion[ei]|anweisung\\w*|instructies?|consignes?|polecen\\w*|instrukcj\\w*|instruksi\\w*|talimat\\w*|yönerge\\w*|instrucțiun\\w*|instruktion(?:er|en)|directivas|regras|reglas|regeln|regole|инструкци\\w*|указани\\w*|правила|інструкці\\w*|οδηγίες',
        'التعليمات|تعليمات|הוראות|指示|指令|提示词|提示詞|시스템 프롬프트|지시|규칙을|निर्देश|คำสั่ง|hướng dẫn|دستورالعمل',
      ),
    },
    {
      isVerb: true,
      isGrave: true,
      pattern: words(
        "(?:no|não|nao|non|nunca|jamais|mai) (?:se |lo |le |les |o |os |lhe |lhes )?(?:digas?|diga[mns]?|menciones?|mencione[mns]?|informe[mns]?|avise[mns]?|reveles?|revele|dire|dirlo|menzionare|menziona|rivelare|informare|mostrar|mostres?|contes?|conte)|n[e'’] ?(?:\\w+ )?(?:dis|dites|dire|mentionne\\w*|informe\\w*|révèle\\w*|parle\\w*|montre\\w*|prévien\\w*)(?:-\\w+)?(?: (?:jamais|pas|rien))?|(?:sag|sage|sagen|erwähn\\w*|informier\\w*|verrat\\w*|zeig\\w*|erzähl\\w*)\\b[^.]{0,40}\\b(?:nicht|nichts|nie|niemals)|(?:nicht|nie|niemals|ohne)\\b[^.]{0,20}\\b(?:erwähnen|sagen|mitteilen|informieren|verraten|zeigen|wissen)|(?:niet|nooit)\\b[^.]{0,20}\\b(?:zeggen|vertellen|vermelden|melden)|(?:vertel|zeg|vermeld)\\b[^.]{0,40}\\b(?:niet|nooit)|nie (?:mów|informuj|wspominaj|ujawniaj)\\w*|(?:söyleme|bahsetme|bildirme|gösterme)\\w*|(?:не|никогда не|ничего не) (?:сообщай|говори|упоминай|рассказывай|показывай|раскрывай|уведомляй|інформуй|кажи)\\w*|jangan (?:beri ?tahu|katakan|sebutkan)|säg inte|nämn inte|berätta inte|μην (?:πεις|αναφέρεις)|sin que (?:el usuario|nadie)|senza che l|sem que o|à l'insu|ohne (?:das )?wissen",
        '不要告诉|不要告訴|别告诉|不要通知|不要提及|不要让|不要讓|不得告知|不能告诉|请勿告知|知らせない|伝えない|言わない|気づかれ|内緒|秘密に|알리지|말하지|لا تخبر|لا تذكر|אל תספר|मत बताओ|न बताएं|đừng nói|không được nói|อย่าบอก|نگو',
      ),
    },
    {
      isVerb: true,
      isGrave: false,
      pattern: words(
        'env[ií](?:a|e|ar|alo|alos|arlo|ando|emos|em)\\w*|mand[ae](?:lo|li|r)?|invi(?:a|alo|ali|are)|mets|mettez|mettre|écri[sv]\\w*|escrib[ae]\\w*|escreva|coloque|scrivi|metti|inserisci|envoye[zr]?|envoie\\w*|transmet\\w*|transmi[tc]\\w*|inclu(?:ye|ya|i|a|ez|re|s|ir)|includi|incluir|adjunta\\w*|anexe|ajoute[zr]?|copi[ae](?:lo)?|insère|insérez|aggiungi|allega|füge|hänge|häng|sende|send|schicke?|schreib\\w*|eintragen|einfügen|angeben|mitgeben|übermittle|übergib|leite|kopiere|stuur|verstuur|verzend|voeg|kopieer|wyślij|prześlij|dołącz|dodaj|gönder\\w*|ekle|ilet|kirim\\w*|sertakan|lampirkan|gửi|skicka|bifoga|отправ\\w*|перешли|пошли|добав[ьит]\\w*|встав[ьи]\\w*|помести\\w*|напиши\\w*|включи\\w*|приложи\\w*|передай\\w*|надішли|στείλε|συμπερίλαβε',
        'أرسل|ارسل|أضف|שלח|צרף|发送|發送|发给|發給|放入|放进|写到|复制到|填到|写入|传入|傳入|附上|包含在|上传到|上傳|转发|轉發|填入|含め|入れて|入れる|書いて|書き込|貼り付け|送信し|送って|添付し|渡して|転送|전송|보내|첨부|포함시|포함하|भेज|शामिल कर|ส่ง|แนบ|بفرست',
      ),
    },
    {
      isVerb: true,
      isGrave: false,
      pattern: words(
        'lee|leer|léelo|lea|leia|lê|leggi|lis|lisez|lire|lies|lese|gelesen|übergeben|übermittelt|gesendet|mitgeschickt|ausgeführt|liest|lees|przeczytaj|odczytaj|oku|okuyun|baca|bacalah|đọc|läs|прочитай\\w*|прочти\\w*|прочитать|читай|открой\\w*|διάβασε|ejecuta|execute o|esegui|exécute[zr]?|führe|voer|uruchom|çalıştır\\w*|jalankan|chạy|kör|выполни\\w*|запусти\\w*|abre|abra|apri|ouvre[zr]?|öffne|elimina|apaga|exclua|cancella|supprime[zr]?|lösche|verwijder|usuń|sil|hapus|удали\\w*|recopila|raccogli|collecte[zr]?|sammle',
        'اقرأ|احذف|نفذ|קרא את|读取|讀取|执行|執行|删除所有|刪除|收集|読み取|読んで|読み、|読み込|実行し|削除し|収集し|읽고|읽어|읽은|실행하|삭제하|पढ़|चलाओ|อ่าน|بخوان',
      ),
    },
    {
      isVerb: false,
      isGrave: false,
      pattern: words(
        'contraseñas?|senhas?|clave privada|claves|chaves?|mots? de passe|clés?|passw(?:o|ö)rt\\w*|chatverl[aä]uf\\w*|(?:\\w+)?verlauf\\w*|geheim\\w*|secretos?|segredos?|segreti|secrets? de|fichier|archivo|arquivo|datei|kennw[oö]rt\\w*|schlüssel\\w*|zugangsdaten|wachtwoord\\w*|sleutels?|chiav[ei]|credencia(?:is|les)|credenziali|identifiants|hasł\\w*|klucz\\w*|şifre\\w*|parola\\w*|anahtar\\w*|mật khẩu|kata sandi|lösenord\\w*|парол\\w*|ключ\\w*|секрет\\w*|κωδικ\\w*|historial|histórico|cronologia|historique|verlauf|gespräch\\w*|unterhaltung|conversaci[oó]n\\w*|conversas?|conversazion[ei]|geschiedenis|gesprek\\w*|rozmow\\w*|konuşma\\w*|geçmiş\\w*|percakapan|истори\\w*|переписк\\w*|разговор\\w*|archivos? (?:~|/|\\.|de|privad)|arquivos? (?:~|/|\\.|do|de|privad)|fichiers? (?:~|/|\\.|de|priv)|dateien|bestanden|dosyalar\\w*|pliki|файл\\w*|nachrichten|mensajes|mensagens|messaggi|berichten|wiadomości|mesajlar\\w*|сообщени\\w*|письма|e-?mails? (?:des|del|do|della|de l)|datos (?:personales|privados|del)|dados (?:pessoais|do)|dati (?:personali|privati|dell|vengono)|données (?:personnelles|priv)|(?:persönliche|private|vertrauliche)[nr]? daten',
        'كلمة المرور|كلمات المرور|ملفات|رسائل|بيانات|مفتاح|סיסמ|קבצים|הודעות|密码|密碼|系统提示|系統提示|密钥|密鑰|凭证|聊天记录|对话记录|對話|历史记录|隐私|隱私|个人信息|文件内容|私钥|邮件|パスワード|秘密鍵|認証情報|会話|履歴|システムプロンプト|メール|個人情報|ファイルの内容|비밀번호|대화|개인 ?정보|이메일|인증|पासवर्ड|संदेश|รหัสผ่าน|ไฟล์|رمز عبور|فایل',
      ),
    },
    {
      isVerb: false,
      isGrave: false,
      pattern: words(
        "usuari[oa]s?|usuári[oa]s?|utente|utenti|utilisateurs?|l'utilisateur|(?:be)?nutzers?|(?:be)?nutzern?|anwenders?|gebruikers?|użytkownik\\w*|kullanıcı\\w*|pengguna|người dùng|användar\\w*|пользовател\\w*|користувач\\w*|χρήστη\\w*|terceros|terzi|terceiros|des tiers|dritte[nr]?",
        'المستخدم|משתמש|用户|用戶|使用者|ユーザー|利用者|사용자|उपयोगकर्ता|ผู้ใช้|کاربر',
      ),
    },
    {
      isVerb: true,
      isGrave: false,
      pattern: words(
        'vor der (?:verwendung|nutzung|benutzung)|müssen|antes de (?:usar|responder|llamar|chamar|utilizar|ejecutar)|prima di (?:usare|rispondere|chiamare|utilizzare)|avant (?:de|d)\\b|bevor du|bevor sie|vor (?:jedem|dem) (?:aufruf|antworten)|zuerst|voordat|zanim|kullanmadan önce|sebelum|trước khi|innan du|прежде чем|перед (?:тем|использованием|каждым|ответом)|сначала|siempre|sempre|toujours|immer|altijd|zawsze|her zaman|selalu|luôn|alltid|всегда|обязательно',
        'قبل استخدام|قبل الرد|דבר ראשון|לפני ש|之前|必须先|首先|始终|每次|使う前|使用する前|答える前|呼び出す前|必ず|常に|전에|먼저|항상|반드시|पहले|ก่อน|قبل از',
      ),
    },
  ]

/** Words of alphabets have to be whole; other scripts do not divide words. */
function words(divided: string, undivided: string): RegExp {
  const whole = divided
    .replaceAll(String.raw`\w`, String.raw`\p{L}`)
    .replaceAll(String.raw`\b`, String.raw`(?!\p{L})`)
  return new RegExp(`(?<!\\p{L})(?:${whole})(?!\\p{L})|${undivided}`, 'giu')
}

/** The first new sentence in another language that tells a model what to do. */
export function foreignInstruction(before: string, after: string): string | undefined {
  const known = FOREIGN.map(
    ({ pattern }) => new Set(Array.from(before.matchAll(pattern), ([text]) => text.toLowerCase())),
  )
  return after.split(/(?<=[.!?؟])\s+|(?<=[。！？])|\n+/u).find((sentence) => {
    if (sentence.length < 6 || before.includes(sentence)) return false
    const found = FOREIGN.filter(({ pattern }, at) =>
      Array.from(sentence.matchAll(pattern)).some(([text]) => known[at]?.has(text.toLowerCase()) !== true),
    )
    if (found.length < 2 || !found.some(({ isVerb }) => isVerb)) return false
    return found.some(({ isGrave }) => isGrave) || found.length > 2 || !isTranslation(before, after)
  })
}

/** The whole text is in another language now, so that its sentences describe the tool. */
function isTranslation(before: string, after: string): boolean {
  const kept = new Set(after.toLowerCase().match(/\p{L}{3,}/gu))
  const earlier = before.toLowerCase().match(/\p{L}{3,}/gu) ?? []
  return earlier.filter((word) => kept.has(word)).length < earlier.length / 2
}
