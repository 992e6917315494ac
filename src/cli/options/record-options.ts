/** The options of `record`, declared once: `record-args.ts` reads them, the help page shows them. */
export const RECORD_OPTIONS = [
  {
    short: '-o',
    long: '--output',
    value: 'file',
    about: 'write the tape to this file (never over an existing one)',
  },
  {
    short: undefined,
    long: '--url',
    value: 'url',
    about: 'record a server at this URL instead of a command: a proxy is started for its clients',
  },
  {
    short: undefined,
    long: '--url-env',
    value: 'variable',
    about: 'the same for a URL that holds a secret: it stands in this environment variable',
  },
  {
    short: undefined,
    long: '--bridge',
    value: undefined,
    about:
      'with --url: speak stdio to the client that starts us, and HTTP to the server, instead of listening',
  },
  {
    short: undefined,
    long: '--forward',
    value: undefined,
    about:
      'record whatever servers a client names: a forward proxy is started, and the client command with it',
  },
  {
    short: undefined,
    long: '--listen',
    value: 'host:port',
    about: 'where that proxy waits for clients (a free port of 127.0.0.1)',
  },
  {
    short: undefined,
    long: '--header',
    value: 'name: value',
    about: 'a header for every request to --url, such as a token; ${env.NAME} is read from the environment',
  },
  {
    short: undefined,
    long: '--header-env',
    value: 'name=variable',
    about:
      'a header whose whole value stands in this environment variable; with ? behind it, one that may be missing',
  },
  { short: undefined, long: '--server', value: 'name', about: 'what to call the server on the tape' },
  {
    short: undefined,
    long: '--tag',
    value: 'key=value',
    about: 'a tag for the header; may be given several times',
  },
  { short: undefined, long: '--session', value: 'id', about: 'the session that the tape belongs to' },
  { short: undefined, long: '--endpoint', value: 'id', about: 'the endpoint that the tape belongs to' },
  { short: undefined, long: '--agent', value: 'id', about: 'the agent that the tape belongs to' },
  { short: undefined, long: '--note', value: 'text', about: 'a note on the tape' },
  {
    short: undefined,
    long: '--only',
    value: 'methods',
    about: 'tape only these, such as tools/call,resources/*',
  },
  { short: undefined, long: '--skip', value: 'methods', about: 'do not tape these' },
  { short: undefined, long: '--max-size', value: 'MiB', about: 'record no more when the tape is this large' },
  { short: undefined, long: '--max-messages', value: 'n', about: 'record no more after so many messages' },
  {
    short: undefined,
    long: '--idle',
    value: 'seconds',
    about: 'record no more after this long without a message',
  },
  { short: undefined, long: '--rotate', value: undefined, about: 'at a limit, begin a new tape instead' },
  {
    short: undefined,
    long: '--max-line',
    value: 'MiB',
    about: 'the longest message that is taped whole (256)',
  },
  {
    short: undefined,
    long: '--cut',
    value: 'KiB',
    about: 'of longer messages tape only the beginning: such answers cannot be played (off)',
  },
  {
    short: undefined,
    long: '--pending',
    value: 'seconds',
    about: 'note a request that has had no answer for this long',
  },
  {
    short: undefined,
    long: '--tail',
    value: undefined,
    about: 'print exchanges on stderr as they complete',
  },
  {
    short: undefined,
    long: '--no-redact',
    value: undefined,
    about: 'write secrets to the tape as they are, instead of stand-ins',
  },
  {
    short: undefined,
    long: '--redact-email',
    value: undefined,
    about: 'give e-mail addresses stand-ins too',
  },
  {
    short: undefined,
    long: '--vault',
    value: 'file',
    about: 'add the real values behind the stand-ins to this file, for replay --secrets (never by default)',
  },
  { short: '-q', long: '--quiet', value: undefined, about: 'say nothing unless the recording fails' },
] as const
