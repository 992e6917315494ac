// Values that vary in every run, and whose form changes: each stays volatile, but is no longer what it was.
import { createHash, randomBytes } from 'node:crypto'

const DAY = 24 * 3_600_000

/** A volatile value of each form at a time of the clock. Without noise, the value of a form is always the same. */
const FORMS = {
  uuid: (random) => random.uuid(),
  'uuid-upper': (random) => random.uuid().toUpperCase(),
  'uuid-plain': (random) => random.uuid().replaceAll('-', ''),
  'uuid-7': (random) => random.uuid().replace(/^(.{14})4/, '$17'),
  'uuid-fixed': () => '7d9b1c52-0f7e-4b0a-9a51-6b3f0c2d1e4f',
  'uuid-nil': () => '00000000-0000-0000-0000-000000000000',
  hex32: (random) => random.hex(16),
  hex16: (random) => random.hex(8),
  'hex-upper': (random) => random.hex(16).toUpperCase(),
  base64: (random) => random.base64(),
  'req-id': (random) => `req_${random.hex(8)}`,
  'res-id': (random) => `res_${random.hex(8)}`,
  'req-dash-id': (random) => `req-${random.hex(8)}`,
  'req-number': (random) => `req_${random.int(1e8, 9e8)}`,
  iso: (_, now) => now.toISOString(),
  'iso-tomorrow': (_, now) => new Date(now.getTime() + DAY).toISOString(),
  'iso-two-hours-later': (_, now) => new Date(now.getTime() + DAY / 12).toISOString(),
  'iso-offset': (_, now) => new Date(now.getTime() + DAY / 12).toISOString().replace(/Z$/, '+02:00'),
  'iso-wrong-offset': (_, now) => now.toISOString().replace(/Z$/, '+02:00'),
  'iso-space': (_, now) => now.toISOString().replace('T', ' '),
  'iso-date': (_, now) => now.toISOString().slice(0, 10),
  'iso-last-year': (_, now) => new Date(now.getTime() - 365 * DAY).toISOString(),
  epoch: (_, now) => Math.floor(now / 1000),
  'epoch-ms': (_, now) => now.getTime(),
  'epoch-text': (_, now) => String(Math.floor(now / 1000)),
  'us-date': (_, now) => `${now.getUTCMonth() + 1}/${now.getUTCDate()}/${now.getUTCFullYear()}`,
  'uk-date': (_, now) => `${now.getUTCDate()}/${now.getUTCMonth() + 1}/${now.getUTCFullYear()}`,
  'date-yesterday': (_, now) => new Date(now.getTime() - DAY).toISOString().slice(0, 10),
  milliseconds: (random) => random.int(200, 900),
  seconds: (random) => random.int(200, 900) / 1000,
  microseconds: (random) => random.int(200, 900) * 100_000 + random.int(0, 1000),
  'negative-milliseconds': (random) => -random.int(200, 900),
  'milliseconds-text': (random) => String(random.int(200, 900)),
  'milliseconds-unit': (random) => `${random.int(200, 900)} ms`,
  'seconds-unit': (random) => `${random.int(200, 900)} s`,
  megabytes: (random) => `${(30 + random.part() * 9).toFixed(1)} MB`,
  mebibytes: (random) => `${(30 + random.part() * 9).toFixed(1)} MiB`,
  percent: (random) => `${random.int(20, 99)}%`,
  ratio: (random) => (random.int(20, 99) / 100).toFixed(2),
  colours: (random) => random.shuffled(['red', 'green', 'blue', 'black', 'white']),
  'colours-one-other': (random) => random.shuffled(['red', 'green', 'blue', 'black', 'pink']),
  'colours-one-less': (random) => random.shuffled(['red', 'green', 'blue', 'black']),
  'colours-one-twice': (random) => random.shuffled(['red', 'green', 'blue', 'black', 'white', 'white']),
  'colours-upper': (random) => random.shuffled(['RED', 'GREEN', 'BLUE', 'BLACK', 'WHITE']),
  'three-ids': (random) => [random.hex(6), random.hex(6), random.hex(6)],
  'two-ids': (random) => [random.hex(6), random.hex(6)],
  'four-ids': (random) => [random.hex(6), random.hex(6), random.hex(6), random.hex(6)],
  'three-equal-ids': () => ['aaaaaaaaaaaa', 'aaaaaaaaaaaa', 'aaaaaaaaaaaa'],
  'three-numbers': (random) => [random.int(0, 1e6), random.int(0, 1e6), random.int(0, 1e6)],
  'by-id': (random) => ({ [random.uuid()]: { user: 'ada' }, [random.uuid()]: { user: 'bob' } }),
  'by-id-other': (random) => ({ [random.uuid()]: { user: 'ada' }, [random.uuid()]: { user: 'eve' } }),
  'by-id-more': (random) => ({
    [random.uuid()]: { user: 'ada' },
    [random.uuid()]: { user: 'bob' },
    [random.uuid()]: { user: 'eve' },
  }),
  'by-name': () => ({ ada: { user: 'ada' }, bob: { user: 'bob' } }),
  'by-hex': (random) => ({ [random.hex(8)]: { user: 'ada' }, [random.hex(8)]: { user: 'bob' } }),
  url: (random) => `https://files.example/a/report.pdf?sig=${random.hex(16)}&expires=3600`,
  'url-host': (random) => `https://cdn.example/a/report.pdf?sig=${random.hex(16)}&expires=3600`,
  'url-path': (random) => `https://files.example/b/report.pdf?sig=${random.hex(16)}&expires=3600`,
  'url-query': (random) => `https://files.example/a/report.pdf?sig=${random.hex(16)}&expires=60`,
  'url-name': (random) => `https://files.example/a/report.pdf?signature=${random.hex(16)}&expires=3600`,
  'url-scheme': (random) => `http://files.example/a/report.pdf?sig=${random.hex(16)}&expires=3600`,
  'url-unsigned': () => 'https://files.example/a/report.pdf?expires=3600',
  path: (random) => `/tmp/job-${random.hex(4)}/out.txt`,
  'path-folder': (random) => `/var/job-${random.hex(4)}/out.txt`,
  'path-extension': (random) => `/tmp/job-${random.hex(4)}/out.log`,
  'path-deeper': (random) => `/tmp/job-${random.hex(4)}/a/out.txt`,
  traceparent: (random) => `00-${random.hex(16)}-${random.hex(8)}-01`,
  'traceparent-flags': (random) => `00-${random.hex(16)}-${random.hex(8)}-00`,
  mail: (random) => `user-${random.hex(4)}@example.com`,
  'mail-host': (random) => `user-${random.hex(4)}@example.org`,
  host: (random) => `web-${random.hex(3)}.eu.example`,
  'host-region': (random) => `web-${random.hex(3)}.us.example`,
  address: (random) => `127.0.0.1:${random.int(30_000, 60_000)}`,
  'address-open': (random) => `0.0.0.0:${random.int(30_000, 60_000)}`,
  etag: (random) => `W/"${random.hex(8)}"`,
  'etag-strong': (random) => `"${random.hex(8)}"`,
  null: () => null,
  empty: () => '',
  absent: () => undefined,
}

/** The name of a member, its form, and the forms that it must not change to. */
const MEMBERS = [
  {
    name: 'request',
    form: 'uuid',
    others: ['uuid-upper', 'uuid-plain', 'uuid-7', 'uuid-fixed', 'uuid-nil', 'null', 'absent'],
  },
  { name: 'digest', form: 'hex32', others: ['hex16', 'hex-upper', 'base64', 'empty'] },
  { name: 'ticket', form: 'req-id', others: ['res-id', 'req-dash-id', 'uuid'] },
  {
    name: 'at',
    form: 'iso',
    others: [
      'iso-tomorrow',
      'iso-two-hours-later',
      'iso-offset',
      'iso-wrong-offset',
      'iso-space',
      'iso-date',
      'iso-last-year',
      'epoch-ms',
      'null',
    ],
  },
  { name: 'epoch', form: 'epoch', others: ['epoch-ms', 'epoch-text', 'iso'] },
  { name: 'day', form: 'iso-date', others: ['us-date', 'date-yesterday', 'iso'] },
  {
    name: 'elapsed',
    form: 'milliseconds',
    others: ['seconds', 'microseconds', 'negative-milliseconds', 'milliseconds-text'],
  },
  { name: 'took', form: 'milliseconds-unit', others: ['seconds-unit', 'milliseconds', 'milliseconds-text'] },
  { name: 'memory', form: 'megabytes', others: ['mebibytes', 'percent'] },
  { name: 'load', form: 'percent', others: ['ratio', 'milliseconds'] },
  {
    name: 'colours',
    form: 'colours',
    others: ['colours-one-other', 'colours-one-less', 'colours-one-twice', 'colours-upper'],
  },
  { name: 'parts', form: 'three-ids', others: ['two-ids', 'four-ids', 'three-equal-ids', 'three-numbers'] },
  { name: 'sessions', form: 'by-id', others: ['by-id-other', 'by-id-more', 'by-name', 'by-hex'] },
  {
    name: 'link',
    form: 'url',
    others: ['url-host', 'url-path', 'url-query', 'url-name', 'url-scheme', 'url-unsigned'],
  },
  { name: 'file', form: 'path', others: ['path-folder', 'path-extension', 'path-deeper'] },
  { name: 'trace', form: 'traceparent', others: ['traceparent-flags', 'uuid'] },
  { name: 'mail', form: 'mail', others: ['mail-host', 'host'] },
  { name: 'host', form: 'host', others: ['host-region'] },
  { name: 'address', form: 'address', others: ['address-open'] },
  { name: 'etag', form: 'etag', others: ['etag-strong'] },
]

/** Random values, or with `isNoisy` false values that are the same in every process. */
function randomOf({ isNoisy }) {
  let made = 0
  const bytes = (count) =>
    isNoisy
      ? randomBytes(count)
      : createHash('shake256', { outputLength: count }).update(String(++made)).digest()
  return {
    hex: (count) => bytes(count).toString('hex'),
    uuid: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5'),
    base64: () => bytes(24).toString('base64'),
    int: (from, to) => from + (bytes(6).readUIntBE(0, 6) % (to - from)),
    part: () => bytes(6).readUIntBE(0, 6) / 2 ** 48,
    shuffled: (list) =>
      list
        .map((item) => ({ item, at: bytes(4).toString('hex') }))
        .toSorted((a, b) => (a.at < b.at ? -1 : 1))
        .map(({ item }) => item),
  }
}

function valueOf(form, context) {
  return FORMS[form](
    randomOf(context),
    context.isNoisy ? context.now() : new Date(Date.UTC(2024, 4, 1, 8, 30, 15, 250)),
  )
}

export const formScenes = MEMBERS.map(({ name, form, others }) => ({
  name: `form-${name}`,
  shape: 'form of volatile values',
  document: { [name]: form, steady: 7, tags: ['a', 'b'] },
  root: 'result.structuredContent',
  play: async ({ call }) => call(`form-${name}`),
  tools: {
    [`form-${name}`]: ({ [name]: own, ...rest }, context) => ({
      content: [{ type: 'text', text: 'ok' }],
      structuredContent: { ...rest, [name]: valueOf(own, context), ...context.beside() },
    }),
  },
  changes: others.map((other) => ({ id: other, set: [name, other], token: '' })),
}))
