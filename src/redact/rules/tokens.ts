import type { RedactionRule } from './rule.ts'
import { tokenRule } from './token-shape.ts'

const UUID = '{8h}-{4h}-{4h}-{4h}-{12h}'

/** Tokens and keys of services. Most are known by their prefix. */
export const tokenRules = (): readonly RedactionRule[] => [
  ...sourceCodeTokens(),
  ...modelProviderTokens(),
  ...cloudTokens(),
  ...webServiceTokens(),
  ...messagingTokens(),
  ...paymentTokens(),
  ...tokensWithoutPrefix(),
]

/** Code hosting, packages, builds, deployment and monitoring. */
const sourceCodeTokens = (): readonly RedactionRule[] => [
  tokenRule(
    'github',
    'GitHub',
    ['ghp', 'gho', 'ghu', 'ghs', 'ghr', 'github_pat'].map((prefix) => `${prefix}_{20+w}`),
  ),
  tokenRule(
    'gitlab',
    'GitLab',
    ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glffct-', 'glft-', 'glimt-', 'glagent-']
      .concat(['gloas-', 'glwt-', 'GR1348941', '_gitlab_session='])
      .map((prefix) => `${prefix}{16+t}`),
  ),
  tokenRule('bitbucket', 'Bitbucket', ['~ATBB{28+a}', 'BBDC-{32+b}']),
  tokenRule('sourcegraph', 'Sourcegraph', ['sgp_{16H}_{40H}', 'sgp_local_{40H}', 'sgp_{40H}']),
  tokenRule('npm', 'npm', ['npm_{36+a}']),
  tokenRule('pypi', 'PyPI', ['pypi-AgE{40+w}']),
  tokenRule('rubygems', 'RubyGems', ['rubygems_{48+h}']),
  tokenRule('crates-io', 'crates.io', ['~cio{32a}|'], { followedBy: 'long-word' }),
  tokenRule('nuget', 'NuGet', ['~oy2{43l}|'], { followedBy: 'long-word' }),
  tokenRule('packagist', 'Packagist', ['packagist_{32+w}']),
  tokenRule('clojars', 'Clojars', ['CLOJARS_{60+l}'], { isAnyCase: true }),
  tokenRule('docker', 'Docker', ['dckr_pat_{20+w}', 'dckr_oat_{20+w}']),
  tokenRule('artifactory', 'JFrog Artifactory', ['~AKCp{69+a}', '~cmVmd{59a}|']),
  tokenRule(
    'buildkite',
    'Buildkite',
    ['bkua_', 'bkct_', 'bkaj_', 'bkpat_'].map((prefix) => `${prefix}{36+w}`),
  ),
  tokenRule('circleci', 'CircleCI', ['CCIPAT_{20+w}', 'CCIPRJ_{20+w}']),
  tokenRule('harness', 'Harness', ['pat.{22w}.{24a}.{20a}', 'sat.{22w}.{24a}.{20a}']),
  tokenRule('octopus-deploy', 'Octopus Deploy', ['API-{26u}'], { followedBy: 'long-word' }),
  tokenRule('terraform', 'Terraform Cloud', ['{14a}.atlasv1.{60+=}']),
  tokenRule('pulumi', 'Pulumi', ['pul-{40h}']),
  tokenRule('infracost', 'Infracost', ['|ico-{32a}|']),
  tokenRule(
    'doppler',
    'Doppler',
    ['pt', 'st', 'ct', 'sa', 'scim', 'audit', 'said'].map((kind) => `dp.${kind}.{40+t}`),
  ),
  tokenRule('vault', 'HashiCorp Vault', ['hvs.{20+w}', 'hvb.{20+w}', 'hvr.{20+w}']),
  tokenRule('1password', '1Password', [
    'ops_{100+=}',
    'A3-{6u}-{11u}-{5u}-{5u}-{5u}',
    'A3-{6u}-{6u}-{5u}-{5u}-{5u}-{5u}',
  ]),
  tokenRule('age', 'age', ['AGE-SECRET-KEY-1{50+u}', 'AGE-PLUGIN-{2-16u}-1{40+u}']),
  tokenRule('prefect', 'Prefect', ['pnu_{36a}', 'pnb_{36a}']),
  tokenRule('sonarqube', 'SonarQube', ['squ_{40h}', 'sqp_{40h}', 'sqa_{40h}']),
  tokenRule('snyk', 'Snyk', ['snyk_uat.{30+t}', 'snyk_sat.{30+t}']),
  tokenRule('launchdarkly', 'LaunchDarkly', [`|sdk-${UUID}|`, `|api-${UUID}|`], { followedBy: 'uuid' }),
  tokenRule('scalingo', 'Scalingo', ['tk-us-{48w}']),
  tokenRule('openshift', 'OpenShift', ['sha256~{43w}']),
  tokenRule('settlemint', 'SettleMint', ['sm_aat_{16a}', 'sm_pat_{16a}', 'sm_sat_{16a}']),
  tokenRule('sentry', 'Sentry', ['sntrys_{40+=}', 'sntryu_{60+h}', 'sntrya_{40+h}']),
  tokenRule('grafana', 'Grafana', ['glsa_{32+=}', 'glc_{32+=}', '~eyJrIjoi{70+=}']),
  tokenRule('new-relic', 'New Relic', [
    ...['NRAK', 'NRII', 'NRJS', 'NRRA', 'NRAA', 'NRIQ'].map((kind) => `${kind}-{19+w}`),
    '{6a}{30h}NRAL',
  ]),
  tokenRule(
    'dynatrace',
    'Dynatrace',
    ['c', 's', 'e'].flatMap((kind) =>
      ['01', '02', '03', '06', '08', '16'].map((number) => `dt0${kind}${number}.{8-24a}.{64+a}`),
    ),
  ),
  tokenRule('postman', 'Postman', ['PMAK-{24h}-{34h}', 'PMAT-{26u}']),
  tokenRule('readme', 'ReadMe', ['rdme_{60+l}']),
  tokenRule('authress', 'Authress', [
    '{5-30l}.{4-6l}.acc_{10-32w}.{30+=}',
    '{5-30l}.{4-6l}.acc-{10-32w}.{30+=}',
  ]),
  tokenRule('defined-networking', 'Defined Networking', ['dnkey-{26w}-{52w}']),
  tokenRule('tailscale', 'Tailscale', ['tskey-{20+w}']),
  tokenRule('posthog', 'PostHog', ['phx_{40+a}', 'phs_{40+a}']),
  tokenRule('checkly', 'Checkly', ['|cu_{32h}|'], { followedBy: 'hex' }),
  tokenRule('mergify', 'Mergify', ['mka_{32+w}']),
]

/** Providers of models, and services for agents. */
const modelProviderTokens = (): readonly RedactionRule[] => [
  tokenRule('anthropic', 'Anthropic', ['sk-ant-{20+w}']),
  tokenRule('openai', 'OpenAI', ['sk-proj-{20+w}', 'sk-svcacct-{20+w}', 'sk-admin-{20+w}', '|sess-{40a}|']),
  {
    name: 'openai-legacy',
    service: 'OpenAI',
    shapes: ['sk-{20a}T3BlbkFJ{20a}'],
    keywords: ['T3BlbkFJ'],
    pattern: /sk-\w{16,}T3BlbkFJ\w{16,}/g,
  },
  {
    name: 'sk-key', // earlier keys of OpenAI, and of services with the same API
    service: 'DeepSeek, Stability AI and others',
    shapes: ['sk-{48a}', 'sk-{32h}'],
    keywords: ['sk-'],
    followedBy: 'long-word',
    pattern: /(?<![\w-])sk-(?=[A-Za-z]*\d)[A-Za-z0-9]{24,}(?![\w-])/g,
    prefixes: ['sk-'],
  },
  tokenRule('openrouter', 'OpenRouter', ['sk-or-v1-{32+w}']),
  tokenRule('hugging-face', 'Hugging Face', ['hf_{30+a}', 'api_org_{30+a}']),
  tokenRule('replicate', 'Replicate', ['r8_{36+a}']),
  tokenRule('groq', 'Groq', ['gsk_{40+a}']),
  tokenRule('xai', 'xAI', ['xai-{60+a}']),
  tokenRule('perplexity', 'Perplexity', ['pplx-{40+a}']),
  tokenRule('nvidia', 'NVIDIA', ['nvapi-{40+w}']),
  tokenRule('cerebras', 'Cerebras', ['csk-{40+l}']),
  tokenRule('together', 'Together AI', ['tgp_v1_{40+w}']),
  tokenRule('fireworks', 'Fireworks AI', ['|fw_{22a}|', '|fw_{24a}|'], { followedBy: 'long-token' }),
  tokenRule('voyage', 'Voyage AI', ['|pa-{43w}|'], { followedBy: 'long-token' }),
  tokenRule('elevenlabs', 'ElevenLabs', ['|sk_{48h}|'], { followedBy: 'hex' }),
  tokenRule('langsmith', 'LangSmith', ['lsv2_pt_{32h}_{10h}', 'lsv2_sk_{32h}_{10h}', 'ls__{32h}']),
  tokenRule('langfuse', 'Langfuse', [`sk-lf-${UUID}`]),
  tokenRule('llamacloud', 'LlamaCloud', ['llx-{40+a}']),
  tokenRule('pinecone', 'Pinecone', ['pcsk_{40+w}']),
  tokenRule('jina', 'Jina AI', ['jina_{50+w}']),
  tokenRule('tavily', 'Tavily', ['tvly-{30+w}']),
  tokenRule('firecrawl', 'Firecrawl', ['|fc-{32h}|'], { followedBy: 'hex' }),
  tokenRule('apify', 'Apify', ['apify_api_{30+a}']),
  tokenRule('e2b', 'E2B', ['e2b_{40h}']),
  tokenRule('browserbase', 'Browserbase', ['bb_live_{24+w}', 'bb_test_{24+w}']),
  tokenRule('context7', 'Context7', [`ctx7sk-${UUID}`]),
  tokenRule('runpod', 'RunPod', ['rpa_{40+u}']),
  tokenRule('anyscale', 'Anyscale', ['esecret_{20+a}']),
  tokenRule('deepl', 'DeepL', [`${UUID}:fx`]),
  tokenRule('databricks', 'Databricks', ['dapi{32h}-{1d}', 'dapi{32h}']),
]

/** Clouds, hosting and databases. */
const cloudTokens = (): readonly RedactionRule[] => [
  tokenRule(
    'aws-access-key',
    'AWS access key id',
    ['AKIA', 'ASIA', 'ABIA', 'ACCA', 'A3T'].map((prefix) => `~${prefix}{16+u}`),
  ),
  {
    name: 'aws-secret-key',
    service: 'AWS secret access key beside its id',
    keywords: ['AKIA', 'ASIA'],
    // The id and up to eight words or signs between it and the secret.
    pattern:
      /A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])[^A-Za-z0-9+/]{1,20}(?:[A-Za-z_]{1,20}[^A-Za-z0-9+/]{1,20}){0,8}(?<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+=])/g,
    isSecret: (value) => /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value),
    isLearned: true,
  },
  tokenRule('aws-session-token', 'AWS session token', ['IQoJb3JpZ2luX2Vj{60+=}', 'FwoGZXIvYXdz{60+=}']),
  tokenRule('aws-bedrock', 'Amazon Bedrock', [
    '~ABSK{100+=}',
    'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{8+=}',
  ]),
  tokenRule('aws-mws', 'Amazon MWS', [`amzn.mws.${UUID}`]),
  tokenRule('google-api-key', 'Google API key', ['AIza{35+w}']),
  tokenRule('google-oauth', 'Google OAuth', ['ya29.{20+w}', '1//0{40+w}']),
  tokenRule('google-client-secret', 'Google OAuth client secret', ['GOCSPX-{20+w}']),
  tokenRule('firebase', 'Firebase Cloud Messaging', ['AAAA{7w}:APA91b{100+w}']),
  {
    name: 'azure-client-secret',
    service: 'Azure client secret',
    shapes: ['{3a}8Q~{34a}'],
    keywords: Array.from({ length: 10 }, (_, digit) => `${digit}Q~`),
    pattern: /(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w~-])/g,
  },
  {
    name: 'azure-account-key',
    service: 'Azure account key',
    shapes: ['AccountKey={86b}==', 'SharedAccessKey={43b}='],
    keywords: ['AccountKey=', 'SharedAccessKey='],
    pattern: /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,}={0,2})/g,
    isLearned: true,
  },
  {
    name: 'azure-key', // these contain a signature of the service that issued them
    service: 'Azure DevOps, Functions, Storage, Cosmos DB, Search, Container Registry and Service Bus',
    shapes: [
      '{76a}AZDO{4a}',
      '{44w}AzFu{8w}==',
      '{76a}+ASt{6a}==',
      '{76a}ACDb{6a}==',
      '{42a}AzSe{6a}',
      '{42a}+ACR{6a}',
      '{33a}+ASb{6a}=',
      '{33a}+AEh{6a}=',
    ],
    keywords: ['AZDO', 'AzFu', '+ASt', 'ACDb', 'AzSe', '+ACR', '+ASb', '+AEh'],
    pattern:
      /(?<![\w+-])(?:[A-Za-z0-9]{76}AZDO\w{4}|[\w-]{44}AzFu[\w-]{6,8}={0,2}|[A-Za-z0-9+/]{76}(?:\+ASt|ACDb)[A-Za-z0-9+/]{5,6}={0,2}|[A-Za-z0-9]{42}AzSe[A-Za-z0-9]{6}|[A-Za-z0-9+/]{42}\+ACR[A-Za-z0-9]{6}|[A-Za-z0-9+/]{33}\+A(?:Sb|Eh)[A-Za-z0-9+/]{5,6}={0,2})(?![\w+=-])/g,
  },
  tokenRule('alibaba', 'Alibaba Cloud', ['~LTAI{12-24a}|'], { followedBy: 'letters-digits' }),
  tokenRule('yandex', 'Yandex Cloud', ['~AQVN{35-38w}|', 'y0_{50+w}']),
  tokenRule('digitalocean', 'DigitalOcean', ['dop_v1_{40+h}', 'doo_v1_{40+h}', 'dor_v1_{40+h}']),
  tokenRule('cloudflare-origin-ca', 'Cloudflare origin CA', ['v1.0-{24h}-{140+h}']),
  tokenRule('heroku', 'Heroku', ['HRKU-AA{40+w}']),
  tokenRule(
    'netlify',
    'Netlify',
    ['nfp', 'nfc', 'nfo', 'nfb', 'nfu'].map((kind) => `${kind}_{36+a}`),
  ),
  tokenRule(
    'vercel',
    'Vercel',
    ['vcp', 'vci', 'vca', 'vcr', 'vck'].map((kind) => `${kind}_{24+a}`),
  ),
  tokenRule('fly', 'Fly.io', ['fo1_{40+w}', 'fm1r_{40+=}', 'fm1a_{40+=}', 'fm2_{40+=}']),
  tokenRule('render', 'Render', ['rnd_{28+a}']),
  tokenRule('deno', 'Deno Deploy', ['ddp_{36a}', 'ddo_{36a}', 'ddw_{36a}']),
  tokenRule('scaleway', 'Scaleway', ['~SCW{17u}|'], { followedBy: 'letters-digits' }),
  tokenRule('clickhouse', 'ClickHouse Cloud', ['|4b1d{38a}|'], { followedBy: 'long-word' }),
  tokenRule('planetscale', 'PlanetScale', ['pscale_tkn_{32+=}', 'pscale_pw_{32+=}', 'pscale_oauth_{32+=}']),
  tokenRule('supabase', 'Supabase', ['sbp_{40+h}', 'sbp_oauth_{40+h}', 'sb_secret_{20+w}']),
  tokenRule('neon', 'Neon', ['napi_{40+l}']),
  tokenRule('cockroachdb', 'CockroachDB', ['CCDB1_{20+w}']),
  tokenRule('confluent', 'Confluent', ['~cflt{60+b}']),
  tokenRule('maxmind', 'MaxMind', ['{6a}_{29a}_mmk']),
]

/** Applications, and services for web sites. */
const webServiceTokens = (): readonly RedactionRule[] => [
  tokenRule('atlassian', 'Atlassian', ['ATATT3{40+=}', 'ATCTT3{40+=}', '~ATOA{40+w}', '~ATTA{60+H}']),
  tokenRule('linear', 'Linear', ['lin_api_{32+a}', 'lin_oauth_{32+a}']),
  tokenRule('notion', 'Notion', ['ntn_{40+a}', 'secret_{40+a}']),
  tokenRule('figma', 'Figma', ['figd_{20+w}', 'figu_{20+w}', 'figo_{20+w}']),
  tokenRule('airtable', 'Airtable', ['~pat{14a}.{64h}|'], { followedBy: 'dotted-word' }),
  {
    name: 'asana',
    service: 'Asana',
    shapes: ['1/{16d}:{32h}', '2/{16d}/{16d}:{32h}'],
    keywords: ['1/', '2/'].flatMap((start) => '0123456789'.split('').map((digit) => start + digit)),
    followedBy: 'digits',
    pattern: /(?<![\w-])[12]\/\d{15,17}(?:\/\d{15,17})?:[0-9a-f]{32}(?![\w-])/g,
  },
  tokenRule('clickup', 'ClickUp', ['pk_{6-10d}_{32u}'], { followedBy: 'long-token' }),
  tokenRule('typeform', 'Typeform', ['tfp_{40+t}']),
  tokenRule('frameio', 'Frame.io', ['fio-u-{60+=}']),
  tokenRule('adobe', 'Adobe', ['p8e-{32a}']),
  tokenRule('contentful', 'Contentful', ['CFPAT-{40+w}']),
  tokenRule('mapbox', 'Mapbox', [
    'sk.eyJ1Ijoi{20-200w}.{20+w}',
    'pk.eyJ1Ijoi{20-200w}.{20+w}',
    'tk.eyJ1Ijoi{20-200w}.{20+w}',
  ]),
  tokenRule(
    'hubspot',
    'HubSpot',
    ['na1', 'na2', 'eu1', 'ap1'].map((region) => `pat-${region}-${UUID}`),
  ),
  tokenRule('intercom', 'Intercom', ['~dG9rO{50+=}']),
  tokenRule('intra42', '42 Intra', ['s-s4t2ud-{64h}', 's-s4t2af-{64h}']),
  tokenRule('dropbox', 'Dropbox', ['~sl.u.{100+w}', '~sl.{100+w}'], { followedBy: 'long-token' }),
  tokenRule('salesforce', 'Salesforce', ['~00D{12-15a}!{80+t}'], { followedBy: 'letters-digits' }),
  tokenRule('wakatime', 'WakaTime', [`waka_${UUID}`]),
  tokenRule('resend', 'Resend', ['|re_{8a}_{24a}|'], { followedBy: 'long-token' }),
  tokenRule('polar', 'Polar', ['polar_oat_{40+w}', 'polar_pat_{40+w}']),
  tokenRule('cal-com', 'Cal.com', ['cal_live_{30+h}', 'cal_test_{30+h}']),
  tokenRule('unkey', 'Unkey', ['unkey_{20+a}']),
  tokenRule('val-town', 'Val Town', ['vtwn_{24+a}']),
  tokenRule('duffel', 'Duffel', ['duffel_test_{40+=}', 'duffel_live_{40+=}']),
  tokenRule('rapidapi', 'RapidAPI', ['{10l}msh{15l}p1{6l}jsn{12l}']),
  {
    ...tokenRule('facebook', 'Facebook', ['~EAA{100+a}'], { followedBy: 'long-word' }),
    isSecret: (value) => !value.slice(3).includes('AAAA'), // zeros in the base64 of a program
  },
  tokenRule(
    'shopify',
    'Shopify',
    ['shpat', 'shpca', 'shppa', 'shpss', 'shptka', 'shprt'].map((kind) => `${kind}_{32+H}`),
  ),
]

/** Chat, mail and telephone. */
const messagingTokens = (): readonly RedactionRule[] => [
  tokenRule(
    'slack',
    'Slack',
    [
      'xoxb',
      'xoxp',
      'xoxa',
      'xoxr',
      'xoxs',
      'xoxo',
      'xoxc',
      'xoxd',
      'xoxe',
      'xapp',
      'xoxe.xoxp',
      'xoxe.xoxb',
    ].map((kind) => `${kind}-{10+w}`),
  ),
  {
    name: 'slack-webhook',
    service: 'Slack webhook',
    shapes: ['https://hooks.slack.com/services/T{8u}/B{8u}/{24a}'],
    keywords: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[\w/+-]{20,})/g,
    isLearned: true,
  },
  {
    name: 'discord-webhook',
    service: 'Discord webhook',
    shapes: [
      'https://discord.com/api/webhooks/{18d}/{68w}',
      'https://discordapp.com/api/webhooks/{19d}/{68w}',
    ],
    keywords: ['/api/webhooks/', '/webhooks/'],
    pattern: /discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d{15,20}\/(?<secret>[\w-]{40,})/g,
    isLearned: true,
  },
  {
    name: 'discord',
    service: 'Discord',
    shapes: ['MTk4{21a}.{6w}.{27w}', 'NDEw{22a}.{6w}.{38w}'],
    keywords: discordIds(),
    followedBy: 'dotted-word',
    notInside: 'long-word',
    // The first part is the base64 of a number, which identifies the bot.
    pattern: /(?<![A-Za-z0-9+]{8})[MNO][DTjz][AEIMQUYcgk][\w-]{20,26}\.[\w-]{6}\.[\w-]{27,45}/g,
  },
  tokenRule('discord-mfa', 'Discord', ['mfa.{80+w}']),
  {
    name: 'teams-webhook',
    service: 'Microsoft Teams webhook',
    shapes: [`https://acme.webhook.office.com/webhookb2/${UUID}@${UUID}/IncomingWebhook/{32h}/${UUID}`],
    keywords: ['webhook.office.com'],
    pattern: /webhook\.office\.com\/webhookb2\/(?<secret>[\w@/-]{100,})/g,
    isLearned: true,
  },
  {
    name: 'telegram',
    service: 'Telegram',
    shapes: ['{9d}:AA{33w}', '{10d}:AA{33w}'],
    keywords: [':AA'],
    pattern: /(?<!\d)\d{8,10}:(?<secret>AA[\w-]{32,34})(?![\w-])/g,
  },
  {
    name: 'sendgrid',
    service: 'SendGrid',
    shapes: ['SG.{22w}.{43w}'],
    keywords: ['SG.'],
    pattern: /SG\.[\w-]{16,}\.[\w-]{16,}/g,
    prefixes: ['SG.'],
  },
  tokenRule('mailgun', 'Mailgun', ['|key-{32H}|', '|pubkey-{32H}|'], { followedBy: 'hex' }),
  {
    name: 'mailchimp',
    service: 'Mailchimp',
    shapes: ['{32h}-us{1d}', '{32h}-us1{1d}'],
    keywords: Array.from({ length: 10 }, (_, digit) => `-us${digit}`),
    pattern: /(?<![\w-])[0-9a-f]{32}-us\d{1,2}(?![\w-])/g,
  },
  tokenRule('brevo', 'Brevo', ['xkeysib-{64h}-{16a}', 'xsmtpsib-{64h}-{16a}']),
  {
    name: 'twilio',
    service: 'Twilio',
    shapes: ['SK{32h}'],
    keywords: '0123456789abcdefABCDEF'.split('').map((digit) => `SK${digit}`),
    followedBy: 'hex',
    pattern: /(?<![A-Za-z0-9+]{8})SK[0-9a-fA-F]{32}(?![0-9a-fA-F])/g,
    notInside: 'long-word',
  },
]

/** Payment, shops and shipping. */
const paymentTokens = (): readonly RedactionRule[] => [
  tokenRule('stripe', 'Stripe, Clerk, Paystack and others', [
    ...['sk_live', 'rk_live', 'sk_test', 'rk_test', 'sk_prod', 'rk_prod'].map((kind) => `${kind}_{10+w}`),
    'whsec_{16+=}',
  ]),
  tokenRule('square', 'Square', ['sq0atp-{22+w}', 'sq0csp-{40+w}']),
  {
    name: 'square-access',
    service: 'Square',
    shapes: ['EAAAEO{56w}'],
    keywords: ['EAAA'],
    followedBy: 'long-token',
    notInside: 'long-word',
    pattern: /(?<![A-Za-z0-9+]{8})EAAA[\w-]{22,60}(?![\w-])/g,
    isSecret: (value) => !value.slice(4).includes('AAA'), // zeros in the base64 of a program
    prefixes: ['EAAA'],
  },
  tokenRule(
    'braintree',
    'Braintree',
    ['production', 'sandbox'].map((kind) => ['access_token', kind, '{16l}', '{32h}'].join('$')),
  ),
  tokenRule(
    'plaid',
    'Plaid',
    ['sandbox', 'development', 'production'].map((kind) => `access-${kind}-${UUID}`),
  ),
  tokenRule('flutterwave', 'Flutterwave', [
    'FLWSECK_TEST-{12+w}',
    'FLWPUBK_TEST-{12+w}',
    'FLWSECK-{12+w}',
    'FLWPUBK-{12+w}',
  ]),
  tokenRule('razorpay', 'Razorpay', ['rzp_live_{14a}', 'rzp_test_{14a}']),
  tokenRule('lob', 'Lob', ['|live_{35h}|', '|test_{35h}|', '|live_pub_{31h}|', '|test_pub_{31h}|'], {
    followedBy: 'long-token',
  }),
  {
    name: 'mollie',
    service: 'Mollie',
    shapes: ['live_{29a}7', 'test_{29a}7'],
    keywords: ['live_', 'test_'],
    followedBy: 'long-word',
    pattern: /(?<![\w-])(?:live|test)_(?=[A-Za-z]*\d)[A-Za-z0-9]{30}(?![\w-])/g,
    prefixes: ['live_', 'test_'],
    notInside: 'word',
  },
  tokenRule('easypost', 'EasyPost', ['~EZAK{50+a}', '~EZTK{50+a}']),
  tokenRule('shippo', 'Shippo', ['shippo_live_{40H}', 'shippo_test_{40H}']),
]

const tokensWithoutPrefix = (): readonly RedactionRule[] => [
  {
    name: 'jwt',
    service: 'JSON Web Token',
    shapes: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI{24a}.{43w}'],
    // {"alg, {"typ, {"kid, {"cty, {"enc, {"jku, {"x5, {"b64, {"zip
    keywords: ['eyJhb', 'eyJ0e', 'eyJra', 'eyJjd', 'eyJlb', 'eyJqa', 'eyJ4N', 'eyJiN', 'eyJ6a'],
    // The look-ahead makes sure that two dots follow. Otherwise a long word would be searched for them from each `eyJ` in it.
    pattern:
      /(?<![\w-])(?=[\w-]+\.[\w-]{2,}\.)[\w-]*?(?<secret>eyJ[\w-]{8,}\.[\w-]{2,}\.[\w-]*(?:\.[\w-]*){0,2})/g,
  },
  {
    name: 'twitter',
    service: 'X (Twitter) bearer token',
    shapes: ['AAAAAAAAAAAAAAAAAAAAAA{20a}%2B{30a}%3D{50a}'],
    keywords: ['AAAAAAAAAAAAAAAAAAAAA'],
    notInside: 'long-word',
    pattern: /(?<![\w+%-])A{21,22}[A-Za-z0-9%]{80,140}(?![\w+%])/g,
    isSecret: (value) => value.includes('%'),
  },
]

/** The first characters of the base64 of a number. */
function discordIds(): readonly string[] {
  const starts = ['MT', 'Mj', 'Mz', 'ND', 'NT', 'Nj', 'Nz', 'OD', 'OT']
  return starts.flatMap((start) => 'AEIMQUYcgk'.split('').map((third) => start + third))
}
