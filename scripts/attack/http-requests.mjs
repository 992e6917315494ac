// Odd requests, as bytes. A case is a function of the target, the host and the lines that a listener needs. `hidden` is a
// request that must never reach a server by itself.

/** All cases. `refused` says where a case must get an error: at every listener, or at those that check the host. */
export function oddRequests() {
  return [
    ...requestLines(),
    ...lineEnds(),
    ...headerSyntax(),
    ...lengths(),
    ...codings(),
    ...chunks(),
    ...hosts(),
    ...manyHeaders(),
    ...hopHeaders(),
    ...pipelines(),
    ...noise(),
  ]
}

function odd(name, text, more = {}) {
  return { name, text, ...more }
}

/** A request with these lines after those that are needed. */
function withLines(lines, body = '', line = ({ target }) => `POST ${target} HTTP/1.1`) {
  return (to) => `${[line(to), `Host: ${to.host}`, ...to.lines, ...lines].join('\r\n')}\r\n\r\n${body}`
}

function hidden({ hidden: path }) {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
}

/** A request whose body could be read as a request. */
function smuggling(lines, before = '') {
  return (to) => withLines(lines, before + hidden(to))(to)
}

function requestLines() {
  const methods = 'GET HEAD PUT PATCH DELETE OPTIONS TRACE PROPFIND BREW get Post G@T POST\t P\0ST'.split(' ')
  const versions =
    'HTTP/0.9 HTTP/1.0 HTTP/1.2 HTTP/2.0 HTTP/3.0 HTTP/1.1x HTTP/11 http/1.1 HTTP/ HTTP FTP/1.1 HTTP/1,1'
  const lines = [
    ...methods.map((method) => [method, ({ target }) => `${method} ${target} HTTP/1.1`]),
    ...versions.split(' ').map((version) => [version, ({ target }) => `POST ${target} ${version}`]),
    ['no version', ({ target }) => `POST ${target}`],
    ['a tab', ({ target }) => `POST\t${target}\tHTTP/1.1`],
    ['two spaces', ({ target }) => `POST  ${target}  HTTP/1.1`],
    ['a space at the end', ({ target }) => `POST ${target} HTTP/1.1 `],
    ['a space at the start', ({ target }) => ` POST ${target} HTTP/1.1`],
    ['a space in the target', ({ target }) => `POST ${target}&a b HTTP/1.1`],
    ['no target', () => 'POST  HTTP/1.1'],
    ['a star', () => 'OPTIONS * HTTP/1.1'],
    ['a star for POST', () => 'POST * HTTP/1.1'],
    ['a word', () => 'POST mcp HTTP/1.1'],
    ['two slashes', () => 'POST //evil.example/mcp HTTP/1.1'],
    ['another host', () => 'POST http://evil.example/mcp HTTP/1.1', 'local'],
    ['a user', ({ host }) => `POST http://a@${host}/mcp HTTP/1.1`],
    ['another scheme', ({ host }) => `POST ftp://${host}/mcp HTTP/1.1`],
    ['a broken URL', () => 'POST http://[/mcp HTTP/1.1'],
    ['a backslash', ({ target }) => `POST ${target}\\..\\x HTTP/1.1`],
    ['a fragment', ({ target }) => `POST ${target}#x HTTP/1.1`],
    ['a zero', ({ target }) => `POST ${target}\0 HTTP/1.1`],
    ['high bytes', ({ target }) => `POST ${target}\u00e9\u00ff HTTP/1.1`],
    ['a delete character', ({ target }) => `POST ${target}\x7f HTTP/1.1`],
    ['dots', ({ target }) => `POST ${target}/../../x HTTP/1.1`],
    ['percent signs', ({ target }) => `POST ${target}%00%0d%0aX:%20y HTTP/1.1`],
    ['a long target', ({ target }) => `POST ${target}${'a'.repeat(60_000)} HTTP/1.1`],
    ['a very long target', ({ target }) => `POST ${target}${'a'.repeat(200_000)} HTTP/1.1`],
    ['CONNECT', () => 'CONNECT evil.example:80 HTTP/1.1'],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0'],
  ]
  return lines.map(([name, line, refused]) =>
    odd(`request line: ${String(name)}`, withLines(['Content-Length: 2'], '{}', line), { refused }),
  )
}

function withLineEnd({ target, host, lines }, end) {
  return `POST ${target} HTTP/1.1\r\nHost: ${host}\r\n${[...lines, 'A: b'].join('\r\n')}${end}Content-Length: 2\r\n\r\n{}`
}

function lineEnds() {
  const ends = { LF: '\n', CR: '\r', 'LF CR': '\n\r', 'CR CR LF': '\r\r\n', 'CRLF space': '\r\n ' }
  const plain = withLines(['A: b', 'Content-Length: 2'], '{}')
  return Object.entries(ends).flatMap(([name, end]) => [
    odd(`all lines end with ${name}`, (to) => plain(to).replaceAll('\r\n', end)),
    odd(`one line ends with ${name}`, (to) => withLineEnd(to, end)),
    odd(`the head ends with ${name}`, (to) => plain(to).replace('\r\n\r\n', `\r\n${end}`)),
    odd(`${name} before the request`, (to) => end + plain(to)),
    odd(`${name} ten times before the request`, (to) => end.repeat(10) + plain(to)),
    odd(`${name} hides a request`, (to) =>
      withLines([`A: b${end}Content-Length: ${hidden(to).length}`, 'B: c'], hidden(to))(to),
    ),
  ])
}

function headerSyntax() {
  const names = ['Content-Length', 'Transfer-Encoding', 'Host', 'Origin', 'X-Any']
  const codes = [...Array.from({ length: 32 }, (_, code) => code), 0x7f, 0x80, 0xa0, 0xff]
  return [
    ...names.flatMap((name) => [
      odd(`a space before the colon of ${name}`, smuggling([`${name} : 3`])),
      odd(`a tab before the colon of ${name}`, smuggling([`${name}\t: 3`])),
      odd(`a folded line after ${name}`, smuggling([`${name}: 3`, ' 4'])),
      odd(`${name} in a folded line`, smuggling(['A: b', ` ${name}: 3`])),
      odd(
        `${name} first in the head, folded`,
        (to) =>
          `POST ${to.target} HTTP/1.1\r\n ${name}: 3\r\nHost: ${to.host}\r\n${to.lines.join('\r\n')}\r\n\r\n`,
      ),
    ]),
    odd('no colon', withLines(['Nothing'])),
    odd('no name', withLines([': x'])),
    odd('an empty value', withLines(['A:', 'Content-Length: 0'])),
    ...codes.map((code) =>
      odd(`the character ${code} in a name`, smuggling([`Content-Length${String.fromCharCode(code)}: 3`])),
    ),
    ...codes.map((code) =>
      odd(
        `the character ${code} in a value`,
        withLines([`A: b${String.fromCharCode(code)}c`, 'Content-Length: 0']),
      ),
    ),
  ]
}

function lengths() {
  const values = [
    '',
    ' ',
    '+3',
    '-3',
    '3 ',
    '03',
    '0x3',
    '3.0',
    '3e0',
    '3,3',
    '3, 3',
    '3;',
    '\t3',
    '\v3',
    '3\v',
    '3 3',
  ]
  values.push(
    '"3"',
    '1_0',
    'NaN',
    'Infinity',
    '18446744073709551616',
    '99999999999999999999',
    '9'.repeat(400),
    '٣',
  )
  const pairs = [
    ['Content-Length: 3', 'Content-Length: 3'],
    ['Content-Length: 3', 'Content-Length: 5'],
    ['Content-Length: 0', 'content-length: 40'],
    ['Content-Length: 40', 'CONTENT-LENGTH: 0'],
    ['Content-Length: 3', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Content-Length: 3'],
    ['Content_Length: 3', 'Transfer-Encoding: chunked'],
  ]
  return [
    ...values.map((value) =>
      odd(`Content-Length: ${JSON.stringify(value)}`, smuggling([`Content-Length: ${value}`])),
    ),
    ...pairs.map((lines) => odd(lines.join(' and '), smuggling(lines, '0\r\n\r\n'))),
    odd('no length', smuggling([])),
    odd('a length that is too short', smuggling(['Content-Length: 0'])),
    odd('a GET with a length', (to) =>
      withLines(
        [`Content-Length: ${hidden(to).length}`],
        hidden(to),
        ({ target }) => `GET ${target} HTTP/1.1`,
      )(to),
    ),
    odd('a body that never comes', withLines(['Content-Length: 100'], 'x')),
  ]
}

function codings() {
  const values = [
    'chunked',
    'Chunked',
    'CHUNKED',
    '\tchunked',
    '\vchunked',
    'xchunked',
    'chunkedx',
    'chunked;',
    'chunked;q=1',
  ]
  values.push(
    'chunked, chunked',
    'identity',
    'identity, chunked',
    'chunked, identity',
    'gzip',
    'gzip, chunked',
  )
  values.push(
    'chunked, gzip',
    '"chunked"',
    "'chunked'",
    'chunked,',
    ',chunked',
    'cow',
    'chunk',
    '',
    'chunked\0',
    'chunked\t',
  )
  const names = [
    'Transfer_Encoding',
    'Transfer-Encoding ',
    'Transfer Encoding',
    'TRANSFER-ENCODING',
    'transfer-encoding',
  ]
  return [
    ...values.map((value) =>
      odd(
        `Transfer-Encoding: ${JSON.stringify(value)}`,
        smuggling([`Transfer-Encoding: ${value}`], '0\r\n\r\n'),
      ),
    ),
    ...names.map((name) => odd(`${name}: chunked`, smuggling([`${name}: chunked`], '0\r\n\r\n'))),
    odd('two codings', smuggling(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n')),
    odd(
      'two codings, mixed',
      smuggling(['Transfer-Encoding: identity', 'transfer-encoding: chunked'], '0\r\n\r\n'),
    ),
    odd('a coding with HTTP/1.0', (to) =>
      withLines(
        ['Transfer-Encoding: chunked', 'Connection: keep-alive'],
        `0\r\n\r\n${hidden(to)}`,
        ({ target }) => `POST ${target} HTTP/1.0`,
      )(to),
    ),
    odd('a folded coding', smuggling(['Transfer-Encoding:', ' chunked'], '0\r\n\r\n')),
  ]
}

function chunks() {
  const sizes = [
    '2',
    '02',
    '0000000000000002',
    '2 ',
    ' 2',
    '+2',
    '-2',
    '0x2',
    '2;a',
    '2;a=b',
    '2;a="b"',
    '2;\n',
    '2\t',
    'g',
    '',
  ]
  sizes.push(
    'ffffffffffffffff',
    '10000000000000000',
    '2;' + 'a'.repeat(20_000),
    '2\n',
    '2;a\rb',
    '2,2',
    '2 2',
  )
  const ends = [
    '0\r\n\r\n',
    '00\r\n\r\n',
    '0;x\r\n\r\n',
    '0\n\n',
    '0\r\n',
    '0\r\n\r',
    '0\r\nA: b\r\n\r\n',
    '0\r\nA\r\n\r\n',
  ]
  ends.push(
    '0\r\nContent-Length: 3\r\n\r\n',
    '0\r\nTransfer-Encoding: chunked\r\n\r\n',
    '0\r\nHost: evil.example\r\n\r\n',
  )
  ends.push(
    '0\r\n A: b\r\n\r\n',
    '0\r\n: b\r\n\r\n',
    `0\r\n${'A: b\r\n'.repeat(3000)}\r\n`,
    `0\r\nA: ${'b'.repeat(200_000)}\r\n\r\n`,
  )
  const chunked = ['Transfer-Encoding: chunked']
  return [
    ...sizes.map((size) =>
      odd(
        `a chunk of size ${JSON.stringify(size.slice(0, 20))}`,
        smuggling(chunked, `${size}\r\n{}\r\n0\r\n\r\n`),
      ),
    ),
    ...ends.map((end) =>
      odd(
        `chunks that end with ${JSON.stringify(end.slice(0, 40))}`,
        smuggling(chunked, `2\r\n{}\r\n${end}`),
      ),
    ),
    odd('a chunk without its line end', smuggling(chunked, '2\r\n{}0\r\n\r\n')),
    odd('a chunk that is too long', smuggling(chunked, '2\r\n{}{}\r\n0\r\n\r\n')),
    odd('a chunk that ends with LF', smuggling(chunked, '2\r\n{}\n0\r\n\r\n')),
    odd('a thousand chunks', withLines(chunked, `${'1\r\n \r\n'.repeat(1000)}2\r\n{}\r\n0\r\n\r\n`)),
  ]
}

function hostLines(name, hostsOf, refused, more = []) {
  return odd(
    name,
    ({ target, lines }) =>
      `${[`POST ${target} HTTP/1.1`, ...hostsOf.map((host) => `Host: ${host}`), ...lines, ...more, 'Content-Length: 2'].join('\r\n')}\r\n\r\n{}`,
    { refused },
  )
}

function hosts() {
  const malformed = [
    'a@127.0.0.1',
    '127.0.0.1/x',
    '127.0.0.1\\x',
    '127.0.0.1?x',
    '127.0.0.1#x',
    '127.0.0.1:80:80',
    '',
  ]
  malformed.push(
    '127.0.0.1 evil.example',
    '127.0.0.1,evil.example',
    '127.0.0.1%2eevil.example',
    '[127.0.0.1]',
    '[::1',
    '::1]',
  )
  malformed.push(
    'http://127.0.0.1',
    '127.0.0.1:port',
    '127.0.0.1:999999',
    '127.0.0.1;x',
    '<127.0.0.1>',
    '"127.0.0.1"',
    '127.0.0.1\t',
  )
  const foreign = [
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '192.0.2.7',
    '0x7f.1.evil',
  ]
  const origins = [
    'http://evil.example',
    'null',
    'http://127.0.0.1.evil.example',
    'http://a@evil.example',
    'file://',
    'x',
    '',
  ]
  origins.push(
    'http://evil.example, http://localhost',
    'http://localhost http://evil.example',
    'http://localhost/../evil.example',
  )
  return [
    ...malformed
      .filter((host) => host !== '127.0.0.1\t')
      .map((host) => hostLines(`Host: ${JSON.stringify(host)}`, [host], 'everywhere')),
    ...foreign.map((host) => hostLines(`Host: ${host}`, [host], 'local')),
    ...origins.map((origin) => hostLines(`Origin: ${origin}`, ['127.0.0.1'], 'local', [`Origin: ${origin}`])),
    hostLines('two equal hosts', ['127.0.0.1', '127.0.0.1'], 'everywhere'),
    hostLines('two hosts', ['127.0.0.1', 'evil.example'], 'everywhere'),
    hostLines('two hosts, the good one last', ['evil.example', '127.0.0.1'], 'everywhere'),
    hostLines('no host', [], 'everywhere'),
    hostLines('two origins', ['127.0.0.1'], 'everywhere', [
      'Origin: http://localhost',
      'origin: http://evil.example',
    ]),
    hostLines('a forwarded host', ['127.0.0.1'], undefined, [
      'X-Forwarded-Host: evil.example',
      'Forwarded: host=evil.example',
    ]),
  ]
}

function many(count) {
  return Array.from({ length: count }, (_, at) => `A${at}: b`)
}

function manyHeaders() {
  const counts = [100, 400, 499, 501, 900, 999, 1000, 1001, 1023, 1200, 2000, 5000]
  return [
    ...counts.flatMap((count) => {
      const refused = count > 500 ? 'everywhere' : undefined
      return [
        odd(
          `a length behind ${count} headers`,
          (to) => withLines([...many(count), `Content-Length: ${hidden(to).length}`], hidden(to))(to),
          { refused },
        ),
        odd(
          `a coding behind ${count} headers`,
          smuggling([...many(count), 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
          { refused },
        ),
        odd(
          `an origin behind ${count} headers`,
          withLines([...many(count), 'Origin: http://evil.example', 'Content-Length: 0']),
          { refused: refused ?? 'local' },
        ),
      ]
    }),
    ...[8, 16, 64, 120, 140, 300].flatMap((kilobytes) => [
      odd(
        `a value of ${kilobytes} kB`,
        withLines([`A: ${'b'.repeat(kilobytes * 1000)}`, 'Content-Length: 0']),
      ),
      odd(
        `a name of ${kilobytes} kB`,
        withLines([`${'A'.repeat(kilobytes * 1000)}: b`, 'Content-Length: 0']),
      ),
    ]),
    odd('a head that does not end', ({ target, host }) => `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nA: b`),
  ]
}

function hopHeaders() {
  const connections = [
    'close',
    'keep-alive',
    'Content-Length',
    'close, content-length',
    'host',
    'transfer-encoding',
    'upgrade',
  ]
  connections.push(
    'TE',
    'x',
    ',',
    'content-length\t',
    'close\0',
    'keep-alive, Upgrade, HTTP2-Settings',
    'mcp-session-id',
  )
  const others = [
    'Upgrade: h2c',
    'Upgrade: websocket',
    'HTTP2-Settings: AAMAAABk',
    'TE: trailers',
    'Trailer: Content-Length',
  ]
  others.push(
    'Keep-Alive: timeout=0',
    'Proxy-Connection: keep-alive',
    'Expect: 100-continue',
    'Expect: 200-ok',
    'Expect:',
  )
  others.push(
    'Max-Forwards: 0',
    'X-HTTP-Method-Override: DELETE',
    'Content-Encoding: gzip',
    'Range: bytes=0-0',
  )
  return [
    ...connections.map((value) =>
      odd(`Connection: ${JSON.stringify(value)}`, (to) =>
        withLines([`Connection: ${value}`, `Content-Length: ${hidden(to).length}`], hidden(to))(to),
      ),
    ),
    odd('a length in a second Connection', (to) =>
      withLines(
        ['Connection: close', 'Connection: content-length', `Content-Length: ${hidden(to).length}`],
        hidden(to),
      )(to),
    ),
    ...others.map((line) =>
      odd(line, (to) =>
        withLines([line, 'Connection: upgrade', `Content-Length: ${hidden(to).length}`], hidden(to))(to),
      ),
    ),
    ...others.map((line) =>
      odd(`${line}, chunked`, smuggling([line, 'Transfer-Encoding: chunked'], '0\r\n\r\n')),
    ),
  ]
}

function pipelines() {
  const good = withLines(['Content-Length: 2'], '{}')
  const bad = [
    ['two lengths', withLines(['Content-Length: 2', 'Content-Length: 3'], '{}')],
    ['a length and chunks', withLines(['Content-Length: 2', 'Transfer-Encoding: chunked'], '{}')],
    ['two hosts', withLines(['Host: evil.example', 'Content-Length: 2'], '{}')],
    ['many headers', withLines([...Array.from({ length: 1200 }, () => 'A: b'), 'Content-Length: 2'], '{}')],
    ['a bare line feed', withLines(['A: b\nB: c', 'Content-Length: 2'], '{}')],
    ['no HTTP', () => 'hello\r\n\r\n'],
    ['another coding', withLines(['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n')],
  ]
  return [
    odd('two requests', (to) => good(to) + good(to)),
    odd('ten requests', (to) => good(to).repeat(10)),
    ...bad.flatMap(([name, text]) => [
      odd(`a request after one with ${String(name)}`, (to) => text(to) + hidden(to)),
      odd(`a request before one with ${String(name)}`, (to) => good(to) + text(to)),
    ]),
  ]
}

function noise() {
  let seed = 7
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) >>> 8
  return [
    odd('a TLS handshake', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(300, 'x')),
    odd('SSH', () => 'SSH-2.0-OpenSSH_9.0\r\n'),
    odd('zeros', () => '\0'.repeat(1000)),
    odd('line ends', () => '\r\n'.repeat(1000)),
    odd('a blank', () => ' '),
    ...Array.from({ length: 10 }, (_, at) =>
      odd(`random bytes ${at}`, () =>
        Array.from({ length: 400 }, () => String.fromCharCode(random() % 256)).join(''),
      ),
    ),
    ...Array.from({ length: 30 }, (_, at) =>
      odd(`a request with changed bytes ${at}`, (to) => {
        const text = Array.from(withLines(['Accept: */*', 'Content-Length: 2'], '{}')(to))
        for (let n = 0; n < 3; n++) text[random() % text.length] = String.fromCharCode(random() % 256)
        return text.join('')
      }),
    ),
  ]
}
