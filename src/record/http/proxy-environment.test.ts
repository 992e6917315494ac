import { expect, test } from 'vitest'
import { proxyEnvironment } from './proxy-environment.ts'

const proxy = 'http://127.0.0.1:1'

test.each([
  ['localhost', ''],
  ['*', ''],
  ['localhost,127.0.0.1, ::1,[::1]:80,.localhost,127.0.0.0/8,a.test:80', 'a.test:80'],
  ['a.test b.test', 'a.test,b.test'],
])('NO_PROXY=%s no longer leaves out this machine', (before, after) => {
  const env = { NO_PROXY: before, no_proxy: before }
  expect(proxyEnvironment({ env, proxy, trust: undefined })).toMatchObject({
    NO_PROXY: after,
    no_proxy: after,
  })
})

test('a list of trusted certificates that the user chose stays', () => {
  const trust = { extra: '/extra', all: '/all' }
  expect(proxyEnvironment({ env: { SSL_CERT_FILE: '/mine' }, proxy, trust })).toEqual({
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NODE_USE_ENV_PROXY: '1',
    NODE_EXTRA_CA_CERTS: '/extra',
    REQUESTS_CA_BUNDLE: '/all',
  })
})
