import { isDummyValue, isExampleValue, looksRandom } from '../value-checks.ts'
import { fromBase64, withoutPadding } from '../views.ts'
import type { RedactionRule } from './rule.ts'

/** Credentials in URLs and in HTTP headers that are quoted in a text. */
export const httpRules = (): readonly RedactionRule[] => [
  {
    name: 'url-password',
    service: 'passwords in URLs',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/[^\s/?#"'<>@:\\]{0,200}:(?<secret>[^\s/?#"'<>@\\]{1,200})@/g,
    isSecret: (value) => !isDummyValue(value) && !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'url-password', // with signs that belong into the path, as many clients of databases accept them
    service: 'passwords in URLs',
    keywords: [
      'postgres',
      'postgresql',
      'mysql',
      'mariadb',
      'mongodb',
      'mongodb+srv',
      'redis',
      'rediss',
      'amqp',
      'amqps',
      'mssql',
    ]
      .concat(['+pymysql', '+psycopg2', '+psycopg', '+asyncpg'])
      .map((scheme) => `${scheme}://`),
    pattern:
      /\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql)(?:\+\w{1,20})?:\/\/[\w.+%-]{0,64}:(?<secret>(?!\d{1,5}[/?#])[^\s"'<>@\\]{1,100}[/?#][^\s"'<>@\\]{0,100})@[\w[]/g,
    isSecret: (value) => !isDummyValue(value) && !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'url-token',
    service: 'user names in URLs that are tokens',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/(?<secret>[^\s/?#"'<>@:\\]{16,200})@/g,
    isLearned: true,
  },
  {
    name: 'bearer',
    service: '`Bearer` credentials',
    keywords: ['bearer '],
    pattern: /\bbearer +(?<secret>(?=[\w.~+/-]*\d)[\w.~+/-]{12,}={0,2})/gi,
    isLearned: true,
  },
  {
    name: 'okta',
    service: 'Okta',
    shapes: ['SSWS 00{40w}'],
    keywords: ['SSWS '],
    pattern: /\bSSWS (?<secret>[\w-]{30,})/g,
    isLearned: true,
  },
  {
    name: 'basic',
    service: '`Basic` credentials',
    keywords: ['basic '],
    pattern: /\bbasic +(?<secret>(?=[A-Za-z0-9+/]*[A-Z0-9])[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/])/gi,
    isSecret: isBasicCredentials,
    isLearned: true,
  },
  {
    name: 'url-token',
    service: 'user names in URLs that are tokens',
    keywords: [':x-oauth-basic@'],
    pattern: /:\/\/(?<secret>[^\s/?#"'<>@:\\]{6,200}):x-oauth-basic@/g,
    isLearned: true,
  },
  {
    name: 'authorization',
    service: 'credentials of other schemes in `Authorization`',
    keywords: ['authorization'],
    followedBy: 'value',
    pattern:
      /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:[A-Za-z][\w-]{1,30} {1,4})?(?=(?<secret>[\w.~+/-]{8,4000}={0,2}))\k<secret>(?!\()/gi,
    isSecret: (value) => looksRandom(value) && !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'digest',
    service: 'responses of `Digest` authorization',
    keywords: ['digest '],
    pattern: /\bdigest +[^\r\n]{0,600}?\bresponse=\\*"(?<secret>[0-9a-f]{32,128})/gi,
    isLearned: true,
  },
  {
    name: 'cookie-file',
    service: 'cookies in the files of curl and wget',
    keywords: ['\tTRUE\t', '\tFALSE\t', 'tTRUE\\', 'tFALSE\\'],
    pattern:
      /(?:TRUE|FALSE)\t\/[^\s]{0,200}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\s]{1,100}\t(?<secret>[^\s"'\\]{8,4000})/g,
    isSecret: looksRandom,
    isLearned: true,
  },
  {
    name: 'session-cookie',
    service: 'cookies of web frameworks',
    keywords: [
      'sessionid=',
      'sessid=',
      'connect.sid=',
      '_session=',
      '"session=',
      '"sid=',
      "'session=",
      "'sid=",
    ],
    pattern:
      /(?:\bj?sessionid|sess(?:ion)?id\w{0,20}|\bconnect\.sid|\w{1,40}_session|["'](?:session|sid))=(?<secret>(?:s%3A|s:)?[\w.~+/%-]{12,1000})/gi,
    isSecret: looksRandom,
    isLearned: true,
  },
  {
    name: 'one-time-code',
    service: 'one-time codes',
    keywords: ['verification code', 'security code', 'confirmation code', 'login code', 'one-time code']
      .concat(['passcode', 'one-time password', ' otp '])
      .concat(['otp: ', 'otp is ']),
    pattern:
      /\b(?:(?:verification|security|confirmation|login|one-time) code|one-time password|passcode|otp)(?: is|:| =|) {0,4}\*{0,2}(?<secret>\d{4,8})(?![\w.-])/gi,
  },
  {
    name: 'cookie',
    service: 'cookies',
    keywords: ['cookie: '],
    pattern: /(?<!set-)\bcookie: +(?<secret>[\w.-]+=[^\r\n"'\\]{6,})/gi,
    isSecret: (value) => /\d/.test(value), // a look-ahead for the digit would search the whole line again for each `cookie:`
  },
  {
    name: 'set-cookie',
    service: 'cookies',
    keywords: ['set-cookie: '],
    pattern: /\bset-cookie: +[\w.-]+=(?<secret>(?=[^;\s"'\\]*\d)[^;\s"'\\]{6,})/gi,
    isLearned: true,
  },
]

/** A user, a colon and a password in base64, or at least not a word, as in "Basic authentication". */
function isBasicCredentials(value: string): boolean {
  const plain = new TextDecoder().decode(fromBase64(withoutPadding(value)))
  return plain.includes(':') || (/\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value))
}
